package fetch

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"time"

	"orbweaver/internal/outcome"
)

// connect opens the connection for t: directly, to the proxy, or through it. On a fault the caller closes f.raw.
func (f *Fetcher) connect(ctx context.Context, t *Target, p *Page) outcome.Outcome {
	addr := f.address(t)
	p.Connection.Remote = addr
	conn, err := f.dial(ctx, addr)
	p.Times.Connected = time.Now()
	if err != nil {
		if f.watch.cancelled() || ctx.Err() != nil {
			return outcome.Cancelled
		}
		o := p.dialFault(err)
		if o == outcome.LocalFault && f.o.Keep != nil {
			f.o.Keep.shed()
		}
		if f.o.Proxy != nil && o.Class() != outcome.ClassRefusal {
			p.Connection.ProxyDown = true
			return outcome.ProxyFault
		}
		return o
	}
	f.raw, f.conn = conn, conn
	f.watch.hold(conn)
	if !t.HTTPS {
		return outcome.None
	}
	if f.o.Proxy != nil {
		if o := f.tunnel(t, p); o != outcome.None {
			return o
		}
	}
	return f.handshake(t, p)
}

// address returns the address to connect to for t.
func (f *Fetcher) address(t *Target) netip.AddrPort {
	if f.o.Proxy != nil {
		return f.proxy.addr
	}
	return t.Addr
}

// dial connects to addr within the dial timeout.
func (f *Fetcher) dial(ctx context.Context, addr netip.AddrPort) (net.Conn, error) {
	if f.addrDialer != nil {
		f.watch.deadline = time.Now().Add(f.o.DialTimeout)
		return f.addrDialer.DialAddr(&f.watch, addr)
	}
	ctx, cancel := context.WithTimeout(ctx, f.o.DialTimeout)
	defer cancel()
	return f.dialer.DialContext(ctx, "tcp", addr.String())
}

// handshake does the TLS handshake.
func (f *Fetcher) handshake(t *Target, p *Page) outcome.Outcome {
	if !f.watch.arm(time.Now().Add(f.o.TLSTimeout)) {
		return outcome.Cancelled
	}
	// The request follows the handshake at once, and must not wait for the acknowledgement (Nagle's algorithm). A plain
	// request is a single write, which never waits.
	if c, ok := f.raw.(interface{ SetNoDelay(bool) error }); ok {
		_ = c.SetNoDelay(true) // without it everything works, only more slowly
	}
	f.tlsConfig.ServerName = serverName(t.Host)
	conn := tls.Client(f.raw, f.tlsConfig)
	f.conn = conn
	//nolint:contextcheck // watch aborts the handshake through the deadline of the connection
	if err := conn.Handshake(); err != nil {
		if f.watch.cancelled() {
			return outcome.Cancelled
		}
		p.Err = tlsCause(err)
		return outcome.TLSFault
	}
	return outcome.None
}

// tunnelHeadMax limits a proxy's response to CONNECT, in bytes.
const tunnelHeadMax = 16 << 10

// tunnel asks the proxy for a connection to the host of t (RFC 9110, section 9.3.6).
func (f *Fetcher) tunnel(t *Target, p *Page) outcome.Outcome {
	if !f.watch.arm(time.Now().Add(f.o.DialTimeout)) {
		return outcome.Cancelled
	}
	p.Request = appendConnect(p.Request[:0], t, f.o.UserAgent, f.credentials)
	_, err := f.raw.Write(p.Request)
	p.Request = p.Request[:0]
	if err != nil {
		return f.tunnelFault(p, "proxy: cannot write")
	}
	// Read byte by byte, because what follows the head belongs to TLS. Crawls through a proxy are rare.
	head := make([]byte, 0, 256)
	for len(head) < tunnelHeadMax {
		n, err := f.raw.Read(f.one[:])
		if n == 0 && err != nil {
			return f.tunnelFault(p, "proxy: no answer to CONNECT")
		}
		head = append(head, f.one[:n]...)
		if bytes.HasSuffix(head, []byte("\r\n\r\n")) || bytes.HasSuffix(head, []byte("\n\n")) {
			info, cause := f.pool.codecs.parseHead(head)
			if cause == "" && info.status >= 200 && info.status < 300 {
				return outcome.None
			}
			if cause == "" && info.status >= 100 && info.status < 200 {
				head = head[:0]
				continue
			}
			return f.tunnelFault(p, "proxy: CONNECT refused")
		}
	}
	return f.tunnelFault(p, "proxy: endless answer to CONNECT")
}

func (f *Fetcher) tunnelFault(p *Page, cause string) outcome.Outcome {
	if f.watch.cancelled() {
		return outcome.Cancelled
	}
	p.Err = cause
	return outcome.ProxyFault
}
