package post

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/mem"
)

// session is one stream of letters to a peer: hello and welcome, then numbered letters one way, results and beats the other. It has two
// goroutines, one for each direction.
type session struct {
	link *link
	ctx  context.Context //nolint:containedctx // the life of the stream
	end  context.CancelCauseFunc

	open chan struct{} // closed when the peer has welcomed us; then these are set:
	welcome
	slots chan struct{} // one for each letter that is under way
	out   chan *sent    // never fuller than slots
	over  chan struct{} // closed when nothing comes any more; then err is set
	err   error

	mu    sync.Mutex
	under map[uint64]*sent // by number
}

// sent is a letter on its way.
type sent struct {
	load
	body mem.Buffer
	done chan result // of capacity 1

	settled atomic.Bool // it is counted what became of it
}

// begin starts a session. The caller holds the link's lock.
func (l *link) begin() *session {
	s := &session{link: l, open: make(chan struct{}), over: make(chan struct{}), under: make(map[uint64]*sent)}
	s.ctx, s.end = context.WithCancelCause(l.office.ctx)
	l.office.work.Add(1)
	go s.run()
	return s
}

func (s *session) run() {
	defer s.link.office.work.Done()
	err := s.talk()
	if cause := context.Cause(s.ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	if s.link.office.closed() {
		err = ErrClosed
	}
	s.end(err)
	s.err = err
	s.link.ended(s, err)
	close(s.over)
	s.abandon()
}

// talk opens the stream, speaks on it until it breaks, and says why it did.
func (s *session) talk() error {
	o := s.link.office
	patience := time.AfterFunc(o.opt.Patience, func() { s.end(s.tooLong()) })
	defer patience.Stop()
	desc := lettersStream()
	stream, err := s.link.conn.NewStream(s.ctx, &desc, lettersMethod, grpc.WaitForReady(true))
	if err != nil {
		return s.fault(err)
	}
	if err := s.greet(stream); err != nil {
		return err
	}
	patience.Stop()
	s.link.tally.do(func(p *PeerStats) { p.Since, p.Version = time.Now(), int(s.Version) })
	close(s.open)

	var writer sync.WaitGroup
	writer.Add(1)
	go func() {
		defer writer.Done()
		s.write(stream)
	}()
	err = s.read(stream)
	s.end(err)
	writer.Wait()
	return err
}

// tooLong is what is wrong when a session does not open in time.
func (s *session) tooLong() error {
	after := s.link.office.opt.Patience
	if noted := s.link.lastNoted(); noted != nil {
		return fmt.Errorf("%w: no connection to %s in %v: %w", ErrUnreachable, s.link.peer.Addr, after, noted)
	}
	return fmt.Errorf("%w: no connection to %s in %v", ErrUnreachable, s.link.peer.Addr, after)
}

// greet says hello and reads the welcome.
func (s *session) greet(stream grpc.ClientStream) error {
	o := s.link.office
	h := hello{Versions: o.opt.versions, Crawl: o.opt.Crawl, From: o.opt.Self, To: s.link.peer.ID}
	if err := stream.SendMsg(&outgoing{head: h.append(nil)}); err != nil && !errors.Is(err, io.EOF) { // which says that reading tells
		return s.fault(err)
	}
	var in incoming
	defer in.free()
	if err := stream.RecvMsg(&in); err != nil {
		return s.fault(err)
	}
	w, err := parseWelcome(in.frame.ReadOnlyData())
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrVersion, s.link.peer.ID, err)
	}
	if w.Version < o.opt.versions.from || w.Version > o.opt.versions.to {
		return fmt.Errorf("%w: %s chose version %d, this agent speaks %v", ErrVersion, s.link.peer.ID, w.Version, o.opt.versions)
	}
	s.welcome = w
	window := min(w.Window, o.opt.Window)
	s.slots, s.out = make(chan struct{}, window), make(chan *sent, window)
	return nil
}

// fault says what an error of the stream means for those who wait.
func (s *session) fault(err error) error {
	if refused := refusedBy(err); refused != nil {
		return refused
	}
	select {
	case <-s.open:
		return fmt.Errorf("the connection to %s broke: %w", s.link.peer.Addr, err)
	default:
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
}

// read takes results until the stream breaks or the peer is silent.
func (s *session) read(stream grpc.ClientStream) error {
	silence := time.AfterFunc(silenceMax, func() {
		s.end(fmt.Errorf("%s at %s has not been heard for %v", s.link.peer.ID, s.link.peer.Addr, silenceMax))
	})
	defer silence.Stop()
	var in incoming
	defer in.free()
	for {
		if err := stream.RecvMsg(&in); err != nil {
			return s.fault(err)
		}
		silence.Reset(silenceMax)
		if err := s.take(in.frame.ReadOnlyData()); err != nil {
			s.link.office.refused(RefusedMalformed, s.link.peer.ID, nil, err)
			return fmt.Errorf("%w: %s answers nonsense: %w", ErrFailed, s.link.peer.ID, err)
		}
	}
}

// take reads a frame.
func (s *session) take(frame []byte) error {
	if kindOf(frame) == kindBeat {
		return parseBeat(frame)
	}
	results, err := parseResults(frame)
	if err != nil {
		return err
	}
	return s.deliver(results)
}

// deliver tells those who wait.
func (s *session) deliver(results []result) error {
	for _, r := range results {
		s.mu.Lock()
		p := s.under[r.Number]
		delete(s.under, r.Number)
		s.mu.Unlock()
		if p == nil {
			return fmt.Errorf("%w: a result for letter %d, which is not under way", errMalformed, r.Number)
		}
		s.settle(p, &r)
		p.done <- r
		<-s.slots
	}
	return nil
}

// write sends letters until the stream breaks.
func (s *session) write(stream grpc.ClientStream) {
	for number := uint64(1); ; number++ {
		var p *sent
		select {
		case p = <-s.out:
		case <-s.ctx.Done():
			return
		}
		s.mu.Lock()
		s.under[number] = p
		s.mu.Unlock()
		l := letter{Number: number, load: p.load}
		if stream.SendMsg(&outgoing{head: l.append(make([]byte, 0, 24)), body: p.body}) != nil {
			return // reading tells why
		}
	}
}

// abandon settles what nobody will ever know of. Those who wait have seen over; those who come too late to be found here do it themselves.
func (s *session) abandon() {
	for {
		select {
		case p := <-s.out: // nil, and so never, if the session did not open
			p.body.Free()
			s.settle(p, nil)
		default:
			s.mu.Lock()
			left := slices.Collect(maps.Values(s.under))
			s.mu.Unlock()
			for _, p := range left {
				s.settle(p, nil)
			}
			return
		}
	}
}

// settle counts once what became of a letter.
func (s *session) settle(p *sent, r *result) {
	if p.settled.CompareAndSwap(false, true) {
		s.link.tally.do(func(t *PeerStats) { t.Out.end(r) })
	}
}

// send sends a letter and waits for its result.
func (s *session) send(ctx context.Context, batch []byte) error {
	if len(batch) > s.BatchMax {
		return fmt.Errorf("%w: a batch of %d bytes, and it takes at most %d", ErrRefused, len(batch), s.BatchMax)
	}
	select {
	case s.slots <- struct{}{}:
	case <-s.over:
		return s.notSent()
	case <-ctx.Done():
		return fmt.Errorf("%w: it was not sent: %w", ErrUnreachable, context.Cause(ctx))
	}
	p := &sent{done: make(chan result, 1)}
	p.load, p.body = s.link.office.packer.pack(batch)
	s.link.tally.do(func(t *PeerStats) {
		t.Out.Letters++
		t.Out.UnderWay++
		t.Out.Bytes += int64(len(batch))
		t.Out.Packed += int64(p.body.Len())
	})
	s.out <- p
	var err error
	select {
	case r := <-p.done:
		return r.err()
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-s.over:
		err = s.err
	}
	select {
	case r := <-p.done: // it came at the last moment
		return r.err()
	case <-s.over:
		s.settle(p, nil)
	default: // its place is taken until the peer answers
	}
	return fmt.Errorf("%w: %w", ErrUnknown, err)
}

// notSent is the error of who came when the session was over.
func (s *session) notSent() error {
	if final(s.err) || errors.Is(s.err, ErrClosed) || errors.Is(s.err, ErrUnreachable) {
		return s.err
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, s.err)
}

// final reports whether trying again at once is in vain.
func final(err error) bool {
	return errors.Is(err, ErrIdentity) || errors.Is(err, ErrVersion) || errors.Is(err, ErrBanned) || errors.Is(err, ErrFailed)
}
