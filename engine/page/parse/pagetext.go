package parse

import (
	"encoding/binary"
	"slices"
)

// pageText collects the text of a page by the rules of Common Crawl's text extracts: a line break at elements that are
// blocks, a space at some others, white space collapsed to one space except in pre.
type pageText struct {
	on    bool
	text  []byte
	pre   int  // open pre elements
	muted bool // the text up to the next tag is a style sheet or a script in SVG

	linksOnly bool // only the text of links is collected
}

// begin forgets the text of the previous body.
func (t *pageText) begin(on bool) {
	*t = pageText{on: on, text: trimScratch(t.text)}
}

// textBreak is what an element does to the words beside it.
type textBreak uint8

const (
	breakNone textBreak = iota
	breakSpace
	breakLine
)

// breakNameMax is the length of the longest name of an element that breaks text.
const breakNameMax = 10

// breakOf returns what an element does, by its name in the markup.
func breakOf(name []byte) textBreak {
	var b [breakNameMax]byte
	if len(name) > len(b) {
		return breakNone
	}
	for i, c := range name {
		b[i] = lower[c]
	}
	switch string(b[:len(name)]) {
	case "address", "article", "aside", "blockquote", "body", "br", "button", "canvas", "caption", "center", "col",
		"colgroup", "dd", "div", "dl", "dt", "embed", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2",
		"h3", "h4", "h5", "h6", "header", "hgroup", "hr", "li", "map", "noframes", "noscript", "object", "ol", "output",
		"p", "pre", "progress", "section", "table", "tbody", "textarea", "tfoot", "th", "thead", "title", "tr", "ul",
		"video":
		return breakLine
	case "cite", "datalist", "details", "iframe", "img", "input", "label", "legend", "optgroup", "q", "select", "summary",
		"td", "time":
		return breakSpace
	}
	return breakNone
}

// tag is called with the name of each tag.
func (t *pageText) tag(name []byte, isStart bool) {
	t.muted = false
	switch breakOf(name) {
	case breakLine:
		t.endLine()
		if fold(name, "pre") {
			if isStart {
				t.pre++
			} else if t.pre > 0 {
				t.pre--
			}
		}
	case breakSpace:
		t.space()
	}
}

// endLine ends a line that has text.
func (t *pageText) endLine() {
	n := len(t.text)
	for n > 0 && t.text[n-1] == ' ' {
		n--
	}
	t.text = t.text[:n]
	if n > 0 && t.text[n-1] != '\n' {
		t.text = append(t.text, '\n')
	}
}

// space ends a word.
func (t *pageText) space() {
	if n := len(t.text); n > 0 && t.text[n-1] != ' ' && t.text[n-1] != '\n' {
		t.text = append(t.text, ' ')
	}
}

// add appends decoded text.
func (t *pageText) add(b []byte) {
	if t.pre > 0 {
		t.text = append(t.text, b...)
		return
	}
	t.addWords(b, true)
}

// addWords appends text with white space collapsed, and returns how much of it. Of text that is not decoded, it stops
// before the first byte that must be.
func (t *pageText) addWords(b []byte, isDecoded bool) (used int) {
	n := len(t.text)
	text := slices.Grow(t.text, len(b))[:n+len(b)]
	isWord := n > 0 && text[n-1] != ' ' && text[n-1] != '\n'
	i := 0
words:
	for i < len(b) {
		for i+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[i:])
			if !isPlain(w, isWord) && !(isDecoded && isOrdinary(w, isWord)) {
				break
			}
			binary.LittleEndian.PutUint64(text[n:], w)
			isWord = byte(w>>56) != ' '
			i += 8
			n += 8
		}
		for end := min(i+8, len(b)); i < end; i++ {
			c := b[i]
			switch {
			case !isDecoded && (c == 0 || c == '&' || c >= 0x80):
				break words
			case c == 0xc2 && i+1 < len(b) && b[i+1] == 0xa0:
				i++ // a space that does not break
			case c > ' ' && c != 0x7f:
				text[n] = c
				n++
				isWord = true
				continue
			}
			if isWord {
				text[n] = ' '
				n++
				isWord = false
			}
		}
	}
	t.text = text[:n]
	return i
}

// isOrdinary says whether eight bytes of text can be copied as they are. They have no control character, no byte that
// may begin a space beyond ASCII, and no space behind another one. isWord says that no space is before them.
func isOrdinary(w uint64, isWord bool) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	controls := (w - ' '*ones) &^ w
	deleted := w ^ 0x7f*ones
	two := w ^ 0xc2*ones
	pair := spacePairs(w, isWord)
	return (controls|(deleted-ones)&^deleted|(two-ones)&^two|(pair-ones)&^pair)&tops == 0
}

// isPlain says whether eight bytes are ordinary, all of ASCII, and without an ampersand.
func isPlain(w uint64, isWord bool) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	// Of bytes below 0x80, no sum carries. Each one has a highest bit if the byte is as it should be, or if it is not.
	should := (w + (0x80-' ')*ones) & ((w ^ '&'*ones) + 0x7f*ones) & (spacePairs(w, isWord) + 0x7f*ones)
	return should&^(w|(w+ones))&tops == tops
}

// spacePairs has a zero for each space behind a space. isWord says that no space is before the first byte.
func spacePairs(w uint64, isWord bool) uint64 {
	const spaces = ' ' * 0x0101010101010101
	before := uint64(' ')
	if isWord {
		before = 0
	}
	return (w ^ spaces) | ((w<<8 | before) ^ spaces)
}

// breakText is called with the name of each tag.
func (m *markupReader) breakText(name []byte, isStart bool) {
	m.words.tag(name, isStart)
	m.details.breakText(m.words.text)
}

// addText adds text between tags, or of an element whose text is not markup.
func (m *markupReader) addText(raw []byte) {
	if len(raw) == 0 || m.template.skipping() || m.words.muted || m.words.linksOnly && !m.details.isOpen {
		return
	}
	d := &m.elements.links.text
	if m.words.pre == 0 {
		used := m.words.addWords(raw, false) // nearly always all
		d.work += used
		if raw = raw[used:]; len(raw) == 0 {
			return
		}
	}
	used := len(d.arena)
	m.words.add(d.decode(raw, false))
	d.arena = d.arena[:used] // the text was copied
}
