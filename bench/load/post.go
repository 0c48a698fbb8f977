package load

import (
	"errors"
	"io"
	"net"
)

// idleMax is how many goroutines of a listener wait to stand at its door again: a used one has its stack, and growing
// that costs as much as making a page.
const idleMax = 64

// post is a door with its goroutines, of which one stands at it at any time. That one serves whom it lets in, one
// connection after the other, and calls for another goroutine when it has to wait for a connection.
type post struct {
	s     *Server
	door  *door
	serve func(net.Conn)
	next  chan struct{} // to a goroutine that waits to stand at the door
	idle  chan struct{} // one for each of those
}

// work stands at the door until the door is closed, or others do that and enough wait for it.
func (p *post) work() {
	for p.stand() {
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

// stand lets connections in and serves them, until it has had to wait for one, and another goroutine stands at the
// door, or until the door is closed, when it returns false.
func (p *post) stand() bool {
	var waits io.Closer // ends the waiting of the connection at hand; nil if it has not waited
	wait := func(c io.Closer) error {
		if err := p.s.hold(c); err != nil {
			return err
		}
		waits = c
		select {
		case p.next <- struct{}{}:
		default:
			p.s.wg.Go(p.work)
		}
		return nil
	}
	for waits == nil {
		conn, err := p.door.accept(wait)
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

// aside lets others in while conn is served: a handshake takes long, and waits for the client anyway.
func aside(conn net.Conn) {
	if c, ok := conn.(interface{ toPoller() error }); ok {
		_ = c.toPoller() // if this fails then so does everything else
	}
}
