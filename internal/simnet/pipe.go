package simnet

import (
	"io"
	"os"
	"sync"
	"syscall"
	"time"
)

// pipe carries bytes one way: a bounded queue of pieces, each readable from a certain time on.
type pipe struct {
	latency time.Duration
	limit   int
	// late is how much later so many bytes arrive since packets were lost; nil if none is ever lost.
	lateness func(bytes int) time.Duration

	mu     sync.Mutex // held for a few instructions only
	pieces []piece
	size   int           // bytes in pieces
	ended  bool          // the writer has closed: end of file behind the last piece
	endAt  time.Time     // when the reader may know
	broken error         // reset: nothing passes any more
	deaf   bool          // the reader has closed
	tail   time.Time     // when the last piece can be read: nothing overtakes it
	change chan struct{} // closed and replaced at every change
}

type piece struct {
	b  []byte
	at time.Time
}

func newPipe(latency time.Duration, limit int) *pipe {
	return &pipe{latency: latency, limit: limit, change: make(chan struct{})}
}

// changed wakes all waiting goroutines. The lock is held.
func (p *pipe) changed() {
	close(p.change)
	p.change = make(chan struct{})
}

func (p *pipe) read(b []byte, d *deadline) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	for {
		p.mu.Lock()
		now := time.Now()
		var wait time.Duration
		switch {
		case d.passed(now):
			p.mu.Unlock()
			return 0, os.ErrDeadlineExceeded
		case p.broken != nil:
			p.mu.Unlock()
			return 0, p.broken
		case len(p.pieces) > 0 && !p.pieces[0].at.After(now):
			n := p.take(b, now)
			p.changed()
			p.mu.Unlock()
			return n, nil
		case len(p.pieces) > 0:
			wait = p.pieces[0].at.Sub(now)
		case p.ended && !p.endAt.After(now):
			p.mu.Unlock()
			return 0, io.EOF
		case p.ended:
			wait = p.endAt.Sub(now)
		}
		change := p.change
		p.mu.Unlock()
		d.wait(change, wait)
	}
}

// take moves what has arrived into b. The lock is held.
func (p *pipe) take(b []byte, now time.Time) (n int) {
	for n < len(b) && len(p.pieces) > 0 && !p.pieces[0].at.After(now) {
		k := copy(b[n:], p.pieces[0].b)
		n += k
		if p.pieces[0].b = p.pieces[0].b[k:]; len(p.pieces[0].b) == 0 {
			p.pieces[0].b = nil
			p.pieces = p.pieces[1:]
		}
	}
	p.size -= n
	return n
}

func (p *pipe) write(b []byte, d *deadline) (n int, err error) {
	for {
		p.mu.Lock()
		now := time.Now()
		switch {
		case d.passed(now):
			err = os.ErrDeadlineExceeded
		case p.ended:
			err = io.ErrClosedPipe
		case p.broken != nil:
			err = p.broken
		case p.deaf:
			err = syscall.EPIPE
		case len(b) > 0 && p.size < p.limit:
			k := min(len(b), p.limit-p.size)
			p.pieces = append(p.pieces, piece{append([]byte(nil), b[:k]...), p.arrival(now, k)})
			p.size += k
			b, n = b[k:], n+k
			p.changed()
		}
		if err != nil || len(b) == 0 {
			p.mu.Unlock()
			return n, err
		}
		change := p.change
		p.mu.Unlock()
		d.wait(change, 0)
	}
}

// arrival is when bytes that are written now can be read. The lock is held.
func (p *pipe) arrival(now time.Time, bytes int) time.Time {
	at := now.Add(p.latency)
	if p.lateness != nil {
		at = at.Add(p.lateness(bytes))
	}
	if at.Before(p.tail) {
		at = p.tail
	}
	p.tail = at
	return at
}

// end says that nothing more will be written.
func (p *pipe) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.ended, p.endAt = true, p.arrival(time.Now(), 0)
		p.changed()
	}
}

// stopReading ends reading. It reports whether bytes were left unread: the kernel answers these
// with a reset.
func (p *pipe) stopReading() (unread bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deaf = true
	unread = p.size > 0
	p.pieces, p.size = nil, 0
	p.changed()
	return unread
}

// breakOff ends the pipe at once; what is under way is lost.
func (p *pipe) breakOff(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken == nil {
		p.broken = err
		p.pieces, p.size = nil, 0
		p.changed()
	}
}
