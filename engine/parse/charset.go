package parse

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
)

// ErrCharset is returned for a body in a character set that the Encoding Standard does not allow to decode, because it
// was used for attacks.
var ErrCharset = errors.New("parse: forbidden character set")

// charsetState is how the bytes of the current body are decoded.
type charsetState struct {
	name      string
	certain   bool // declared by the header or the body
	whole     bool // not a superset of ASCII: the body must be decoded before it is scanned
	forbidden bool
	decoder   *encoding.Decoder // nil for UTF-8
	encoder   *encoding.Encoder // for queries; nil if they are in UTF-8
}

// labelEntry caches a lookup, because most pages name the same few character sets.
type labelEntry struct {
	label string
	state charsetState
	known bool
}

// prescanMax is how many bytes of a body are searched for a declaration of its character set.
const prescanMax = 1024

// chooseCharset determines the character set: by byte order mark, Content-Type header, declaration in the body, and
// guessing, in this order. It returns the body without the byte order mark.
func (s *Scanner) chooseCharset(body, label []byte, format Format) []byte {
	switch {
	case bytes.HasPrefix(body, []byte("\xEF\xBB\xBF")):
		s.charset = charsetState{name: "utf-8", certain: true}
		return body[3:]
	case bytes.HasPrefix(body, []byte("\xFE\xFF")):
		s.charset, _ = s.lookup([]byte("utf-16be"))
		return body[2:]
	case bytes.HasPrefix(body, []byte("\xFF\xFE")):
		s.charset, _ = s.lookup([]byte("utf-16le"))
		return body[2:]
	}
	var known bool
	if s.charset, known = s.lookup(label); known {
		return body
	}
	head := body[:min(len(body), prescanMax)]
	if s.charset, known = s.ownWord(head, format); known {
		return body
	}
	if format != HTML {
		s.charset = charsetState{name: "utf-8"}
		return body
	}
	if !plain(head) && validPrefix(head) {
		s.charset = charsetState{name: "utf-8"}
		return body
	}
	s.charset, _ = s.lookup([]byte("windows-1252"))
	s.charset.certain = false
	if !plain(head) {
		s.guessCharset(body)
	}
	return body
}

// lateCharset applies a meta element after the first bytes to the rest of the body. Browsers parse the body again,
// which differs only for earlier non-ASCII links.
func (s *Scanner) lateCharset(b []byte) {
	if c, ok := s.metaCharset(b); ok && !c.whole && !c.forbidden {
		s.charset, s.res.Charset = c, c.name
	}
}

// validPrefix reports whether b is UTF-8, except for an incomplete character at its end.
func validPrefix(b []byte) bool {
	for cut := 0; cut < utf8.UTFMax && cut < len(b); cut++ {
		if utf8.RuneStart(b[len(b)-1-cut]) {
			if !utf8.FullRune(b[len(b)-1-cut:]) {
				b = b[:len(b)-1-cut]
			}
			break
		}
	}
	return utf8.Valid(b)
}

// lookup finds a character set by one of its labels.
func (s *Scanner) lookup(label []byte) (charsetState, bool) {
	label = trimSpace(label)
	switch {
	case len(label) == 0 || len(label) > 64:
		return charsetState{}, false
	case fold(label, "utf-8"):
		return charsetState{name: "utf-8", certain: true}, true
	}
	for i := range s.labels {
		if s.labels[i].label == string(label) {
			return s.labels[i].state, s.labels[i].known
		}
	}
	e := labelEntry{label: string(label)}
	e.state, e.known = newCharset(e.label)
	s.labels[s.oldest] = e
	s.oldest = (s.oldest + 1) % len(s.labels)
	return e.state, e.known
}

func newCharset(label string) (charsetState, bool) {
	coding, err := htmlindex.Get(label)
	if err != nil {
		return charsetState{}, false
	}
	name, err := htmlindex.Name(coding)
	if err != nil {
		return charsetState{}, false
	}
	c := charsetState{name: strings.ToLower(name), certain: true}
	switch c.name {
	case "utf-8":
	case "replacement":
		c.forbidden = true
	case "utf-16le", "utf-16be", "iso-2022-jp":
		c.whole = true
		c.decoder = coding.NewDecoder()
	default:
		c.decoder, c.encoder = coding.NewDecoder(), coding.NewEncoder()
	}
	return c, true
}

func (s *Scanner) utf8Decoder() *encoding.Decoder {
	if s.repair == nil {
		s.repair = unicode.UTF8.NewDecoder()
	}
	return s.repair
}

// ownWord finds the character set that a document declares in its first bytes.
func (s *Scanner) ownWord(head []byte, format Format) (charsetState, bool) {
	switch {
	case bytes.HasPrefix(head, []byte("<\x00?\x00x\x00")):
		return s.lookup([]byte("utf-16le"))
	case bytes.HasPrefix(head, []byte("\x00<\x00?\x00x")):
		return s.lookup([]byte("utf-16be"))
	case format == Style:
		const mark = `@charset "`
		if !bytes.HasPrefix(head, []byte(mark)) {
			return charsetState{}, false
		}
		label, _, found := bytes.Cut(head[len(mark):], []byte(`"`))
		if !found {
			return charsetState{}, false
		}
		return s.lookupInside(label)
	}
	// In HTML the meta element takes precedence over the XML declaration; in XML browsers ignore it.
	if format == HTML {
		if c, ok := s.prescan(head); ok {
			return c, true
		}
		return s.lookupInside(xmlEncoding(head))
	}
	if c, ok := s.lookupInside(xmlEncoding(head)); ok {
		return c, true
	}
	return s.prescan(head)
}

// lookupInside is lookup for a label inside the body. It was read as ASCII, so the body cannot be UTF-16, whatever the
// label says.
func (s *Scanner) lookupInside(label []byte) (charsetState, bool) {
	c, ok := s.lookup(label)
	switch {
	case !ok:
	case c.name == "utf-16le" || c.name == "utf-16be":
		return charsetState{name: "utf-8", certain: true}, true
	case c.name == "x-user-defined":
		return s.lookup([]byte("windows-1252"))
	}
	return c, ok
}

// xmlEncoding gives the encoding of an XML declaration, nil if there is none.
func xmlEncoding(head []byte) []byte {
	decl, _, found := bytes.Cut(head, []byte(">"))
	if !found || !bytes.HasPrefix(decl, []byte("<?xml")) {
		return nil
	}
	_, rest, found := bytes.Cut(decl, []byte("encoding"))
	if rest = trimSpace(rest); !found || len(rest) == 0 || rest[0] != '=' {
		return nil
	}
	if rest = trimSpace(rest[1:]); len(rest) == 0 || rest[0] != '"' && rest[0] != '\'' {
		return nil
	}
	label, _, found := bytes.Cut(rest[1:], rest[:1])
	if !found {
		return nil
	}
	return label
}

// prescan finds a meta element with the character set, as the HTML standard does: without regard to scripts and other
// raw text.
func (s *Scanner) prescan(head []byte) (charsetState, bool) {
	for p := 0; ; {
		i := bytes.IndexByte(head[p:], '<')
		if i < 0 || p+i+1 >= len(head) {
			return charsetState{}, false
		}
		p += i + 1
		switch c := head[p]; {
		case bytes.HasPrefix(head[p:], []byte("!--")):
			p = after(head, p+1, "-->")
		case c == '!' || c == '?' || c == '/' && !(p+1 < len(head) && class[head[p+1]]&isAlpha != 0):
			p = after(head, p, ">")
		case c == '/':
			p, _ = skipAttributes(head, p+1)
		case class[c]&isAlpha != 0:
			name, next := readTag(head, p)
			end, _, ok := s.attributes(head, next)
			if !ok {
				return charsetState{}, false
			}
			p = end
			if name == tagMeta {
				if c, ok := s.metaCharset(head); ok {
					return c, true
				}
			}
		}
	}
}

func (s *Scanner) metaCharset(head []byte) (charsetState, bool) {
	if label, ok := s.get(head, attrCharset); ok {
		return s.lookupInside(label)
	}
	content, ok := s.get(head, attrContent)
	if !ok || !s.is(head, attrHTTPEquiv, "content-type") {
		return charsetState{}, false
	}
	return s.lookupInside(charsetIn(content))
}

// charsetIn finds the value after "charset=" in a content type as meta elements have it; nil if there is none.
func charsetIn(content []byte) []byte {
	for {
		i := 0
		for i < len(content) && !foldPrefix(content[i:], "charset") {
			i++
		}
		if i >= len(content) {
			return nil
		}
		content = trimSpace(content[i+len("charset"):])
		if len(content) == 0 || content[0] != '=' {
			continue
		}
		content = trimSpace(content[1:])
		if len(content) == 0 {
			return nil
		}
		if q := content[0]; q == '"' || q == '\'' {
			label, _, found := bytes.Cut(content[1:], content[:1])
			if !found {
				return nil
			}
			return label
		}
		end := 0
		for end < len(content) && content[end] != ';' && class[content[end]]&isSpace == 0 {
			end++
		}
		return content[:end]
	}
}
