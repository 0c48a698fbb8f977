package fetch

import (
	"bytes"
	"net"
	"syscall"
	"time"

	"github.com/zeebo/xxh3"
)

// When a connection may carry another exchange (RFC 9112, section 9.3), and how.

// siteFor says for which requests a connection made for t can be used.
func (f *Fetcher) siteFor(t *Target) siteOf {
	site := siteOf{addr: f.address(t)}
	switch {
	case t.HTTPS:
		site.name = xxh3.Hash128Seed(t.Host, 1)
	case f.o.Proxy == nil:
		site.name = xxh3.Hash128Seed(t.Host, 0)
	}
	return site
}

// reuse takes a persistent connection to the site of t, if there is one on which nothing has come.
func (f *Fetcher) reuse(t *Target, p *Page) bool {
	keep := f.o.Keep
	if keep == nil {
		return false
	}
	f.site = f.siteFor(t)
	for !t.Fresh {
		l, ok := keep.takeConn(f.site)
		if !ok {
			return false
		}
		if !f.quiet(l.raw) {
			_ = l.raw.Close() // the server has closed it, or is about to
			keep.stale()
			continue
		}
		f.link = l
		f.watch.hold(l.raw)
		p.Connection.Remote, p.Times.Connected = f.site.addr, p.Times.Started
		if l.secure {
			p.Connection.Secure, p.Connection.TLS = true, l.facts
		}
		return true
	}
	return false
}

// lookTime is how long a read waits to detect bytes on a connection that cannot report readiness.
const lookTime = time.Millisecond

// quiet reports whether nothing has come over a connection since its last exchange: neither its end, nor bytes without
// a request, which would be taken for the next response.
func (f *Fetcher) quiet(conn net.Conn) bool {
	if socket, ok := conn.(syscall.Conn); ok && canWait {
		return f.wait.quiet(socket)
	}
	_ = conn.SetReadDeadline(time.Now().Add(lookTime)) // the exchange sets its own
	n, err := conn.Read(f.one[:])
	return n == 0 && err != nil && isTimeout(err)
}

// part ends the use of the connection: it is stored if possible, and closed otherwise.
func (f *Fetcher) part(p *Page) {
	if f.o.Keep == nil || f.raw == nil || f.watch.cancelled() {
		f.hangUp()
		return
	}
	allowed, ok := f.persists(p)
	if !ok {
		f.hangUp()
		return
	}
	l := f.link
	l.secure, l.facts = p.Connection.Secure, p.Connection.TLS
	f.watch.hold(nil)
	f.link = link{}
	f.o.Keep.put(f.site, l, allowed)
}

// irregularFlags are the flags that make the end of a body uncertain.
const irregularFlags = FlagLenient | FlagBothLengths | FlagSurplus | FlagNotHTTP | FlagBadLength

// persists reports whether the connection can be used again after the response in p, and for how long if the server has
// said so; else 0. The body must have ended as its framing says: only then the start of the next response is known.
func (f *Fetcher) persists(p *Page) (allowed time.Duration, ok bool) {
	if !p.Complete || f.frame.kind == frameClose || p.Flags&irregularFlags != 0 || p.Status == 101 || !hasPrefixFold(p.Raw, "http/1.1") {
		return 0, false
	}
	for name, value := range p.Head().Fields() {
		switch {
		case equalFold(name, "connection"):
			if hasToken(value, "close") {
				return 0, false
			}
		case equalFold(name, "keep-alive"):
			if allowed = keepAliveTimeout(value); allowed < 0 {
				return 0, false
			}
		}
	}
	return allowed, true
}

// keepAliveTimeout reads "timeout=5, max=100": a second less than the server says, since it counts from earlier than we
// do; 0 if it does not say, negative if that leaves nothing.
func keepAliveTimeout(value []byte) time.Duration {
	for token := range bytes.SplitSeq(value, []byte{','}) {
		name, number, found := bytes.Cut(token, []byte{'='})
		if !found || !equalFold(trimSpace(name), "timeout") {
			continue
		}
		n, ok := parseDecimal(trimSpace(number))
		if !ok || n > int64(retryAfterMax/time.Second) {
			return 0
		}
		if n <= 1 {
			return -1
		}
		return time.Duration(n-1) * time.Second
	}
	return 0
}

// hasToken says whether a comma-separated list has a word, in any case.
func hasToken(value []byte, word string) bool {
	for token := range bytes.SplitSeq(value, []byte{','}) {
		if equalFold(trimSpace(token), word) {
			return true
		}
	}
	return false
}
