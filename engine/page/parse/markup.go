package parse

import "bytes"

// markupReader reads the tags of a body, and the text of the elements whose text is not markup.
type markupReader struct {
	elements elementReader
	foreign  foreignStack
	template templateDepth
	inline   bool // reading the document of a srcdoc attribute
	words    pageText
	details  pageDetails
	render   renderSigns
}

// inForeign says whether the next tag is read as SVG or MathML.
func (m *markupReader) inForeign() bool { return m.foreign.space() != spaceHTML }

// scanMarkup reads HTML, or XML leniently, in one pass. It follows the tokenizer of the HTML standard as far as it
// affects links, and builds no tree.
func (m *markupReader) scanMarkup(b []byte) {
	m.elements.links.text.work += len(b)
	for p := 0; ; {
		i := bytes.IndexByte(b[p:], '<')
		if i < 0 {
			m.readText(b, p, len(b))
			return
		}
		if m.words.on || m.render.visible < richText {
			m.readText(b, p, p+i)
		}
		p += i + 1
		if p >= len(b) {
			return
		}
		switch c := b[p]; {
		case class[c]&isAlpha != 0:
			p = m.startTag(b, p)
		case c == '/':
			p = m.endTag(b, p+1)
		case c == '!':
			p = m.declaration(b, p+1)
		case c == '?':
			p = m.instruction(b, p+1)
		case m.words.on:
			m.addText(b[p-1 : p]) // a sign, not a tag
		}
	}
}

// readText reads the text b[p:end] between tags.
func (m *markupReader) readText(b []byte, p, end int) {
	if m.words.on {
		m.addText(b[p:end])
	}
	if m.render.visible < richText && !m.inline && !m.template.skipping() {
		m.render.addText(b[p:end], p)
	}
}

// after gives the offset behind the next occurrence of mark in b[p:], or the end of b.
func after(b []byte, p int, mark string) int {
	if p > len(b) {
		return len(b)
	}
	var i int
	if len(mark) == 1 {
		i = bytes.IndexByte(b[p:], mark[0])
	} else {
		i = bytes.Index(b[p:], []byte(mark))
	}
	if i < 0 {
		return len(b)
	}
	return p + i + len(mark)
}

func (m *markupReader) endTag(b []byte, p int) int {
	if p >= len(b) {
		return p
	}
	if class[b[p]]&isAlpha == 0 {
		return after(b, p, ">")
	}
	start := p
	name, p := readTag(b, p)
	if m.words.on {
		m.breakText(b[start:p], false)
	}
	if p < len(b) && b[p] == '>' { // nearly always
		p++
	} else if next, ok := skipAttributes(b, p); ok {
		p = next
	} else {
		return next
	}
	if m.details.on && name == tagA {
		m.details.closeText(m.words.text)
	}
	if m.foreign.depth > 0 {
		m.foreign.end(name)
	}
	if name == tagTemplate && !m.inForeign() {
		m.template.end()
	}
	return p
}

// declaration reads what follows "<!".
func (m *markupReader) declaration(b []byte, p int) int {
	rest := b[p:]
	switch {
	case len(rest) >= 2 && rest[0] == '-' && rest[1] == '-':
		end := afterComment(b, p+2)
		if len(rest) > 2 && rest[2] == '[' {
			m.conditional(b[p+2 : end])
		}
		return end
	case (m.elements.xml || m.inForeign()) && bytes.HasPrefix(rest, []byte("[CDATA[")):
		return after(b, p+7, "]]>")
	case m.elements.xml && foldPrefix(rest, "doctype"):
		return afterDoctype(b, p)
	default:
		return after(b, p, ">")
	}
}

// afterDoctype finds the end of an XML document type, which may contain declarations in brackets. Entities are never
// expanded.
func afterDoctype(b []byte, p int) int {
	i := bytes.IndexAny(b[p:], "[>")
	if i < 0 {
		return len(b)
	}
	if b[p+i] == '>' {
		return p + i + 1
	}
	return after(b, after(b, p+i, "]"), ">")
}

// afterComment finds the end of a comment whose text starts at b[p].
func afterComment(b []byte, p int) int {
	if bytes.HasPrefix(b[p:], []byte(">")) {
		return p + 1
	}
	if bytes.HasPrefix(b[p:], []byte("->")) {
		return p + 2
	}
	for start := p; ; {
		i := bytes.IndexByte(b[p:], '>')
		if i < 0 {
			return len(b)
		}
		p += i + 1
		if text := b[start : p-1]; bytes.HasSuffix(text, []byte("--")) || bytes.HasSuffix(text, []byte("--!")) {
			return p
		}
	}
}

// instruction reads what follows "<?": in HTML a comment of sorts, in XML a processing instruction.
func (m *markupReader) instruction(b []byte, p int) int {
	if !m.elements.xml {
		return after(b, p, ">")
	}
	if foldPrefix(b[p:], "xml-stylesheet") {
		m.sheetInstruction(b, p+len("xml-stylesheet"))
	}
	return after(b, p, "?>")
}

// sheetInstruction reports the style sheet that an XML document names before its root. Its pseudo-attributes are read
// as attributes.
func (m *markupReader) sheetInstruction(b []byte, p int) {
	if end := after(b, p, "?>"); end > p {
		b = b[:end]
	}
	if _, _, ok := m.elements.attributes.readAttributes(b, p); ok {
		m.elements.linkAttr(b, attrHref, Resource)
	}
}

// startTag reads a tag whose name starts at b[p], and the text after it where the element's text is not markup.
func (m *markupReader) startTag(b []byte, p int) int {
	if m.elements.xml {
		return m.startTagXML(b, p)
	}
	start := p
	name, from := readTag(b, p)
	if m.words.on {
		m.breakText(b[start:from], true)
	}
	p, selfClosing, ok := m.elements.attributes.readAttributes(b, from)
	if !ok {
		return p
	}
	if m.details.on && !m.inline && !m.template.skipping() {
		m.details.note(&m.elements, name, b, span{start, from}, p, m.words.text)
	}
	switch name {
	case tagA, tagDiv, tagNoscript, tagInput, tagTextarea, tagAppRoot:
		if !m.inline && !m.template.skipping() {
			m.render.tag(name, b, from, p)
		}
	}
	if m.foreign.depth > 0 {
		m.foreign.start(name, m.elements.attributes.have)
	}
	foreign := m.inForeign()
	switch {
	case m.template.skipping():
	case foreign:
		if m.foreign.space() == spaceSVG {
			m.elements.svgElement(b, name)
			if name == tagStyle && !selfClosing {
				m.styleText(b, p)
			}
		}
	default:
		m.readElement(b, name)
	}
	switch {
	case foreign:
		m.words.muted = (name == tagStyle || name == tagScript) && !selfClosing
		if !selfClosing {
			m.foreign.enter(name, &m.elements.attributes, b)
		}
		return p
	case name == tagSVG && !selfClosing:
		m.foreign.push(name, spaceSVG)
		return p
	case name == tagMath && !selfClosing:
		m.foreign.push(name, spaceMath)
		return p
	case name == tagTemplate:
		m.template.start(m.elements.attributes.isShadowRoot(b))
		return p
	}
	return m.rawText(b, p, name)
}

// startTagXML is startTag for XML: names have prefixes, and few elements contain raw text. By the XML rules none does;
// these cover pages that are XML in name only.
func (m *markupReader) startTagXML(b []byte, p int) int {
	start := p
	name, from := readTag(b, p)
	local, prefixed := unprefixed(name, b[start:from])
	if m.words.on {
		m.breakText(b[start:from], true)
	}
	p, selfClosing, ok := m.elements.attributes.readAttributes(b, from)
	switch {
	case !ok:
		return p
	case !m.template.skipping():
		if m.details.on && !m.inline {
			m.details.note(&m.elements, local, b, span{start, from}, p, m.words.text)
		}
		m.readElement(b, local)
	}
	switch {
	case selfClosing || prefixed:
	case name == tagTemplate:
		m.template.start(m.elements.attributes.isShadowRoot(b))
	case name == tagScript || name == tagStyle || name == tagTitle:
		return m.rawText(b, p, name)
	}
	return p
}

// readElement reports the links of the current tag. The document in an iframe's srcdoc is shown in place of its src.
func (m *markupReader) readElement(b []byte, name tag) {
	if name == tagIFrame && m.elements.attributes.has(attrSrcdoc) {
		m.inlineDocument(b)
		return
	}
	m.elements.element(b, name)
}

// templateDepth tracks template elements: their content is not part of the page, except in a shadow root.
type templateDepth struct {
	depth int
	skip  int // the depth at which skipping began, 0 if it has not
}

func (t *templateDepth) skipping() bool { return t.skip > 0 }

func (t *templateDepth) start(shadow bool) {
	t.depth++
	if t.skip == 0 && !shadow {
		t.skip = t.depth
	}
}

func (t *templateDepth) end() {
	if t.depth == 0 {
		return
	}
	if t.skip == t.depth {
		t.skip = 0
	}
	t.depth--
}
