package parse

import "bytes"

// inlineDocument reports the links of the document in an iframe's srcdoc, which is shown in place of its src.
// Afterwards the attributes of the current tag are no longer available. Nested srcdoc documents are not read.
func (m *markupReader) inlineDocument(b []byte) {
	if m.inline {
		return
	}
	elements, text := &m.elements, &m.elements.links.text
	raw, _ := elements.attributes.get(b, attrSrcdoc)
	elements.inlineStyle(b)
	doc, charset := text.decode(raw, true), text.charset
	text.charset = charsetState{name: "utf-8", certain: true}
	m.scanInner(doc, false)
	text.charset = charset
}

// scanInner reports the links of a document in the page. What it says of itself does not count, and documents in it are
// not read. Its references are resolved like those of the page.
func (m *markupReader) scanInner(doc []byte, isXML bool) {
	if m.inline {
		return
	}
	elements, res := &m.elements, &m.elements.links.res
	outer := inlined{
		foreign: m.foreign, template: m.template, xml: elements.xml, based: elements.based,
		title: res.Title, noFollow: res.NoFollow, noIndex: res.NoIndex,
	}
	m.foreign, m.template, elements.xml = foreignStack{}, templateDepth{}, isXML
	m.inline, elements.based = true, true
	m.scanMarkup(doc)
	elements.xml, elements.based = outer.xml, outer.based
	m.foreign, m.template, m.inline = outer.foreign, outer.template, false
	res.Title, res.NoFollow, res.NoIndex = outer.title, outer.noFollow, outer.noIndex
}

// scanHidden is scanInner of a document that is no part of the text of the page.
func (m *markupReader) scanHidden(doc []byte, isXML bool) {
	words, details := m.words.on, m.details.on
	m.words.on, m.details.on = false, false
	m.scanInner(doc, isXML)
	m.words.on, m.details.on = words, details
}

// conditional reads a comment that old versions of Internet Explorer read as markup. inner is its text.
func (m *markupReader) conditional(inner []byte) {
	if !foldPrefix(inner, "[if") || m.template.skipping() || m.elements.xml || m.inForeign() {
		return
	}
	_, inner, ok := bytes.Cut(inner, []byte("]>"))
	if !ok {
		return
	}
	if end := bytes.LastIndex(inner, []byte("<![")); end >= 0 {
		inner = inner[:end]
	}
	m.scanHidden(inner, false)
}

// inlined is what the page says, and the document in it does not change.
type inlined struct {
	foreign  foreignStack
	template templateDepth
	xml      bool
	based    bool
	title    []byte
	noFollow bool
	noIndex  bool
}
