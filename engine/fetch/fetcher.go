package fetch

import (
	"context"
	"crypto/tls"
	"net/netip"
	"time"

	"orbweaver/internal/outcome"
)

// Target is what to fetch. Fetch borrows it.
type Target struct {
	URL    []byte         // normal form, without fragment
	Host   []byte         // value of the Host field: host, and port if it is not the default of the scheme
	Addr   netip.AddrPort // address to connect to; ignored with a proxy
	HTTPS  bool
	Robots bool   // a robots.txt: the body limit is RobotsBodyMax
	Fresh  bool   // do not use a persistent connection
	Cookie []byte // value of the Cookie field; empty for none

	// Values of the fields that make a request conditional (RFC 9110, section 13.1): a 304 response means that the
	// stored page is current. Empty for none.
	IfNoneMatch, IfModifiedSince []byte
}

// Fetcher performs exchanges, one at a time; each worker has its own. An idle Fetcher holds a few hundred bytes and no
// buffer.
type Fetcher struct {
	o           Options
	dialer      Dialer
	addrDialer  AddrDialer // dialer, if it implements AddrDialer
	proxy       proxyRoute
	credentials []byte // header line for the proxy, or nil
	manners     []byte
	tlsConfig   *tls.Config
	pool        *Pool

	// State of the current exchange.
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
	probe []byte // buffer for connections that cannot report readiness; allocated at first use
	one   [1]byte
}

// NewFetcher returns a Fetcher. It panics if the options are invalid or need larger buffers than pool has: the caller
// must have validated them.
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

// Close ends the registration with the context of the last Fetch. It is not needed if that context has ended.
func (f *Fetcher) Close() { f.watch.leave() }

// Fetch makes one request for t and reads the response into p; see Page. The result is also p.Outcome. It never follows
// a redirect and never retries. Before it returns, it closes its connection or gives it to Options.Keep. It borrows t
// and p. If ctx ends, it returns at once with outcome.Cancelled.
//
// If a persistent connection is closed by the server before the first byte of the response, the outcome is
// outcome.Stale. The Fetcher does not repeat the request, because the server may have read it.
//
// The outcome of a complete response is that of its status. A truncated response with status 2xx is CutLength, CutTime,
// CutDisconnect or NoMemory. With another status, the outcome is that of the status; p.Complete and p.Cut describe the
// rest. Invalid framing is Protocol with any status; p.HasHead then tells whether there is something to archive.
func (f *Fetcher) Fetch(ctx context.Context, t *Target, p *Page) outcome.Outcome {
	p.begin(t.URL)
	p.Times.Started = time.Now()
	f.page = p
	f.total = p.Times.Started.Add(f.o.TotalTimeout)
	p.Outcome = outcome.Cancelled
	if f.watch.follow(ctx) {
		p.Outcome = f.exchange(ctx, t, p)
		f.part(p)
	}
	f.page = nil
	p.Times.Ended = time.Now()
	return p.Outcome
}

// exchange connects, writes and reads.
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

// converse writes and reads.
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
	// A server may answer and close without reading, so an error of the write is ignored: the response shows the
	// result.
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

// hangUp closes the connection, without a TLS close_notify: the request said that no other will follow.
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
