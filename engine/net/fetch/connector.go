package fetch

import (
	"context"
	"math"
	"net/netip"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/net/h2"
	"orbweaver/internal/httphead"
	"orbweaver/internal/outcome"
)

// connector gives a Fetcher its connections: new ones, directly, to a proxy or through it, and those of Options.Keep.
type connector struct {
	o           *Options
	dialer      AddrDialer
	proxy       proxyRoute
	credentials []byte // header line for the proxy, or nil
	handshaker  handshaker
	codecs      *codecs
}

// siteFor says for which requests a connection made for t can be used.
func (c *connector) siteFor(t *Target) siteOf {
	site := siteOf{addr: c.address(t)}
	switch {
	case t.HTTPS && c.o.HTTP2 && t.HTTP1: // its connection is for no other request
		site.name = xxh3.Hash128Seed(t.Host, 2)
	case t.HTTPS:
		site.name = xxh3.Hash128Seed(t.Host, 1)
	case c.o.Proxy == nil:
		site.name = xxh3.Hash128Seed(t.Host, 0)
	}
	return site
}

// address returns the address to connect to for t.
func (c *connector) address(t *Target) netip.AddrPort {
	if c.o.Proxy != nil {
		return c.proxy.addr
	}
	return t.Addr
}

// reuse takes a persistent connection to the site of t, if there is one on which nothing has come.
func (c *connector) reuse(t *Target, p *Page, conn *connection) bool {
	keep := c.o.Keep
	if keep == nil {
		return false
	}
	conn.site = c.siteFor(t)
	for !t.Fresh {
		l, ok := keep.takeConn(conn.site)
		if !ok {
			return false
		}
		if !conn.isQuiet(&l) {
			_ = l.raw.Close() // the server has closed it, or is about to
			keep.stale(conn.site, &l)
			continue
		}
		conn.attach(l)
		p.Times.Connected = p.Times.Started
		p.Connection.Remote = conn.site.addr
		p.Connection.Secure, p.Connection.TLS = l.secure, l.facts
		return true
	}
	return false
}

// decideKeep decides whether the connection is kept after the exchange of t. The request says so.
func (c *connector) decideKeep(t *Target, conn *connection) {
	conn.next = t.Next
	ofAddr := addrConnsMax
	if c.o.Proxy != nil {
		ofAddr = math.MaxInt // the address is that of the proxy
		if !t.HTTPS {
			conn.next = 0 // the next request to any site
		}
	}
	conn.keeps = c.o.Keep != nil && !t.HTTP2 && c.o.Keep.keepsFor(conn.site, conn.next, ofAddr)
}

// otherAddrTimeout is the time for a connection if the host has another address to try. It allows for one lost packet,
// which is sent again after a second.
const otherAddrTimeout = 1500 * time.Millisecond

// connect opens the connection for t: directly, to the proxy, or through it. On a fault the caller closes conn. If the
// server refuses a handshake that resumes a session, there is a second one, which does not.
func (c *connector) connect(ctx context.Context, t *Target, p *Page, conn *connection) outcome.Outcome {
	c.handshaker.refused = false
	o := c.open(ctx, t, p, conn)
	if c.handshaker.refused {
		c.o.Sessions.refused()
		conn.hangUp()
		p.Err, p.Connection = "", Connection{}
		o = c.open(ctx, t, p, conn)
	}
	return o
}

// open is connect with one attempt.
func (c *connector) open(ctx context.Context, t *Target, p *Page, conn *connection) outcome.Outcome {
	addr := c.address(t)
	p.Connection.Remote = addr
	limit := conn.times.Connect
	if t.OfMany {
		limit = min(limit, otherAddrTimeout)
	}
	conn.watch.deadline = time.Now().Add(limit)
	dialled, err := c.dialer.DialAddr(&conn.watch, addr)
	p.Times.Connected = time.Now()
	if err != nil {
		if conn.watch.cancelled() || ctx.Err() != nil {
			return outcome.Cancelled
		}
		return c.fail(p, err)
	}
	conn.attach(link{raw: dialled, conn: dialled})
	if !t.HTTPS {
		return outcome.None
	}
	if c.o.Proxy != nil {
		if o := c.tunnel(t, p, conn); o != outcome.None {
			return o
		}
	}
	return c.handshaker.handshake(t, p, conn)
}

// fail records the error of a dial, and returns its outcome.
func (c *connector) fail(p *Page, err error) outcome.Outcome {
	o, cause, flags := dialFault(err)
	p.Err = cause
	p.Flags |= flags
	if o == outcome.LocalFault && c.o.Keep != nil {
		c.o.Keep.shed()
	}
	if o == outcome.ProxyFault { // of a dialer that has a proxy of its own
		p.Connection.Way = socksFault(err)
		return o
	}
	if c.o.Proxy != nil && o.Class() != outcome.ClassRefusal {
		p.Connection.Way, p.Err = outcome.WayDown, "proxy: "+cause
		return outcome.ProxyFault
	}
	return o
}

// tunnelHeadMax limits a proxy's response to CONNECT, in bytes.
const tunnelHeadMax = 16 << 10

// tunnel asks the proxy for a connection to the host of t (RFC 9110, section 9.3.6).
func (c *connector) tunnel(t *Target, p *Page, conn *connection) outcome.Outcome {
	if !conn.watch.arm(time.Now().Add(conn.times.Connect)) {
		return outcome.Cancelled
	}
	p.Request = appendConnect(p.Request[:0], t, c.o.UserAgent, c.credentials)
	_, err := conn.raw.Write(p.Request)
	p.Request = p.Request[:0]
	if err != nil {
		return tunnelFault(p, conn, refusal("proxy: cannot write"))
	}
	// Read byte by byte, because what follows the head belongs to TLS. Crawls through a proxy are rare.
	head := make([]byte, 0, 256)
	for len(head) < tunnelHeadMax {
		n, err := conn.raw.Read(conn.single[:])
		if n == 0 && err != nil {
			return tunnelFault(p, conn, silentTunnel(err))
		}
		head = append(head, conn.single[:n]...)
		if conn.single[0] == '\n' && httphead.Length(head) > 0 {
			info, cause := c.codecs.parseHead(head)
			switch {
			case cause != "":
				return tunnelFault(p, conn, noProxy("proxy: no HTTP for CONNECT"))
			case info.status >= 200 && info.status < 300:
				return outcome.None
			case info.status >= 100 && info.status < 200:
				head = head[:0]
				continue
			}
			return tunnelFault(p, conn, judgeConnect(Head(head), info.status))
		}
	}
	return tunnelFault(p, conn, noProxy("proxy: endless answer to CONNECT"))
}

// silentTunnel is the verdict if no answer to CONNECT came. A proxy waits for a server that is silent.
func silentTunnel(err error) gatewayVerdict {
	if isTimeout(err) {
		return gatewayVerdict{Outcome: outcome.ConnectTimeout, Cause: "proxy: no answer to CONNECT in time"}
	}
	return refusal("proxy: no answer to CONNECT")
}

// refusal is the verdict if the proxy has ended the connection.
func refusal(cause string) gatewayVerdict {
	return gatewayVerdict{Outcome: outcome.ProxyFault, Way: outcome.WayRefused, Cause: cause}
}

// noProxy is the verdict if what came is not the answer of a proxy.
func noProxy(cause string) gatewayVerdict {
	return gatewayVerdict{Outcome: outcome.ProxyFault, Way: outcome.WayDown, Cause: cause}
}

func tunnelFault(p *Page, conn *connection, v gatewayVerdict) outcome.Outcome {
	if conn.watch.cancelled() {
		return outcome.Cancelled
	}
	p.Err, p.Connection.Way = v.Cause, v.Way
	return v.Outcome
}

// store gives the connection to Options.Keep if it may carry another exchange, and closes it otherwise. untilClose says
// that the body in p ended with the connection.
func (c *connector) store(p *Page, conn *connection, untilClose bool) {
	if !conn.keeps || conn.raw == nil || untilClose || conn.watch.cancelled() {
		conn.hangUp()
		return
	}
	allowed, ok := p.persists()
	if http2, isHTTP2 := conn.conn.(*h2.Conn); isHTTP2 && !http2.MayFollow() {
		ok = false
	}
	if !ok || allowed > 0 && conn.next >= allowed {
		conn.hangUp()
		return
	}
	l := conn.detach()
	l.secure, l.facts = p.Connection.Secure, p.Connection.TLS
	c.o.Keep.put(conn.site, l, allowed)
}
