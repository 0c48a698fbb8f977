package post

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
)

// link is the way to one peer: a connection that is made when it is needed, and one session at a time on it.
type link struct {
	office *Office
	peer   Peer
	tally  *tally
	conn   *grpc.ClientConn

	mu     sync.Mutex
	shut   bool
	now    *session  // the one there is; nil for none
	noted  error     // what connecting failed with last
	refuse error     // what the peer refused us with, said to everybody
	until  time.Time // until then
	proved int       // the largest capacity of the peer by the certificate that it has shown; 0 before that

	sockets map[*socket]struct{} // that are open
}

func newLink(o *Office, to Peer, t *tally) (*link, error) {
	l := &link{office: o, peer: to, tally: t, sockets: make(map[*socket]struct{})}
	var err error
	if l.conn, err = o.newClient(l); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	t.do(func(s *PeerStats) { s.Addr = to.Addr })
	return l, nil
}

// note keeps what connecting failed with: gRPC hides it. What waiting does not help against ends the wait.
func (l *link) note(err error) {
	l.mu.Lock()
	l.noted = err
	s := l.now
	l.mu.Unlock()
	if s != nil && final(err) {
		s.end(err)
	}
}

// session gives the open session, or waits for one to open. The wait has an end: see run.
func (l *link) session(ctx context.Context) (*session, error) {
	l.mu.Lock()
	if l.shut {
		l.mu.Unlock()
		return nil, ErrClosed
	}
	if l.now == nil && l.refuse != nil && time.Now().Before(l.until) {
		err := l.refuse
		l.mu.Unlock()
		return nil, err
	}
	if l.now == nil {
		l.noted, l.refuse = nil, nil
		l.now = l.begin()
	}
	s := l.now
	l.mu.Unlock()
	select {
	case <-s.open:
		return s, nil
	case <-s.over:
		return nil, s.notSent()
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, context.Cause(ctx))
	}
}

// ended is called by a session when it is over.
func (l *link) ended(s *session, err error) {
	l.mu.Lock()
	if l.now == s {
		l.now = nil
	}
	if final(err) {
		l.refuse, l.until = err, time.Now().Add(rest)
	}
	shut := l.shut
	l.mu.Unlock()
	if shut {
		l.hangUp()
	}
	l.tally.do(func(p *PeerStats) { p.Since, p.Version = time.Time{}, 0 })
	l.tally.failed(err)
}

// lastNoted is what connecting failed with last, or nil.
func (l *link) lastNoted() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.noted
}

// send is Send.
func (l *link) send(ctx context.Context, batch []byte) error {
	s, err := l.session(ctx)
	if err != nil {
		return err
	}
	return s.send(ctx, batch)
}

// retire lets nobody begin any more; what is under way fails, and with it the connection ends.
func (l *link) retire() {
	l.mu.Lock()
	was, s := l.shut, l.now
	l.shut = true
	l.mu.Unlock()
	switch {
	case s != nil:
		s.end(ErrClosed)
	case !was:
		l.hangUp()
	}
}

// hangUp closes the connection. gRPC would wait some seconds for a peer that does not read; nobody else does.
func (l *link) hangUp() {
	l.mu.Lock()
	open := slices.Collect(maps.Keys(l.sockets))
	l.mu.Unlock()
	for _, s := range open {
		_ = s.Close()
	}
	_ = l.conn.Close() // which fails only when it is closed
}

// socket is a connection below TLS that its link can close.
type socket struct {
	net.Conn
	link *link
}

// hold takes a connection that was made.
func (l *link) hold(conn net.Conn) (net.Conn, error) {
	s := &socket{conn, l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shut {
		return nil, errors.Join(ErrClosed, conn.Close())
	}
	l.sockets[s] = struct{}{}
	return s, nil
}

// Close may be called again.
func (s *socket) Close() error {
	s.link.mu.Lock()
	delete(s.link.sockets, s)
	s.link.mu.Unlock()
	return s.Conn.Close()
}

// close retires it and waits for its session.
func (l *link) close() {
	l.mu.Lock()
	s := l.now
	l.mu.Unlock()
	l.retire()
	if s != nil {
		<-s.over
	}
}
