package load

import (
	"errors"
	"io"
	"net"
)

// idleMax is how many goroutines of a listener wait to accept again: a used goroutine has its stack, and to grow a
// stack costs as much as to make a page.
const idleMax = 64

// acceptor is a listener with its goroutines. One of them accepts at any time. It serves what it accepts, one
// connection after the other, and calls another goroutine to accept when it has to wait for a connection.
type acceptor struct {
	s        *Server
	listener *listener
	serve    func(net.Conn)
	next     chan struct{} // to a goroutine that waits to accept
	idle     chan struct{} // one for each of those
}

// acceptUntilClosed accepts until the listener is closed, or others do that and enough wait for it.
func (p *acceptor) acceptUntilClosed() {
	for p.acceptSome() {
		select {
		case p.idle <- struct{}{}:
		default:
			return
		}
		select {
		case <-p.next:
			<-p.idle
		case <-p.s.done:
			return
		}
	}
}

// acceptSome accepts connections and serves them, until it has had to wait for a connection and another goroutine
// accepts. It returns false when the listener is closed.
func (p *acceptor) acceptSome() bool {
	var waits io.Closer // ends the waiting of the connection at hand; nil if it has not waited
	wait := func(c io.Closer) error {
		if err := p.s.hold(c); err != nil {
			return err
		}
		waits = c
		select {
		case p.next <- struct{}{}:
		default:
			p.s.wg.Go(p.acceptUntilClosed)
		}
		return nil
	}
	for waits == nil {
		conn, err := p.listener.accept(wait)
		switch {
		case err == nil:
			p.s.open.Add(1)
			p.serve(conn)
			p.s.open.Add(-1)
		case errors.Is(err, net.ErrClosed):
			return false
		default:
			p.s.rest()
		}
	}
	p.s.mu.Lock()
	delete(p.s.waiting, waits)
	p.s.mu.Unlock()
	return true
}

// aside lets another goroutine accept while conn is served: a handshake takes long, and waits for the client anyway.
func aside(conn net.Conn) {
	if c, ok := conn.(interface{ toPoller() error }); ok {
		_ = c.toPoller() // if this fails then so does everything else
	}
}
