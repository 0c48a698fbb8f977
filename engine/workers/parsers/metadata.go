package parsers

import (
	"bytes"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"strconv"

	"orbweaver/engine/frontier/links"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/page/parse"
	"orbweaver/engine/records/capture"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/journal"
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
	switch m.Mode {
	case MetadataNone:
		return dst
	case MetadataAuto:
		if !hasOutlinks && !a.Seed && via == nil && len(a.RobotsRule) == 0 &&
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
