package parse

import (
	"bytes"
	"errors"
	"unicode/utf8"
)

// ErrCharset is returned for a body in a character set that the Encoding Standard does not allow to decode, because it
// was used for attacks.
var ErrCharset = errors.New("parse: forbidden character set")

// prescanMax is how many bytes of a body are searched for a declaration of its character set.
const prescanMax = 1024

// chooseCharset determines the character set: by byte order mark, Content-Type header, declaration in the body, and
// guessing, in this order. It returns the body without the byte order mark. attributes is scratch space.
func (d *textDecoder) chooseCharset(body, label []byte, format Format, attributes *tagAttributes) []byte {
	switch {
	case bytes.HasPrefix(body, []byte("\xEF\xBB\xBF")):
		d.charset = charsetState{name: "utf-8", certain: true}
		return body[3:]
	case bytes.HasPrefix(body, []byte("\xFE\xFF")):
		d.charset, _ = d.labels.lookup([]byte("utf-16be"))
		return body[2:]
	case bytes.HasPrefix(body, []byte("\xFF\xFE")):
		d.charset, _ = d.labels.lookup([]byte("utf-16le"))
		return body[2:]
	}
	var known bool
	if d.charset, known = d.labels.lookup(label); known {
		return body
	}
	head := body[:min(len(body), prescanMax)]
	if d.charset, known = d.ownWord(head, format, attributes); known {
		return body
	}
	if format != HTML {
		d.charset = charsetState{name: "utf-8"}
		return body
	}
	if !plain(head) && validPrefix(head) {
		d.charset = charsetState{name: "utf-8"}
		return body
	}
	d.charset, _ = d.labels.lookup([]byte("windows-1252"))
	d.charset.certain, d.guessable = false, true
	if !plain(head) {
		d.guessCharset(body)
	}
	return body
}

// lateCharset applies a meta element after the first bytes to the rest of the body. Browsers parse the body again,
// which differs only for earlier non-ASCII links.
func (d *textDecoder) lateCharset(b []byte, attributes *tagAttributes) {
	if c, ok := d.metaCharset(b, attributes); ok && !c.whole && !c.forbidden {
		d.charset = c
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

// ownWord finds the character set that a document declares in its first bytes.
func (d *textDecoder) ownWord(head []byte, format Format, attributes *tagAttributes) (charsetState, bool) {
	switch {
	case bytes.HasPrefix(head, []byte("<\x00?\x00x\x00")):
		return d.labels.lookup([]byte("utf-16le"))
	case bytes.HasPrefix(head, []byte("\x00<\x00?\x00x")):
		return d.labels.lookup([]byte("utf-16be"))
	case format == Style:
		const mark = `@charset "`
		if !bytes.HasPrefix(head, []byte(mark)) {
			return charsetState{}, false
		}
		label, _, found := bytes.Cut(head[len(mark):], []byte(`"`))
		if !found {
			return charsetState{}, false
		}
		return d.labels.lookupInside(label)
	}
	// In HTML the meta element takes precedence over the XML declaration; in XML browsers ignore it.
	if format == HTML {
		if c, ok := d.prescan(head, attributes); ok {
			return c, true
		}
		return d.labels.lookupInside(xmlEncoding(head))
	}
	if c, ok := d.labels.lookupInside(xmlEncoding(head)); ok {
		return c, true
	}
	return d.prescan(head, attributes)
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
func (d *textDecoder) prescan(head []byte, attributes *tagAttributes) (charsetState, bool) {
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
			end, _, ok := attributes.readAttributes(head, next)
			if !ok {
				return charsetState{}, false
			}
			p = end
			if name == tagMeta {
				if c, ok := d.metaCharset(head, attributes); ok {
					return c, true
				}
			}
		}
	}
}

func (d *textDecoder) metaCharset(head []byte, attributes *tagAttributes) (charsetState, bool) {
	if label, ok := attributes.get(head, attrCharset); ok {
		return d.labels.lookupInside(label)
	}
	content, ok := attributes.get(head, attrContent)
	if !ok || !attributes.is(head, attrHTTPEquiv, "content-type") {
		return charsetState{}, false
	}
	return d.labels.lookupInside(charsetIn(content))
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
