package fetch

import (
	"errors"
	"syscall"
	"time"

	"orbweaver/engine/net/bandwidth"
	"orbweaver/engine/net/h2"
	"orbweaver/engine/net/underway"
)

// connection is the connection of the current exchange, and what its Fetcher needs to wait on it.
type connection struct {
	link                // raw is nil if there is none
	site  siteOf        // for which later requests it can be used; set if Options.Keep is
	keeps bool          // it is kept for the next request, if the response allows that
	next  time.Duration // Target.Next
	watch watch
	wait  wait
	flow  *bandwidth.Flow
	times Timeouts // of the exchange

	progress *underway.Progress // of the worker

	received int64   // bytes of the current response
	probe    []byte  // buffer for connections that cannot report readiness; allocated at first use
	single   [1]byte // buffer for reads of one byte
}

// errNoBuffer says that bytes are there and no buffer to read them into.
var errNoBuffer = errors.New("fetch: no buffer")

// probeBytes is the size of the first read where readiness cannot be waited for without a buffer.
const probeBytes = 4 << 10

// attach makes l the connection of the exchange.
func (c *connection) attach(l link) {
	c.link = l
	if l.isMetered {
		l.meter.Flow = c.flow
	}
	c.watch.hold(l.raw)
}

// detach returns the connection, which the exchange no longer uses.
func (c *connection) detach() link {
	l := c.link
	c.watch.hold(nil)
	c.link = link{}
	return l
}

// hangUp closes the connection, without a TLS close_notify: the request said that no other will follow.
func (c *connection) hangUp() {
	if c.raw != nil {
		l := c.detach()
		_ = l.raw.Close() // nothing was left to write
	}
}

// read appends what one read yields to p.Raw, which must have room unless it has no buffer at all yet. A read with a
// buffer yields at most pieceMax bytes.
func (c *connection) read(p *Page, pieceMax int) (n int, err error) {
	if p.memory.raw.B == nil {
		n, err = c.readFirst(p)
	} else {
		room := p.memory.raw.B[len(p.Raw):]
		n, err = c.conn.Read(room[:min(len(room), pieceMax)])
		p.Raw = p.memory.raw.B[:len(p.Raw)+n]
	}
	if n > 0 {
		if c.received == 0 {
			p.Times.FirstByte = time.Now()
		}
		c.received += int64(n)
		c.progress.Add(n)
		if !c.isMetered {
			c.flow.Received(n)
		}
	}
	return n, err
}

// readFirst waits for the first bytes without holding a buffer, and takes one only when they are there: of a thousand
// fetchers nearly all wait for a server to answer.
func (c *connection) readFirst(p *Page) (int, error) {
	if plain, ok := c.conn.(syscall.Conn); ok && canWait {
		return c.wait.read(plain, p)
	}
	return c.readProbed(p)
}

// readProbed is readFirst for connections, and systems, that cannot tell when there is something to read: it waits with
// a small buffer of the Fetcher's own, and copies.
func (c *connection) readProbed(p *Page) (int, error) {
	if c.probe == nil {
		c.probe = make([]byte, probeBytes)
	}
	n, err := c.conn.Read(c.probe)
	if n > 0 {
		var ok bool
		if p.Raw, ok = p.memory.grow(p.Raw, n); !ok {
			return 0, errNoBuffer
		}
		p.Raw = p.memory.raw.B[:copy(p.memory.raw.B, c.probe[:n])]
	}
	return n, err
}

// quietTime is how long a read waits to detect bytes on a connection that cannot report readiness.
const quietTime = time.Millisecond

// isQuiet reports whether nothing has come over a stored connection since its last exchange: neither its end, nor bytes
// without a request, which would be taken for the next response. Frames of HTTP/2 may come, and are read.
func (c *connection) isQuiet(l *link) bool {
	stored, limit := l.raw, quietTime
	http2, isHTTP2 := l.conn.(*h2.Conn)
	if socket, ok := stored.(syscall.Conn); ok && canWait {
		isQuiet := c.wait.quiet(socket)
		if !isHTTP2 {
			return isQuiet
		}
		if isQuiet && http2.HasEnded() {
			limit = 0 // only what TLS has read already
		}
	}
	if isHTTP2 {
		l.meter.Flow = c.flow
		return http2.Settle(limit)
	}
	_ = stored.SetReadDeadline(time.Now().Add(quietTime)) // the exchange sets its own
	n, err := stored.Read(c.single[:])
	return n == 0 && err != nil && isTimeout(err)
}
