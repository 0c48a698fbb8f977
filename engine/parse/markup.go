package parse

import "bytes"

// scanMarkup reads HTML, or XML leniently, in one pass. It follows the tokenizer of the HTML standard as far as it
// affects links, and builds no tree.
func (s *Scanner) scanMarkup(b []byte) {
	s.work += len(b)
	for p := 0; ; {
		i := bytes.IndexByte(b[p:], '<')
		if i < 0 {
			return
		}
		p += i + 1
		if p >= len(b) {
			return
		}
		switch c := b[p]; {
		case class[c]&isAlpha != 0:
			p = s.startTag(b, p)
		case c == '/':
			p = s.endTag(b, p+1)
		case c == '!':
			p = s.declaration(b, p+1)
		case c == '?':
			p = s.instruction(b, p+1)
		}
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

func (s *Scanner) endTag(b []byte, p int) int {
	if p >= len(b) {
		return p
	}
	if class[b[p]]&isAlpha == 0 {
		return after(b, p, ">")
	}
	name, p := readTag(b, p)
	p, ok := skipAttributes(b, p)
	if !ok {
		return p
	}
	if s.foreign.depth > 0 {
		s.foreign.end(name)
	}
	if name == tagTemplate && !s.inForeign() {
		s.template.end()
	}
	return p
}

// declaration reads what follows "<!".
func (s *Scanner) declaration(b []byte, p int) int {
	rest := b[p:]
	switch {
	case len(rest) >= 2 && rest[0] == '-' && rest[1] == '-':
		return afterComment(b, p+2)
	case (s.xml || s.inForeign()) && bytes.HasPrefix(rest, []byte("[CDATA[")):
		return after(b, p+7, "]]>")
	case s.xml && foldPrefix(rest, "doctype"):
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
func (s *Scanner) instruction(b []byte, p int) int {
	if !s.xml {
		return after(b, p, ">")
	}
	if foldPrefix(b[p:], "xml-stylesheet") {
		s.sheetInstruction(b, p+len("xml-stylesheet"))
	}
	return after(b, p, "?>")
}

// sheetInstruction reports the style sheet that an XML document names before its root. Its pseudo-attributes are read
// as attributes.
func (s *Scanner) sheetInstruction(b []byte, p int) {
	if end := after(b, p, "?>"); end > p {
		b = b[:end]
	}
	if _, _, ok := s.attributes(b, p); ok {
		s.linkAttr(b, attrHref, Resource)
	}
}

// startTag reads a tag whose name starts at b[p], and the text after it where the element's text is not markup.
func (s *Scanner) startTag(b []byte, p int) int {
	if s.xml {
		return s.startTagXML(b, p)
	}
	name, p := readTag(b, p)
	p, selfClosing, ok := s.attributes(b, p)
	if !ok {
		return p
	}
	if s.foreign.depth > 0 {
		s.foreign.start(name, s.have)
	}
	foreign := s.inForeign()
	switch {
	case s.template.skipping():
	case foreign:
		if s.foreign.space() == spaceSVG {
			s.svgElement(b, name)
			if name == tagStyle && !selfClosing {
				s.styleText(b, p)
			}
		}
	default:
		s.element(b, name)
	}
	switch {
	case foreign:
		if !selfClosing {
			s.foreign.enter(name, s, b)
		}
		return p
	case name == tagSVG && !selfClosing:
		s.foreign.push(name, spaceSVG)
		return p
	case name == tagMath && !selfClosing:
		s.foreign.push(name, spaceMath)
		return p
	case name == tagTemplate:
		s.template.start(s.is(b, attrShadowRoot, "open") || s.is(b, attrShadowRoot, "closed"))
		return p
	}
	return s.rawText(b, p, name)
}

// startTagXML is startTag for XML: names have prefixes, and few elements contain raw text. By the XML rules none does;
// these cover pages that are XML in name only.
func (s *Scanner) startTagXML(b []byte, p int) int {
	name, next := readTag(b, p)
	local, prefixed := unprefixed(name, b[p:next])
	p, selfClosing, ok := s.attributes(b, next)
	switch {
	case !ok:
		return p
	case !s.template.skipping():
		s.element(b, local)
	}
	switch {
	case selfClosing || prefixed:
	case name == tagTemplate:
		s.template.start(s.is(b, attrShadowRoot, "open") || s.is(b, attrShadowRoot, "closed"))
	case name == tagScript || name == tagStyle || name == tagTitle:
		return s.rawText(b, p, name)
	}
	return p
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
