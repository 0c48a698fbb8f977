package throughput

import (
	"context"
	"io"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// dialer is a proxy without a network: a connection makes its response in memory.
type dialer struct {
	web       *web
	think     time.Duration             // mean pause before a response, exponential; 0 for none
	pool      sync.Pool                 // *conn
	responses sync.Pool                 // *[]byte
	pages     atomic.Int64              // requested, without robots.txt
	sockets   atomic.Pointer[sockets]   // if not nil, connections are real
	first     atomic.Pointer[time.Time] // request
}

// DialContext implements fetch.Dialer.
func (d *dialer) DialContext(ctx context.Context, _, addr string) (net.Conn, error) {
	to, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, err
	}
	return d.DialAddr(ctx, to)
}

// DialAddr implements fetch.AddrDialer.
func (d *dialer) DialAddr(ctx context.Context, _ netip.AddrPort) (net.Conn, error) {
	if s := d.sockets.Load(); s != nil {
		return s.dialer.DialAddr(ctx, s.addr)
	}
	c, ok := d.pool.Get().(*conn)
	if !ok {
		c = &conn{dialer: d}
	}
	c.url, c.unread = c.url[:0], nil
	return c, nil
}

// conn is one exchange: a request is written, its response read. While it waits it holds a timer and no response.
type conn struct {
	dialer   *dialer
	url      []byte // requested, without a response so far
	timer    *time.Timer
	response *[]byte
	unread   []byte
}

// Write takes a whole request, which the engine sends in one piece.
func (c *conn) Write(b []byte) (int, error) {
	url, robots := requestedURL(b)
	if c.dialer.first.Load() == nil {
		now := time.Now()
		c.dialer.first.CompareAndSwap(nil, &now)
	}
	if !robots {
		c.dialer.pages.Add(1)
	}
	c.url = append(c.url[:0], url...)
	if pause := c.dialer.web.think(url, c.dialer.think); pause > 0 {
		if c.timer == nil {
			c.timer = time.NewTimer(pause)
		} else {
			c.timer.Reset(pause)
		}
	}
	return len(b), nil
}

// Read gives the response.
func (c *conn) Read(b []byte) (int, error) {
	if len(c.url) > 0 {
		if c.dialer.think > 0 {
			<-c.timer.C
		}
		c.response, _ = c.dialer.responses.Get().(*[]byte)
		if c.response == nil {
			c.response = new([]byte)
		}
		*c.response = c.dialer.web.appendResponse((*c.response)[:0], c.url)
		c.url, c.unread = c.url[:0], *c.response
	}
	if len(c.unread) == 0 {
		return 0, io.EOF
	}
	n := copy(b, c.unread)
	c.unread = c.unread[n:]
	return n, nil
}

// Close returns the connection to the pool.
func (c *conn) Close() error {
	if c.response != nil {
		c.dialer.responses.Put(c.response)
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	c.response, c.unread = nil, nil
	c.dialer.pool.Put(c)
	return nil
}

func (c *conn) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
func (c *conn) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: proxyPort}
}
func (c *conn) SetDeadline(time.Time) error      { return nil }
func (c *conn) SetReadDeadline(time.Time) error  { return nil }
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

const proxyPort = 3128
