package engine

import (
	"bytes"
	"crypto/tls"
	"encoding/hex"
	"fmt"
	"strconv"

	"orbweaver/engine/attempt"
	"orbweaver/engine/fetch"
	"orbweaver/engine/journal"
	"orbweaver/engine/links"
	"orbweaver/engine/queued"
	"orbweaver/warc"
)

// Metadata says which captures get a metadata record beside their response and request.
type Metadata uint8

// The choices. The zero value is MetadataAuto.
const (
	MetadataAuto Metadata = iota // those of which there is something to tell that the other records do not say
	MetadataAll                  // all of them
	MetadataNone                 // none
)

// String gives the name used in configuration files.
func (m Metadata) String() string {
	return [...]string{MetadataAuto: "auto", MetadataAll: "all", MetadataNone: "none"}[m]
}

// ParseMetadata is the inverse of String.
func ParseMetadata(s string) (Metadata, error) {
	for m := MetadataAuto; m <= MetadataNone; m++ {
		if s == m.String() {
			return m, nil
		}
	}
	return MetadataAuto, fmt.Errorf("engine: metadata %q is none of auto, all, none", s)
}

// tells is what metadata records tell, as the configuration has it.
type tells struct {
	which    Metadata
	via      bool
	outlinks bool
	suites   map[uint16]string // names of those that were met: the library makes each anew
}

func tellsOf(c *Archive) tells {
	return tells{which: c.Metadata, via: c.Via, outlinks: c.Outlinks, suites: map[uint16]string{}}
}

// tellsKinds says whether somebody asks what kind of link led on.
func (c *Archive) tellsKinds() bool { return c.Via || c.Outlinks }

// appendFields appends the block of a capture's metadata record, as warc-fields; nothing if there is to be none. The
// names are those of Heritrix where it has one; docs/warc.md lists them all.
func (w *parseWorker) appendFields(dst []byte, p *fetch.Page, f *attempt.Attempt) []byte {
	t := &w.tells
	outlinks := t.outlinks && len(w.finder.Links) > 0
	switch t.which {
	case MetadataNone:
		return dst
	case MetadataAuto:
		if !outlinks && !f.Seed && f.Via == nil && len(f.RobotsRule) == 0 && p.TLS == nil && len(p.Interim) == 0 {
			return dst
		}
	}
	if f.Seed {
		dst = appendText(dst, "seed", "")
	}
	if f.Via != nil {
		dst = appendText(dst, "via", f.Via)
	}
	dst = appendWay(dst, f)
	dst = strconv.AppendInt(append(dst, "fetchTimeMs: "...), max(p.Ended.Sub(p.Started).Milliseconds(), 0), 10)
	dst = append(dst, "\r\n"...)
	if f.Tries > 0 {
		dst = strconv.AppendInt(append(dst, "attempt: "...), int64(f.Tries)+1, 10)
		dst = append(dst, "\r\n"...)
	}
	if len(f.RobotsRule) > 0 {
		dst = appendText(dst, "robots-allowed-by-line", f.RobotsRule)
	}
	if p.TLS != nil {
		dst = t.appendTLS(dst, p.TLS)
	}
	dst = appendInterim(dst, p.Interim)
	if outlinks {
		dst = appendOutlinks(dst, w.finder)
	}
	return dst
}

// appendText adds one line. A control character becomes a space, so that it stays one line.
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

// appendWay adds the letters of the hops from a seed. Where they are not kept they are, as in the crawl log, L for each
// link and R for each redirect behind the last of them.
func appendWay(dst []byte, f *attempt.Attempt) []byte {
	switch {
	case f.IsRobots:
		return append(dst, "hopsFromSeed: P\r\n"...) // a prerequisite of other requests
	case len(f.HopPath) > 0:
		return appendText(dst, hopsField, f.HopPath)
	case f.Via != nil, f.Depth+f.Redirects == 0:
		return dst // not known, or there is none
	}
	dst = append(dst, "hopsFromSeed: "...)
	for range min(f.Depth, queued.HopPathMax) {
		dst = append(dst, 'L')
	}
	for range f.Redirects {
		dst = append(dst, 'R')
	}
	return append(dst, "\r\n"...)
}

const hopsField = "hopsFromSeed"

// wayOf reads the letters back from a group; empty if none are there. The result is the caller's.
func wayOf(group []warc.RecordRead) []byte {
	for i := range group {
		if group[i].Type != warc.Metadata {
			continue
		}
		for line := range bytes.Lines(group[i].Block) {
			if way, ok := bytes.CutPrefix(line, []byte(hopsField+": ")); ok {
				return bytes.Clone(bytes.TrimSpace(way))
			}
		}
	}
	return nil
}

// appendTLS adds what is known of the connection's TLS.
func (t *tells) appendTLS(dst []byte, facts *fetch.TLSFacts) []byte {
	suite, known := t.suites[facts.Cipher]
	if !known { // one of those that we offered, so they are few
		suite = tls.CipherSuiteName(facts.Cipher)
		t.suites[facts.Cipher] = suite
	}
	dst = appendText(dst, "tls-version", tls.VersionName(facts.Version))
	dst = appendText(dst, "tls-cipher-suite", suite)
	dst = hex.AppendEncode(append(dst, "tls-certificate-chain: sha256:"...), facts.Chain[:])
	dst = append(dst, "\r\n"...)
	if facts.Fault != "" {
		dst = appendText(dst, "tls-certificate-fault", facts.Fault)
	}
	return dst
}

// appendInterim writes the heads of interim responses as warc-fields, one line each.
func appendInterim(dst, heads []byte) []byte {
	for line := range bytes.Lines(heads) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			dst = appendText(dst, "interim-response", line)
		}
	}
	return dst
}

// appendOutlinks adds what the page links to: the URL, the letter of the hop, and where in the page it stood.
func appendOutlinks(dst []byte, l *links.Finder) []byte {
	n := 0
	err := journal.EachLink(l.Links, func(url []byte) {
		letter, context := l.Kinds[n].Letter(), l.Kinds[n].Context()
		n++
		dst = append(append(dst, "outlink: "...), url...)
		dst = append(append(append(dst, ' ', letter, ' '), context...), "\r\n"...)
	})
	if err != nil {
		panic(fmt.Sprintf("BUG: engine: the list of links that was just made cannot be read: %v", err))
	}
	return dst
}
