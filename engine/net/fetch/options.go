package fetch

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"orbweaver/engine/net/bandwidth"
	"orbweaver/engine/net/bodyfile"
	"orbweaver/internal/options"
)

// Errors of options and of the dialer. What a site does wrong is an outcome, not an error.
var (
	// ErrName is wrapped by a dialer that was given a name: names are resolved, and vetted, elsewhere.
	ErrName = errors.New("fetch: the dialer takes addresses, not names")
	// ErrOptions is wrapped by every fault that Validate finds.
	ErrOptions = errors.New("fetch: options")
)

// TLSMode says what happens with a server whose certificate does not verify.
type TLSMode uint8

const (
	// TLSTolerant fetches the page and records the fault.
	TLSTolerant TLSMode = iota
	// TLSStrict refuses the server.
	TLSStrict
)

// RobotsBodyMax is the limit of a robots.txt in bytes: 500 KiB (RFC 9309, section 2.5), and one byte to detect a longer
// one.
const RobotsBodyMax = 500<<10 + 1

// Options are the limits and request headers of a Fetcher. Every field except UserAgent has a default for zero.
type Options struct {
	BodyMax   int64      `name:"max-body" type:"size" help:"Bytes of one body that are archived; a longer body is truncated. A body beyond 2MiB goes through a file, so memory does not grow with it. Raise it for longer films and data." default:"1GiB" least:"1" most:"1TiB" placeholder:"SIZE" basic:""`
	UserAgent string     `help:"Header User-Agent of all requests. The default names the version and --contact." placeholder:"TEXT"`
	Contact   string     `help:"URL or e-mail address where site owners reach you; required for public crawls." placeholder:"URL" group:"common" basic:""`
	Long      LongBodies `embed:""`

	TLS TLSMode `name:"tls" type:"word" help:"tolerant: fetch despite certificate faults; strict: refuse them. Use strict if you must trust what you store." oneof:"tolerant,strict" default:"tolerant" placeholder:"MODE"`

	HTTP2      bool `name:"http2" help:"Offer HTTP/2 to HTTPS servers, one request at a time. The archive has such an exchange in the form of HTTP/1.1, with WARC-Protocol: h2."`
	ProbeHTTP2 bool `name:"probe-h2" help:"Ask a site once more over HTTP/2 if it answers 403, 426 or 505, or not at all, before its first page. It is a try like others, after the usual delay. The report counts how many were answered."`

	DialTimeout   time.Duration `name:"connect-timeout" help:"Time for a connection, and again for its TLS handshake. If the host has another address, it is tried at once after a refusal, and after 1.5s without a connection." default:"10s" least:"1ms" placeholder:"TIME"`
	HeaderTimeout time.Duration `name:"response-timeout" help:"Time from the request to the end of the head of the response. Raise it for servers that compute long." default:"30s" least:"1ms" placeholder:"TIME"`
	TotalTimeout  time.Duration `name:"exchange-timeout" help:"Time for a whole exchange, to the end of the body. A longer body is truncated. A body without a declared length, such as a stream, has at most an hour. Lower it if long downloads hold up their hosts." default:"6h" least:"1ms" placeholder:"TIME"`
	Headers       []string      `name:"header" help:"Line for the head of all requests, such as 'Accept-Language: de'. It replaces a default one of this name. Repeatable. Not for passwords: the archive stores it." placeholder:"'NAME: VALUE'" sep:"none"`

	HeaderMax     int           `kong:"-"` // bytes of one header block; default 256 KiB
	HeaderLineMax int           `kong:"-"` // bytes of one header line; default 64 KiB
	HeaderCount   int           `kong:"-"` // lines of one header block; default 1000
	InterimMax    int           `kong:"-"` // interim (1xx) responses before the final one; default 20
	RateMin       int           `kong:"-"` // bytes per second below which a body is cut; default 1 KiB; negative: none
	RateWindow    time.Duration `kong:"-"` // over which RateMin is measured; default 30 s
	Shared        `kong:"-"`
	Proxy         *Proxy `kong:"-"` // nil: connect directly
	Accept        string `kong:"-"` // default: HTML first, then anything
	// default "gzip", which is cheap and which all archive tools can decode; br and zstd are possible
	AcceptEncoding string         `kong:"-"`
	RootCAs        *x509.CertPool `kong:"-"` // nil: the system's
}

// Timeouts are time limits of one host in place of those of Options, if they are not zero.
type Timeouts struct{ Connect, Response, Exchange, Slow time.Duration }

// timeouts returns the time limits of an exchange.
func (o *Options) timeouts(own Timeouts) Timeouts {
	return Timeouts{
		cmp.Or(own.Connect, o.DialTimeout), cmp.Or(own.Response, o.HeaderTimeout), cmp.Or(own.Exchange, o.TotalTimeout),
		cmp.Or(own.Slow, o.Long.SlowTimeout),
	}
}

// Shared is what all Fetchers of a crawl share.
type Shared struct {
	Keep      *IdleConns        // stores persistent connections; nil: one connection for each exchange
	Sessions  *Sessions         // stores TLS sessions; default: none
	Bandwidth *bandwidth.Limits // default: no limit
}

// LongBodies are the options of bodies that do not fit into memory.
type LongBodies struct {
	FilesMax      int64         `name:"max-body-files" type:"size" help:"Disk space for all bodies beyond 2MiB on their way to the archive. When it is used up, these bodies wait for each other." default:"16GiB" least:"1MiB" placeholder:"SIZE"`
	SlowTimeout   time.Duration `name:"slow-body-timeout" help:"Time for an exchange whose body is short or slow: a body has one second more for each 64KiB beyond 2MiB that have come, up to --exchange-timeout. Raise it for slow servers." default:"5m" least:"1ms" placeholder:"TIME"`
	StreamTimeout time.Duration `kong:"-"` // of an exchange whose body has no declared length; default 1 h

	MemoryMax int64           `kong:"-"` // bytes of a body that stay in memory; default 2 MiB
	RateMin   int             `kong:"-"` // bytes for which a longer body has one more second; default 64 KiB
	Files     *bodyfile.Store `kong:"-"` // default: no files, and longer bodies are truncated
}

// Proxy is an HTTP proxy that carries every request.
type Proxy struct {
	URL  string         // http://[user:password@]host[:port]
	Addr netip.AddrPort // address of the proxy; if invalid it is taken from URL, which must then contain an address
}

// WithDefaults returns a copy of o in which every field that is zero has its default.
func (o Options) WithDefaults() Options {
	options.SetDefaults(&o)
	setDefault(&o.HeaderMax, 256<<10)
	setDefault(&o.HeaderLineMax, 64<<10)
	setDefault(&o.HeaderCount, 1000)
	setDefault(&o.InterimMax, 20)
	setDefault(&o.Long.MemoryMax, 2<<20)
	setDefault(&o.Long.RateMin, 64<<10)
	setDefault(&o.Long.Files, bodyfile.Nowhere())
	setDefault(&o.Sessions, NewSessions(0, nil, ""))
	setDefault(&o.Bandwidth, bandwidth.Unlimited())
	setDefault(&o.RateMin, 1<<10)
	setDefault(&o.RateWindow, 30*time.Second)
	setDefault(&o.Long.StreamTimeout, time.Hour)
	setDefault(&o.Accept, "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8")
	setDefault(&o.AcceptEncoding, "gzip")
	return o
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Validate reports every fault of o, joined. It expects defaults to be filled in.
func (o Options) Validate() error {
	var faults []error
	bad := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: "+format, append([]any{ErrOptions}, args...)...))
	}
	if o.BodyMax < 1 || o.BodyMax > 1<<40 {
		bad("BodyMax %d is not in [1, 1 TiB]", o.BodyMax)
	}
	if o.HeaderMax < 1<<10 || o.HeaderMax > 16<<20 {
		bad("HeaderMax %d is not in [1 KiB, 16 MiB]", o.HeaderMax)
	}
	if o.HeaderLineMax < 256 || o.HeaderLineMax > o.HeaderMax {
		bad("HeaderLineMax %d is not in [256, HeaderMax]", o.HeaderLineMax)
	}
	if o.HeaderCount < 1 || o.InterimMax < 0 {
		bad("HeaderCount %d and InterimMax %d must be at least 1 and 0", o.HeaderCount, o.InterimMax)
	}
	for _, d := range []time.Duration{
		o.DialTimeout, o.HeaderTimeout, o.TotalTimeout, o.Long.SlowTimeout, o.RateWindow, o.Long.StreamTimeout,
	} {
		if d < time.Millisecond {
			bad("a time limit of %v is too short", d)
		}
	}
	for _, v := range []string{o.UserAgent, o.Contact, o.Accept, o.AcceptEncoding} {
		if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			bad("control characters in the header value %q", v)
		}
	}
	for _, line := range o.Headers {
		if err := checkHeaderLine(line); err != nil {
			faults = append(faults, fmt.Errorf("%w: %w", ErrOptions, err))
		}
	}
	if strings.TrimSpace(o.UserAgent) == "" {
		bad("UserAgent is empty")
	}
	if o.Proxy != nil {
		if _, err := o.Proxy.resolve(); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// rawBodyMax returns the limit of a body with chunking, for a payload of at most payloadMax bytes. So a body of
// one-byte chunks does not take six times its size.
func rawBodyMax(payloadMax int64) int64 { return payloadMax + max(payloadMax/8, 64<<10) }

// BufferMax is the largest buffer an exchange under o can need: PoolOptions.SlabBytes must be at least this. It holds
// any head and the part of a body that stays in memory.
func (o Options) BufferMax() int {
	o = o.WithDefaults()
	return o.HeaderMax + int(rawBodyMax(max(min(o.BodyMax, o.Long.MemoryMax), RobotsBodyMax))) + 1
}

// ResponseMax is the longest response that an exchange under o can store, in bytes.
func (o Options) ResponseMax() int64 {
	o = o.WithDefaults()
	return int64(o.HeaderMax) + rawBodyMax(max(o.BodyMax, RobotsBodyMax)) + 1
}

// proxyRoute is a proxy as the fetcher uses it.
type proxyRoute struct {
	addr netip.AddrPort
	user *url.Userinfo
}

// resolve checks p and says where it listens.
func (p *Proxy) resolve() (proxyRoute, error) {
	u, err := url.Parse(p.URL)
	if err != nil || u.Scheme != "http" || u.Host == "" {
		return proxyRoute{}, fmt.Errorf("%w: the proxy is not http://host:port", ErrOptions)
	}
	if p.Addr.IsValid() {
		return proxyRoute{addr: p.Addr, user: u.User}, nil
	}
	host := u.Host
	if u.Port() == "" {
		host += ":80"
	}
	addr, err := netip.ParseAddrPort(host)
	if err != nil {
		return proxyRoute{}, fmt.Errorf("%w: the proxy %q is not an address and none was given", ErrOptions, u.Host)
	}
	return proxyRoute{addr: addr, user: u.User}, nil
}
