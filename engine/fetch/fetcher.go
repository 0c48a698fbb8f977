package fetch

import (
	"context"
	"crypto/tls"
	"net/netip"
	"time"

	"orbweaver/engine/outcome"
)

// Target is what to fetch. Fetch borrows it.
type Target struct {
	URL    []byte         // normal form, without fragment
	Host   []byte         // as it goes into the Host field: host, and port if it is not the scheme's
	Addr   netip.AddrPort // vetted address to connect to; ignored with a proxy
	HTTPS  bool
	Robots bool   // a robots.txt: the body limit is RobotsBodyMax
	Fresh  bool   // not over a connection that was kept
	Cookie []byte // value of the field Cookie; empty for none

	// Values of the fields that make a request conditional (RFC 9110, section 13.1): 304 means that what they are about is still so. Empty
	// for none.
	IfNoneMatch, IfModifiedSince []byte
}

// Fetcher performs exchanges, one at a time; each worker has its own. Idle it holds a few hundred bytes and no buffer.
type Fetcher struct {
	o           Options
	dialer      Dialer
	addrDialer  AddrDialer // dialer, if it can be spared the text
	proxy       proxyRoute
	credentials []byte // header line for the proxy, or nil
	manners     []byte
	tlsConfig   *tls.Config
	pool        *Pool

	// One exchange.
	watch   watch
	page    *Page
	link    // the connection; raw is nil if there is none
	site    siteOf
	frame   framer
	scan    headScan
	total   time.Time // end of the exchange
	window  time.Time // start of the rate window
	windowN int64     // bytes received when it started
	got     int64     // bytes received

	wait  wait
	probe []byte // for connections that cannot tell when they are readable; made at the first of them
	one   [1]byte
}

// NewFetcher makes a Fetcher. Options that do not validate, or need larger buffers than pool's, are a bug: the caller has
// validated them.
func NewFetcher(o Options, d Dialer, pool *Pool) *Fetcher {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		panic("BUG: " + err.Error())
	}
	if pool.slabBytes() < o.BufferMax() {
		panic("BUG: the slabs of the pool are smaller than Options.BufferMax")
	}
	f := &Fetcher{o: o, dialer: d, pool: pool, manners: manners(&o)}
	f.addrDialer, _ = d.(AddrDialer)
	f.wait.init()
	f.watch.undial = f.watch.dialed
	f.tlsConfig = f.newTLSConfig()
	if o.Proxy != nil {
		f.proxy, _ = o.Proxy.resolve() // validated above
		f.credentials = f.proxy.proxyAuthorization()
	}
	return f
}

// Close lets go of the context of the last Fetch. A Fetcher that is dropped after its context has ended needs no Close.
func (f *Fetcher) Close() { f.watch.leave() }

// Fetch makes one request for t and reads the response into p, which keeps everything that came; see Page. The result is
// also p.Outcome. It never follows a redirect and never tries again; before it returns it closes its connection, or gives it to
// Options.Keep. It borrows t and p. When ctx ends, so does Fetch, at once and with outcome.Cancelled.
//
// A connection that was kept may turn out to be closed by the server before a byte of the answer has come: that is outcome.Stale. It
// is not for the Fetcher to ask once more at once, since nobody knows whether the server has read the request.
//
// The outcome is that of the status line for a whole response. One that is cut is CutLength, CutTime, CutDisconnect or
// NoMemory if its status is 2xx; if not, the status says more about what to do next, and p.Complete and p.Cut tell the
// rest. Framing that cannot be followed is Protocol, whatever the status; p.HasHead then tells whether there is something
// to archive.
func (f *Fetcher) Fetch(ctx context.Context, t *Target, p *Page) outcome.Outcome {
	p.begin(t.URL)
	p.Started = time.Now()
	f.page = p
	f.total = p.Started.Add(f.o.TotalTimeout)
	p.Outcome = outcome.Cancelled
	if f.watch.follow(ctx) {
		p.Outcome = f.exchange(ctx, t, p)
		f.part(p)
	}
	f.page = nil
	p.Ended = time.Now()
	return p.Outcome
}

// exchange is connect, write, read.
func (f *Fetcher) exchange(ctx context.Context, t *Target, p *Page) outcome.Outcome {
	if f.reuse(t, p) {
		o := f.converse(t, p)
		if o == outcome.Reset && f.got == 0 {
			f.o.Keep.stale()
			p.Err = "kept connection closed"
			return outcome.Stale
		}
		return o
	}
	if o := f.connect(ctx, t, p); o != outcome.None {
		return o
	}
	return f.converse(t, p)
}

// converse is write, read.
func (f *Fetcher) converse(t *Target, p *Page) outcome.Outcome {
	now := time.Now()
	if !f.watch.arm(earlier(now.Add(f.o.HeaderTimeout), f.total)) {
		return outcome.Cancelled
	}
	p.Request = appendRequest(p.Request[:0], t, f.o.Proxy != nil && !t.HTTPS, f.manners)
	request := p.Request
	if f.credentials != nil && !t.HTTPS {
		request = withCredentials(request, f.credentials)
	}
	// A server may answer and close without reading: whether the write worked is seen by what can be read.
	_, _ = f.conn.Write(request)
	info, o := f.readHead(p)
	if o != outcome.None {
		return o
	}
	bodyMax := f.o.BodyMax
	if t.Robots {
		bodyMax = RobotsBodyMax
	}
	if o = f.readBody(p, info, bodyMax); o != outcome.None {
		return o
	}
	return p.conclude(&f.frame, info)
}

// hangUp closes the connection. TLS is not told: who closes in the middle of everything need not, and otherwise the request said that
// there would be no other.
func (f *Fetcher) hangUp() {
	if f.raw == nil {
		return
	}
	f.watch.hold(nil)
	_ = f.raw.Close() // nothing was left to write
	f.link = link{}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
