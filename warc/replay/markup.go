package replay

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
)

const (
	// tagMost is how many bytes of the attributes of one tag are kept. A longer tag loses all of them.
	tagMost = 4 << 20
	// attributesMost is how many attributes of one tag are kept.
	attributesMost = 1000
	// nameMost is the length of the longest name of an element or an attribute, in bytes.
	nameMost = 100
	// doctypeMost is how many bytes of a document type are kept.
	doctypeMost = 500
)

// markup reads the tags of a page as browsers do. Memory is bounded by tagMost, whatever the page has.
type markup struct {
	in   *bufio.Reader
	err  error // of in
	text []byte
	tag  tag
}

// tag is a tag. It is valid until the next one is read.
type tag struct {
	name       string // in lower case
	isEmpty    bool   // it ends in "/>"
	attributes []attribute
}

// attribute has a name in lower case, and a value with its character references. Both are borrowed from the tag.
type attribute struct{ name, value []byte }

// get returns the value of an attribute; "" if there is none.
func (t *tag) get(name string) string {
	for _, a := range t.attributes {
		if string(a.name) == name {
			return unescape(a.value)
		}
	}
	return ""
}

// next returns the next byte. At the end it returns 0, and err is set.
func (m *markup) next() byte {
	c, err := m.in.ReadByte()
	if err != nil {
		m.err = err
	}
	return c
}

// isSpace reports whether a byte is white space of HTML.
func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

func isAlpha(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		c |= 0x20
	}
	return c
}

// span is an attribute within the text of a tag.
type span struct{ name, nameEnd, end int }

// readTag reads a tag from its name on. Its end is that which browsers see.
func (m *markup) readTag() {
	m.text = m.text[:0]
	m.tag = tag{attributes: m.tag.attributes[:0]}
	c := m.next()
	for ; m.err == nil && !isSpace(c) && c != '/' && c != '>'; c = m.next() {
		m.keep(lower(c))
	}
	m.tag.name = string(m.text[:min(len(m.text), nameMost)])
	m.text = m.text[:0]
	var spans []span
	for m.err == nil && c != '>' {
		if m.tag.isEmpty = c == '/'; isSpace(c) || c == '/' {
			c = m.next()
			continue
		}
		s := span{name: len(m.text)}
		for isFirst := true; m.err == nil && (isFirst || c != '=') && !isSpace(c) && c != '/' && c != '>'; c = m.next() {
			m.keep(lower(c))
			isFirst = false
		}
		s.nameEnd = len(m.text)
		for m.err == nil && isSpace(c) {
			c = m.next()
		}
		if c == '=' && m.err == nil {
			c = m.readValue()
		}
		s.end = len(m.text)
		if len(spans) < attributesMost {
			spans = append(spans, s)
		} else {
			m.text = m.text[:s.name]
		}
	}
	if len(m.text) >= tagMost {
		spans = nil
	}
	for _, s := range spans {
		if name := m.text[s.name:s.nameEnd]; isName(name) {
			m.tag.attributes = append(m.tag.attributes, attribute{name, m.text[s.nameEnd:s.end]})
		}
	}
}

// readValue reads the value of an attribute behind the equals sign, and returns the byte behind it.
func (m *markup) readValue() byte {
	c := m.next()
	for m.err == nil && isSpace(c) {
		c = m.next()
	}
	if c == '"' || c == '\'' {
		quote := c
		for c = m.next(); m.err == nil && c != quote; c = m.next() {
			m.keep(c)
		}
		return m.next()
	}
	for ; m.err == nil && !isSpace(c) && c != '>'; c = m.next() {
		m.keep(c)
	}
	return c
}

func (m *markup) keep(c byte) {
	if len(m.text) < tagMost {
		m.text = append(m.text, c)
	}
}

// isName reports whether a name of an element or attribute can be written as it is.
func isName(name []byte) bool {
	if len(name) == 0 || len(name) >= nameMost {
		return false
	}
	for _, c := range name {
		if !isAlpha(c) && !isDigit(c) && !strings.ContainsRune("-_:.@", rune(c)) && c < 0x80 {
			return false
		}
	}
	return true
}

// skipComment reads a comment behind "<!--".
func (m *markup) skipComment() {
	dashes := 2 // "<!-->" is a whole comment
	for c := m.next(); m.err == nil; c = m.next() {
		switch {
		case c == '-':
			dashes++
		case c == '>' && dashes >= 2:
			return
		case c == '!' && dashes >= 2: // "--!>" ends a comment, too
		default:
			dashes = 0
		}
	}
}

// skipTo reads up to the next ">", and returns the first bytes before it.
func (m *markup) skipTo(most int) []byte {
	var start []byte
	for c := m.next(); m.err == nil && c != '>'; c = m.next() {
		if len(start) < most {
			start = append(start, c)
		}
	}
	return start
}

// startsWith reports whether the next bytes are these, in letters of either case.
func (m *markup) startsWith(text string) bool {
	b, _ := m.in.Peek(len(text))
	return strings.EqualFold(string(b), text)
}

// rawText reads the content of an element that has text alone, up to its end tag.
type rawText struct {
	in  *bufio.Reader
	end string // of the tag: "</style"
	err error
}

// Read reads to the end tag, or to the end of the page.
func (t *rawText) Read(p []byte) (int, error) {
	if t.err != nil {
		return 0, t.err
	}
	if len(p) == 0 {
		return 0, nil
	}
	if _, err := t.in.Peek(1); err != nil {
		t.err = err
		return 0, err
	}
	b, _ := t.in.Peek(min(len(p), t.in.Buffered()))
	at := bytes.IndexByte(b, '<')
	switch {
	case at < 0:
		at = len(b)
	case at == 0 && t.isEnd():
		t.err = io.EOF
		return 0, io.EOF
	case at == 0:
		at = 1
	}
	return t.in.Read(p[:at])
}

// isEnd reports whether the end tag follows.
func (t *rawText) isEnd() bool {
	b, _ := t.in.Peek(len(t.end) + 1)
	if len(b) <= len(t.end) || !strings.EqualFold(string(b[:len(t.end)]), t.end) {
		return false
	}
	c := b[len(t.end)]
	return isSpace(c) || c == '/' || c == '>'
}

// isEOF reports whether an error is the end of a payload. One that is cut short ends, too.
func isEOF(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
