package fetch

import (
	"context"
	"net/netip"
	"time"

	"orbweaver/engine/net/bandwidth"
	"orbweaver/engine/net/fetch/framing"
	"orbweaver/engine/net/h2"
	"orbweaver/engine/net/underway"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
	"orbweaver/warc"
)

// Target is what to fetch. Fetch borrows it.
type Target struct {
	URL    []byte         // normal form, without fragment
	Host   []byte         // value of the Host field: host, and port if it is not the default of the scheme
	Addr   netip.AddrPort // address to connect to; ignored with a proxy
	HTTPS  bool
	Robots bool          // a robots.txt: the body limit is RobotsBodyMax
	HTTP2  bool          // offer HTTP/2, on a connection for this exchange alone
	HTTP1  bool          // do not offer HTTP/2
	Fresh  bool          // do not use a persistent connection
	Next   time.Duration // to the next request to this site, at least; negative: none is known
	OfMany bool          // the host has another address to try: a connection has otherAddrTimeout at most
	Cookie []byte        // value of the Cookie field; empty for none

	Limit         bandwidth.HostLimit
	Timeouts      Timeouts
	UserAgent     string // in place of Options.UserAgent; "" for that
	Authorization []byte // line of the head with credentials, which Page.Request does not have; empty for none
	TrustedOnly   bool   // do not send Authorization if the certificate has a fault

	// Values of the fields that make a request conditional (RFC 9110, section 13.1): a 304 response means that the
	// stored page is current. Empty for none.
	IfNoneMatch, IfModifiedSince []byte
}

// Fetcher performs exchanges, one at a time; each worker has its own. An idle Fetcher holds a few hundred bytes and no
// buffer.
type Fetcher struct {
	o           *Options
	manners     []byte // the part of a request that is the same for all whose connection is kept
	lastManners []byte // the same for those after which it is closed
	connector   connector
	conn        connection
	head        headReader
	body        bodyReader
}

// NewFetcher returns a Fetcher. It panics if the options are invalid or need larger buffers than pool has: the caller
// must have validated them.
func NewFetcher(o Options, d Dialer, pool *Pool) *Fetcher {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		panic("BUG: " + err.Error())
	}
	if pool.buffers.LargestSize() < o.BufferMax() {
		panic("BUG: the slabs of the pool are smaller than Options.BufferMax")
	}
	f := &Fetcher{o: &o, manners: manners(&o, true), lastManners: manners(&o, false)}
	f.head = headReader{o: f.o, codecs: &pool.codecs}
	f.body.o, f.body.rest.store = f.o, f.o.Long.Files
	f.connector = connector{o: f.o, dialer: addrDialer(d), codecs: &pool.codecs}
	f.connector.handshaker.init(f.o)
	if o.Proxy != nil {
		f.connector.proxy, _ = o.Proxy.resolve() // validated above
		f.connector.credentials = f.connector.proxy.proxyAuthorization()
	}
	f.conn.flow, f.conn.progress = f.o.Bandwidth.NewFlow(), new(underway.Progress)
	f.conn.wait.init()
	f.conn.watch.undial = f.conn.watch.dialed
	return f
}

// Options are those of the Fetcher. Time-outs and BodyMax may be changed, and not during an exchange.
func (f *Fetcher) Options() *Options { return f.o }

// Close ends the registration with the context of the last Fetch. It is not needed if that context has ended.
func (f *Fetcher) Close() { f.conn.watch.leave() }

// Flow is what counts and limits the bytes that the Fetcher receives.
func (f *Fetcher) Flow() *bandwidth.Flow { return f.conn.flow }

// CountIn has the Fetcher count the bytes of responses in p as they come.
func (f *Fetcher) CountIn(p *underway.Progress) { f.conn.progress = p }

// Fetch makes one request for t and reads the response into p; see Page. The result is also p.Outcome. It never follows
// a redirect and never retries. Before it returns, it closes its connection or, if the next request may still find it
// open, gives it to Options.Keep. It borrows t and p. If ctx ends, it returns at once with outcome.Cancelled.
//
// If a persistent connection ends before the first byte of the response, or none comes in time, the outcome is
// outcome.Stale: a network on the way may have forgotten the connection. The Fetcher does not repeat the request,
// because the server may have read it.
//
// The outcome of a complete response is that of its status. A truncated response with status 2xx is TruncatedLength,
// TruncatedTime, TruncatedDisconnect or NoMemory. With another status, the outcome is that of the status; p.Complete
// and p.Truncation describe the rest. Invalid framing is Protocol with any status; p.HasHead then tells whether there
// is something to archive.
func (f *Fetcher) Fetch(ctx context.Context, t *Target, p *Page) outcome.Outcome {
	p.begin(t.URL)
	p.Times.Started = time.Now()
	f.conn.times = f.o.timeouts(t.Timeouts)
	f.body.limits.begin(p.Times.Started, &f.conn.times)
	p.Outcome = outcome.Cancelled
	if f.conn.watch.follow(ctx) {
		f.conn.flow.Begin(t.Limit)
		p.Outcome = f.exchange(ctx, t, p)
		f.connector.store(p, &f.conn, f.body.scan.frame.Kind == framing.Close && !p.Connection.TLS.HTTP2)
		f.conn.flow.End()
	}
	p.Times.Ended = time.Now()
	return p.Outcome
}

// exchange connects, writes and reads.
func (f *Fetcher) exchange(ctx context.Context, t *Target, p *Page) outcome.Outcome {
	isReused := f.connector.reuse(t, p, &f.conn)
	f.connector.decideKeep(t, &f.conn)
	if isReused {
		o := f.converse(t, p)
		if f.conn.received > 0 || o != outcome.Reset && o != outcome.HeaderTimeout {
			return o
		}
		f.o.Keep.stale(f.conn.site, &f.conn.link)
		if p.Err = "kept connection closed"; o == outcome.HeaderTimeout {
			p.Err = "kept connection silent"
		}
		return outcome.Stale
	}
	if o := f.connector.connect(ctx, t, p, &f.conn); o != outcome.None {
		return o
	}
	return f.converse(t, p)
}

// converse writes and reads.
func (f *Fetcher) converse(t *Target, p *Page) outcome.Outcome {
	if !f.conn.watch.arm(earlier(time.Now().Add(f.conn.times.Response), f.body.limits.whole)) {
		return outcome.Cancelled
	}
	manners, isHTTP2 := f.manners, p.Connection.TLS.HTTP2
	if !f.conn.keeps && !isHTTP2 {
		manners = f.lastManners
	}
	p.Request = appendRequest(p.Request[:0], t, f.o.Proxy != nil && !t.HTTPS, manners)
	if isHTTP2 {
		h2.LowerNames(p.Request)
	}
	request := p.Request
	if credentials := f.connector.credentials; credentials != nil && !t.HTTPS {
		request = withCredentials(request, credentials)
	}
	if len(t.Authorization) > 0 && !(t.TrustedOnly && p.Connection.TLS.Fault != "") {
		request = withCredentials(request, t.Authorization)
	}
	// A server may answer and close without reading, so an error of the write is ignored: the response shows the
	// result.
	_, _ = f.conn.conn.Write(request)
	info, o := f.head.readHead(p, &f.conn)
	if o != outcome.None {
		return o
	}
	if o := p.dropGatewayAnswer(f.o.Proxy != nil && !t.HTTPS); o != outcome.None {
		return o
	}
	if bodyKind(info) == framing.Length {
		f.conn.progress.Expect(int64(len(p.Interim)+p.HeadLen) + info.length)
	}
	if t.Robots {
		return f.body.readBody(p, &f.conn, info, RobotsBodyMax)
	}
	return f.readPage(t, p, info)
}

// readPage reads the body of a page. A source whose body had no end costs no second long one: what it sends without
// declaring a length within the limit is kept as far as it fits into memory.
func (f *Fetcher) readPage(t *Target, p *Page, info headInfo) outcome.Outcome {
	bodyMax, files := f.o.BodyMax, f.o.Long.Files
	isDeclared := bodyKind(info) == framing.Length
	if !isDeclared {
		f.body.limits.whole = earlier(f.body.limits.whole, p.Times.Started.Add(f.o.Long.StreamTimeout))
	}
	mayBeEndless := !isDeclared || info.length > bodyMax
	if mayBeEndless && files.IsEndless(urlx.Host(t.URL), t.Addr.Addr()) {
		bodyMax = min(bodyMax, f.o.Long.MemoryMax)
	}
	o := f.body.readBody(p, &f.conn, info, bodyMax)
	hadNoEnd := p.Truncation == warc.TruncatedLength ||
		!isDeclared && p.Truncation == warc.TruncatedTime && !time.Now().Before(p.Times.Started.Add(f.o.Long.StreamTimeout))
	if mayBeEndless && hadNoEnd && p.rest.size > 0 {
		files.NoteEndless(urlx.Host(t.URL), t.Addr.Addr())
	}
	return o
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
