package fetch

import (
	"crypto/sha256"
	"net/netip"
	"time"

	"orbweaver/engine/net/fetch/coding"
	"orbweaver/engine/net/fetch/framing"
	"orbweaver/internal/outcome"
	"orbweaver/internal/sha1pair"
	"orbweaver/warc"
)

// Flags are irregularities of a response that change nothing else.
type Flags uint16

// The flags.
const (
	FlagLenient      Flags = 1 << iota // the codec refused the head, but browsers accept it
	FlagBothLengths                    // Content-Length and chunking; chunking was used
	FlagSurplus                        // bytes after the end of the body, which are not stored
	FlagNotHTTP                        // no status line: HTTP/0.9, or no HTTP at all
	FlagBadLength                      // several Content-Length that differ, or one beyond all numbers
	FlagLocal                          // the fault may be of this machine: no descriptors, no ports, no route
	FlagBlankSurplus                   // with FlagSurplus: those bytes are spaces and line ends
)

// Page is one exchange: what was sent, what came, when, and the outcome. It has exactly one holder at any time. All
// pages come from a Pool and return to it.
//
// Every slice of a Page, and every slice that its methods return, belongs to the Page and is invalid after Put.
type Page struct {
	URL     []byte // normal form
	Request []byte // the request as sent, without the credentials of a proxy
	// Raw is the response as received, from the status line, with chunking, truncated exactly at the limit. Of a
	// response that is too long for memory it is the start: see Rest.
	Raw     []byte
	HeadLen int    // length of the head within Raw; 0 if no complete head came
	Interim []byte // heads of earlier 1xx responses, one after the other

	Status      int             // as the server said, any number; 0 if none
	Complete    bool            // the body ended as its framing says
	Truncation  warc.Truncation // why the body is truncated: of length if a byte beyond the limit was dropped
	Flags       Flags           // irregularities
	PayloadLen  int64           // bytes of body without chunking
	Digest      [20]byte        // SHA-1 of the payload; valid after Sum if Complete
	BlockDigest [20]byte        // SHA-1 of the response; valid after Sum if Complete, or if there is a Rest

	Outcome    outcome.Outcome
	Err        string // short cause for the log; "" without a fault
	Connection Connection
	Times      Times

	Engine any // owned by the engine. It stays with the Page, so that its memory is reused

	memory  pageMemory
	payload payloadRuns
	rest    rest
}

// Times are when the steps of an exchange happened.
type Times struct {
	Started   time.Time // before connecting
	Connected time.Time // after connect, before the TLS handshake; for a persistent connection, when it was taken
	FirstByte time.Time // first bytes of the response read
	Ended     time.Time // when the connection was closed, or stored in IdleConns
}

// Connection is what is known about the connection of an exchange.
type Connection struct {
	Remote netip.AddrPort // the address connected to; with a proxy, the proxy's
	Way    outcome.Way    // a fault of the way: the outcome says nothing about the site
	Secure bool           // TLS was agreed on; TLS has the facts
	TLS    TLSFacts
}

// TLSFacts are what is known about the TLS of an exchange.
type TLSFacts struct {
	Version uint16 // as in crypto/tls
	Cipher  uint16
	Resumed bool   // a session was resumed: the certificates are those of an earlier handshake
	HTTP2   bool   // agreed on by ALPN: Request and Raw are HTTP/1.1 as package h2 renders it
	Fault   string // "" if the certificate verifies, else why not: expired, wrong-name, unknown-authority, ...

	Chain [sha256.Size]byte // SHA-256 of the certificates as the server sent them, concatenated
}

// HasHead reports whether a complete response head came, so that there is a response to archive, whatever the Outcome.
func (p *Page) HasHead() bool { return p.HeadLen > 0 }

// Head returns the response head with its empty line; empty if no whole head came.
func (p *Page) Head() Head { return p.Raw[:p.HeadLen] }

// Body returns the part of the body that is in Raw, as it came, chunking and all.
func (p *Page) Body() []byte { return p.Raw[p.HeadLen:] }

// Payload returns the body without chunking, with content encodings: of a response longer than SearchMax the part that
// is in its first SearchMax bytes. It aliases Raw, unless the body came in several chunks or there is a Rest; then the
// first call assembles it.
func (p *Page) Payload() []byte {
	if p.rest.size > 0 {
		return p.payloadWithRest()
	}
	if !p.payload.chunked {
		return p.Body()
	}
	if p.payload.count <= 1 {
		return p.Raw[p.payload.start : p.payload.start+int(p.PayloadLen)]
	}
	if p.payload.assembled == nil {
		p.payload.assembled = p.assemble()
	}
	return p.payload.assembled
}

// assemble copies the runs of payload behind Raw, or into another buffer if there is no room.
func (p *Page) assemble() []byte {
	dst := p.memory.spaceBehind(p.Raw, int(p.PayloadLen))
	var f framing.Framer
	f.Init(framing.Chunked, framing.Limits{Body: p.PayloadLen, Raw: int64(len(p.Raw))})
	for b := p.Body(); len(b) > 0 && f.End == framing.NotEnded; {
		n, data := f.Next(b)
		dst = append(dst, data...)
		b = b[n:]
	}
	return dst
}

// Decoded returns the payload without its content encodings, for parsing; the archive keeps the encoded bytes. The
// result aliases p if there was nothing to remove. Otherwise it aliases d, and the next call overwrites it.
func (p *Page) Decoded(d *coding.Decoder) ([]byte, coding.Fault) {
	payload := p.Payload()
	if len(payload) == 0 {
		return payload, coding.OK
	}
	d.Reset()
	for _, name := range [...]string{"content-encoding", "transfer-encoding"} {
		for value := range p.Head().Values(name) {
			if fault := d.Add(value); fault != coding.OK {
				return payload, fault
			}
		}
	}
	body, fault := d.Decode(payload)
	if fault == coding.Truncated && !p.IsSearchedWhole() {
		fault = coding.OK // it is this package that has truncated it
	}
	return body, fault
}

// Sum computes the digests of a page that is Complete; for others it does nothing. With a Rest they are known already.
func (p *Page) Sum(h *sha1pair.Hasher) {
	if p.Complete && p.rest.size == 0 {
		p.BlockDigest, p.Digest = h.Sums(p.Raw, p.Payload())
	}
}

// statusOutcome returns the outcome of a complete response.
func (p *Page) statusOutcome() outcome.Outcome {
	switch s := p.Status; {
	case s == 408, s == 425:
		return outcome.Transient
	case s == 101, s == 206, s == 416: // no protocol and no range was asked for
		return outcome.Unasked
	case s >= 200 && s < 300:
		return outcome.OK
	case s == 304:
		return outcome.NotModified
	case s == 301, s == 302, s == 303, s == 307, s == 308:
		if len(p.Head().Location()) > 0 {
			return outcome.Redirect
		}
		return outcome.OtherStatus
	case s == 429:
		return outcome.TooMany
	case s == 502, s == 503, s >= 521 && s <= 523: // 521 to 523 are Cloudflare's codes for an unreachable origin
		return outcome.Unavailable
	case s >= 400 && s < 500:
		return outcome.ClientError
	case s >= 500 && s < 600:
		return outcome.ServerError
	default:
		return outcome.OtherStatus
	}
}

// dropGatewayAnswer removes the response if a proxy or another gateway gave it in place of the server. It returns None
// if the response is the server's. isProxied says that a proxy read the request.
func (p *Page) dropGatewayAnswer(isProxied bool) outcome.Outcome {
	var v gatewayVerdict
	if mayGatewayAnswer(p.Status, isProxied) {
		v = judgeGateway(p.Head(), p.Status)
	}
	if isProxied && p.Flags&FlagNotHTTP != 0 {
		v = refusal("proxy: its answer is not HTTP")
	}
	if v.Outcome != outcome.None {
		p.Raw, p.Interim = p.Raw[:0], p.Interim[:0]
		p.HeadLen, p.Status, p.Flags = 0, 0, 0
		p.Err, p.Connection.Way = v.Cause, v.Way
	}
	return v.Outcome
}

// interimKept is the most memory in bytes that a page keeps for interim heads, which are rare.
const interimKept = 4 << 10

// begin prepares p for an exchange. Engine stays.
func (p *Page) begin(url []byte) {
	p.memory.release()
	p.URL = append(p.URL[:0], url...)
	p.Request = p.Request[:0]
	if p.Interim = p.Interim[:0]; cap(p.Interim) > interimKept {
		p.Interim = nil
	}
	p.Raw, p.HeadLen = nil, 0
	p.Status, p.Complete, p.Truncation, p.Flags = 0, false, warc.TruncatedNone, 0
	p.PayloadLen, p.payload = 0, payloadRuns{}
	p.rest.remove()
	p.Digest, p.BlockDigest = [20]byte{}, [20]byte{}
	p.Outcome, p.Err = outcome.None, ""
	p.Connection, p.Times = Connection{}, Times{}
}

// payloadRuns is where the payload of a chunked body is within Raw: one run of bytes for each chunk, or for each read
// of a part of a chunk that follows framing.
type payloadRuns struct {
	chunked   bool
	count     int
	start     int    // of the first run
	end       int    // of the last run
	assembled []byte // the runs as one, if there are several; nil until Payload is called
}

// add records a run of payload.
func (r *payloadRuns) add(start, end int) {
	if r.count == 0 || start != r.end {
		if r.count++; r.count == 1 {
			r.start = start
		}
	}
	r.end = end
}
