package transport

import (
	"context"
	"sync"
)

// receivedMax is how many batches of one sender are remembered. A sender repeats a batch before it sends a few others,
// and has at most windowMax in flight.
const receivedMax = 256

// receivedLog remembers the batches of one sender that were received, so that a repeated one is acknowledged and not
// received again. It remembers one incarnation of the sender, the last that sent a batch. It lives in memory: after a
// restart of the receiver a repeated batch is received again.
type receivedLog struct {
	mu      sync.Mutex
	current *incarnationLog // nil before the first batch
}

// incarnationLog is the part of a receivedLog for one incarnation.
type incarnationLog struct {
	incarnation uint64
	running     map[uint64]chan struct{} // by sequence: closed when Receive has returned
	durable     map[uint64]struct{}
	recent      []uint64 // the sequences in durable, in a ring
	oldest      int      // where the ring begins
}

// once receives a batch unless it is durable already. While another call receives the same batch, once waits for it. A
// sequence of 0 is never remembered.
func (r *receivedLog) once(ctx context.Context, incarnation, sequence uint64, receive func() error) error {
	if sequence == 0 {
		return receive()
	}
	for {
		l, wait, repeated := r.begin(incarnation, sequence)
		switch {
		case repeated:
			return nil
		case wait == nil:
			err := receive()
			r.finish(l, sequence, err == nil)
			return err
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// begin marks a batch as running. It reports that the batch is durable, or gives the channel to wait for if it is
// running already.
func (r *receivedLog) begin(incarnation, sequence uint64) (l *incarnationLog, wait chan struct{}, durable bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.current == nil || r.current.incarnation != incarnation {
		r.current = &incarnationLog{
			incarnation: incarnation, running: make(map[uint64]chan struct{}), durable: make(map[uint64]struct{}),
		}
	}
	l = r.current
	if _, ok := l.durable[sequence]; ok {
		return l, nil, true
	}
	if wait = l.running[sequence]; wait == nil {
		l.running[sequence] = make(chan struct{})
	}
	return l, wait, false
}

// finish ends what begin began.
func (r *receivedLog) finish(l *incarnationLog, sequence uint64, durable bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(l.running[sequence])
	delete(l.running, sequence)
	if !durable {
		return
	}
	l.durable[sequence] = struct{}{}
	if len(l.recent) < receivedMax {
		l.recent = append(l.recent, sequence)
		return
	}
	delete(l.durable, l.recent[l.oldest])
	l.recent[l.oldest] = sequence
	l.oldest = (l.oldest + 1) % receivedMax
}
