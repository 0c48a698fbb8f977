package parse

import (
	"bytes"

	"orbweaver/engine/page/parse/script"
)

// rawText skips the text of an element whose text is not markup, when name is one; b[p] is the first byte after its
// start tag. It gives the offset of the end tag, which is then read like any other.
func (m *markupReader) rawText(b []byte, p int, name tag) int {
	switch name {
	case tagScript:
		end := endOfScript(b, p)
		if m.elements.o.Speculative && !m.template.skipping() {
			m.elements.links.scanScript(b[p:end], script.Page)
		}
		return end
	case tagStyle:
		end := endOfText(b, p, "style")
		switch {
		case m.template.skipping():
		case m.elements.xml:
			m.styleText(b[:end], p)
		default:
			m.elements.links.scanStyle(b[p:end], false)
		}
		m.details.closeSheet(&m.elements.links.res)
		return end
	case tagTitle:
		end := endOfText(b, p, "title")
		if m.elements.links.res.Title == nil && !m.template.skipping() {
			m.elements.links.title(b[p:end])
		}
		return m.skipText(b, p, end)
	case tagTextarea:
		return m.skipText(b, p, endOfText(b, p, "textarea"))
	case tagXmp:
		return m.skipText(b, p, endOfText(b, p, "xmp"))
	case tagIFrame:
		return endOfText(b, p, "iframe")
	case tagNoembed:
		return m.fallback(b, p, endOfText(b, p, "noembed"))
	case tagNoframes:
		return m.fallback(b, p, endOfText(b, p, "noframes"))
	case tagPlaintext:
		return m.skipText(b, p, len(b))
	}
	return p
}

// fallback reports the links of what a page has for browsers without frames or plugins, and returns its end. Its text
// is none of the page.
func (m *markupReader) fallback(b []byte, p, end int) int {
	if !m.template.skipping() {
		m.scanHidden(b[p:end], false)
	}
	return end
}

// skipText passes over text in which there is no markup, and returns its end.
func (m *markupReader) skipText(b []byte, p, end int) int {
	if m.words.on {
		m.addText(b[p:end])
	}
	return end
}

// styleText reports what a style element refers to where its text is like any other: in XML, and in SVG inside HTML.
// There it has comments, character references and CDATA sections, and ends at the next tag. b[p] is its first byte.
func (m *markupReader) styleText(b []byte, p int) {
	for p < len(b) {
		end := len(b)
		if i := bytes.IndexByte(b[p:], '<'); i >= 0 {
			end = p + i
		}
		m.elements.links.scanStyle(m.elements.links.text.decode(b[p:end], false), true)
		const cdata = "<![CDATA["
		switch p = end; {
		case bytes.HasPrefix(b[p:], []byte(cdata)):
			p += len(cdata)
			end = after(b, p, "]]>")
			m.elements.links.scanStyle(bytes.TrimSuffix(b[p:end], []byte("]]>")), false)
		case bytes.HasPrefix(b[p:], []byte("<!--")):
			end = afterComment(b, p+len("<!--"))
		default:
			return
		}
		p = end
	}
}

// closes says whether b[p:], which follows a "<", is the end tag of the element name.
func closes(b []byte, p int, name nameKey) bool {
	return p < len(b) && b[p] == '/' && names(b, p+1, name)
}

// names says whether b[p:] is the element name and something that ends it.
func names(b []byte, p int, name nameKey) bool {
	end := p + len(name)
	return end < len(b) && foldPrefix(b[p:], name) && class[b[end]]&endsTag != 0
}

// endOfText gives the offset of the end tag of the element name, or the end of b.
func endOfText(b []byte, p int, name nameKey) int {
	for {
		i := bytes.IndexByte(b[p:], '<')
		if i < 0 {
			return len(b)
		}
		p += i + 1
		if closes(b, p, name) {
			return p - 1
		}
	}
}

// endOfScript gives the offset of the end tag of a script, or the end of b. A comment in a script hides end tags that
// belong to a script inside the comment, for the sake of pages that wrote scripts with scripts.
func endOfScript(b []byte, p int) int {
	for {
		i := bytes.IndexByte(b[p:], '<')
		if i < 0 {
			return len(b)
		}
		p += i + 1
		if closes(b, p, "script") {
			return p - 1
		}
		if !bytes.HasPrefix(b[p:], []byte("!--")) {
			continue
		}
		var done bool
		// The two dashes that open the comment may be those that close it.
		if p, done = endOfScriptComment(b, p+1); done {
			return p
		}
	}
}

// endOfScriptComment reads a comment inside a script. done says that p is the offset of the script's end tag or the end
// of b; otherwise the comment has ended before p and the script goes on.
func endOfScriptComment(b []byte, p int) (next int, done bool) {
	inner := false // inside a script inside the comment
	dashes := 0
	for ; p < len(b); p++ {
		switch b[p] {
		case '-':
			dashes++
			continue
		case '>':
			if dashes >= 2 {
				return p + 1, false
			}
		case '<':
			if inner {
				inner = !closes(b, p+1, "script")
			} else if closes(b, p+1, "script") {
				return p, true
			} else {
				inner = names(b, p+1, "script")
			}
		}
		dashes = 0
	}
	return len(b), true
}
