package parsers

import (
	"bytes"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"

	"orbweaver/engine/frontier/links"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/records/capture"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/httphead"
	"orbweaver/internal/urlx"
)

// MetadataMode says which captures get a metadata record.
type MetadataMode uint8

// The modes. The zero value is MetadataAuto.
const (
	MetadataAuto MetadataMode = iota // captures with facts that the other records do not contain
	MetadataAll
	MetadataNone
)

// String returns the name that configuration files use.
func (m MetadataMode) String() string {
	return [...]string{MetadataAuto: "auto", MetadataAll: "all", MetadataNone: "none"}[m]
}

// ParseMetadataMode is the inverse of String.
func ParseMetadataMode(s string) (MetadataMode, error) {
	for m := MetadataAuto; m <= MetadataNone; m++ {
		if s == m.String() {
			return m, nil
		}
	}
	return MetadataAuto, fmt.Errorf("parsers: metadata %q is none of auto, all, none", s)
}

// MetadataOptions say what metadata records contain.
type MetadataOptions struct {
	Mode     MetadataMode
	Via      bool // the via and the hop path of queued URLs are known
	Outlinks bool // the links of the page

	Policy      politeness.Policy // its delays are those that the warcinfo records state
	StateDelays bool              // a warcinfo record states others: each capture states its own
}

// metadataWriter makes the blocks of metadata records.
type metadataWriter struct {
	MetadataOptions
	links           *extractor
	hasEarlierLinks bool // the metadata record of an earlier capture of the URL has the same links

	suites map[uint16]string // names of cipher suites, since crypto/tls allocates each name
}

func newMetadataWriter(o MetadataOptions, x *extractor) metadataWriter {
	return metadataWriter{MetadataOptions: o, links: x, suites: map[uint16]string{}}
}

// appendFields appends the block of a capture's metadata record, as warc-fields; nothing if the capture gets none. The
// names are those of Heritrix where it has one; docs/warc.md lists them all.
func (m *metadataWriter) appendFields(dst []byte, p *fetch.Page, a *attempt.Attempt) []byte {
	via := a.Via
	if !m.Via { // a page requisite has it for the crawl log
		via = nil
	}
	hasOutlinks := m.Outlinks && len(m.links.finder.Links) > 0 && !m.hasEarlierLinks
	spellings := m.links.finder.Spellings()
	if m.hasEarlierLinks {
		spellings = nil
	}
	switch m.Mode {
	case MetadataNone:
		return dst
	case MetadataAuto:
		if !hasOutlinks && len(spellings) == 0 && !a.Seed && via == nil && len(a.RobotsRule) == 0 &&
			!p.Connection.Secure && len(p.Interim) == 0 {
			return dst
		}
	}
	if a.Seed {
		dst = appendText(dst, "seed", "")
	}
	if via != nil {
		dst = appendText(dst, "via", via)
	}
	dst = appendHopPath(dst, a, via)
	took := p.Times.Ended.Sub(p.Times.Started).Milliseconds()
	dst = strconv.AppendInt(append(dst, "fetchTimeMs: "...), max(took, 0), 10)
	dst = append(dst, "\r\n"...)
	if a.Tries > 0 {
		dst = strconv.AppendInt(append(dst, "attempt: "...), int64(a.Tries)+1, 10)
		dst = append(dst, "\r\n"...)
	}
	if len(a.RobotsRule) > 0 {
		dst = appendText(dst, "robots-allowed-by-line", a.RobotsRule)
	}
	if p.Connection.Secure {
		dst = m.appendTLS(dst, &p.Connection.TLS)
	}
	dst = appendInterim(dst, p.Interim)
	if hasOutlinks {
		dst = appendOutlinks(dst, m.links.finder)
	}
	for line := range bytes.Lines(spellings) {
		dst = appendText(dst, "outlink-spelling", bytes.TrimSuffix(line, []byte{'\n'}))
	}
	return dst
}

// appendText appends a field. A control character becomes a space, so that the field remains one line.
func appendText[T string | []byte](dst []byte, name string, value T) []byte {
	dst = append(append(dst, name...), ": "...)
	for i := range len(value) {
		c := value[i]
		if c < ' ' || c == 0x7f {
			c = ' '
		}
		dst = append(dst, c)
	}
	return append(dst, "\r\n"...)
}

// appendHopPath appends the hop path. If it is not kept, it is that of queued.Hops, as in the crawl log.
func appendHopPath(dst []byte, a *attempt.Attempt, via []byte) []byte {
	switch {
	case a.IsRobots:
		return appendText(dst, capture.HopPathField, "P") // a prerequisite of other requests
	case len(a.HopPath) > 0:
		return appendText(dst, capture.HopPathField, a.HopPath)
	case via != nil, a.Hops == queued.Hops{}:
		return dst // unknown, or empty
	}
	dst = a.AppendTo(append(dst, capture.HopPathField+": "...), queued.HopPathMax)
	return append(dst, "\r\n"...)
}

// suiteOf returns the IANA name of a cipher suite. There are as many as a client offers.
func (m *metadataWriter) suiteOf(cipher uint16) string {
	suite, known := m.suites[cipher]
	if !known {
		suite = tls.CipherSuiteName(cipher)
		m.suites[cipher] = suite
	}
	return suite
}

// appendTLS appends the facts of the connection's TLS.
func (m *metadataWriter) appendTLS(dst []byte, facts *fetch.TLSFacts) []byte {
	dst = appendText(dst, "tls-version", tls.VersionName(facts.Version))
	dst = appendText(dst, "tls-cipher-suite", m.suiteOf(facts.Cipher))
	dst = hex.AppendEncode(append(dst, "tls-certificate-chain: sha256:"...), facts.Chain[:])
	dst = append(dst, "\r\n"...)
	if facts.Resumed {
		dst = appendText(dst, "tls-session", "resumed")
	}
	if facts.Fault != "" {
		dst = appendText(dst, "tls-certificate-fault", facts.Fault)
	}
	return dst
}

// appendInterim appends the heads of interim responses, a field for each line.
func appendInterim(dst, heads []byte) []byte {
	for line := range bytes.Lines(heads) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			dst = appendText(dst, "interim-response", line)
		}
	}
	return dst
}

// appendOutlinks appends the links of the page: the URL, the letter of the hop, and its place in the page.
func appendOutlinks(dst []byte, l *links.Finder) []byte {
	err := journal.EachLink(l.Links, func(kind parse.Kind, url []byte) {
		if kind == parse.Mined || kind == parse.Hook { // the page does not have it, or it is found later
			return
		}
		letter, context := kind.Letter(), kind.Context()
		dst = append(append(dst, "outlink: "...), url...)
		dst = append(append(append(dst, ' ', letter, ' '), context...), "\r\n"...)
	})
	if err != nil {
		panic(fmt.Sprintf("BUG: parsers: the list of links that was just made cannot be read: %v", err))
	}
	return dst
}

// appendConnection appends the header fields of a capture that say how it was transferred: a WARC-Protocol for HTTP and
// one for TLS, and the cipher suite by its IANA name. They are proposals 42 and 86 of the WARC specifications.
func (m *metadataWriter) appendConnection(dst []byte, p *fetch.Page) []byte {
	if p.Connection.TLS.HTTP2 {
		dst = append(dst, "WARC-Protocol: h2\r\n"...)
	} else if line, _ := httphead.Split(p.Head()); len(line) > len("HTTP/1.1") {
		if v := line[len("HTTP/"):len("HTTP/1.1")]; isDigit(v[0]) && v[1] == '.' && isDigit(v[2]) {
			dst = append(append(append(dst, "WARC-Protocol: http/"...), v...), "\r\n"...)
		}
	}
	if !p.Connection.Secure {
		return dst
	}
	if v := p.Connection.TLS.Version; v >= tls.VersionTLS10 && v <= tls.VersionTLS13 {
		dst = append(append(dst, "WARC-Protocol: tls/1."...), byte('0'+v-tls.VersionTLS10), '\r', '\n')
	}
	return appendText(dst, "WARC-Cipher-Suite", m.suiteOf(p.Connection.TLS.Cipher))
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// appendPayloadType appends the header field with the media type that the payload has by its bytes. Without a declared
// type it is always there, since the index has the type from it. body is the payload
// without content encodings if the page was searched for links. Other payloads have no field if they have an encoding,
// or are chunked and too long for memory.
func appendPayloadType(dst []byte, p *fetch.Page, a *attempt.Attempt, body []byte) []byte {
	if a.Media.IsSniffed {
		return append(append(append(dst, "WARC-Identified-Payload-Type: "...), a.Media.Type...), "\r\n"...)
	}
	if len(body) == 0 && len(p.Head().Value("content-encoding")) == 0 {
		switch _, rest := p.Rest(); {
		case rest == 0:
			body = p.Payload()
		case len(p.Head().Value("transfer-encoding")) == 0:
			body = p.Body()
		}
	}
	if len(body) == 0 || p.PayloadLen == 0 || !p.HasHead() {
		return dst
	}
	declared := p.Head().DeclaredType()
	field := append(dst, "WARC-Identified-Payload-Type: "...)
	value := len(field)
	field = parse.AppendMediaType(field, body, declared)
	if parse.IsCharsetInHeaderOnly(field[value:], body, declared) {
		return dst
	}
	return append(field, "\r\n"...)
}

// appendExchange appends the header field of a capture that says what its dates do not: how long the exchange took, how
// long the site had been left alone before, and the delays in force if they are not those of the warcinfo record. So
// the archive alone shows whether the delays between requests were kept. docs/warc.md has the form.
func (m *MetadataOptions) appendExchange(dst []byte, p *fetch.Page, a *attempt.Attempt) []byte {
	took := max(p.Times.Ended.Sub(p.Times.Started), 0)
	dst = append(append(dst, capture.ExchangeField...), ": took="...)
	dst = appendSeconds(dst, (took + time.Microsecond - 1).Truncate(time.Microsecond))
	if a.Delays.Idle >= 0 {
		dst = appendSeconds(append(dst, " idle="...), a.Delays.Idle)
	}
	if a.Delays.IPIdle >= 0 {
		dst = appendSeconds(append(dst, " ip-idle="...), a.Delays.IPIdle.Truncate(time.Millisecond))
	}
	if a.Delays.Group != "" {
		dst = append(append(dst, " group="...), a.Delays.Group...)
	}
	if m.StateDelays || a.Delays.Host != m.Policy.HostDelay {
		dst = appendSeconds(append(dst, " host-delay="...), a.Delays.Host)
	}
	if m.StateDelays || a.Delays.IP != m.Policy.IPDelay {
		dst = appendSeconds(append(dst, " ip-delay="...), a.Delays.IP)
	}
	if m.StateDelays || a.Delays.CrawlMax != m.Policy.CrawlDelayMax {
		dst = appendSeconds(append(dst, " crawl-delay-max="...), a.Delays.CrawlMax)
	}
	if a.IsRobots && !isRobotsFile(a.URL) {
		dst = append(append(dst, ' '), capture.ForRobots...)
	}
	return append(dst, "\r\n"...)
}

// isRobotsFile says whether a URL is that of a robots.txt, and not what one redirects to.
func isRobotsFile(url []byte) bool {
	_, path := urlx.Split(url)
	return string(path) == robots.FilePath
}

// appendSeconds appends a duration as a decimal number of seconds, good to a microsecond.
func appendSeconds(dst []byte, d time.Duration) []byte {
	return strconv.AppendFloat(dst, float64(d/time.Microsecond)/1e6, 'f', -1, 64)
}
