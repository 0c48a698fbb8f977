package parse

// inlineDocument reports the links of the document in an iframe's srcdoc, which is shown in place of its src.
// Afterwards the attributes of the current tag are no longer available. Nested srcdoc documents are not read.
func (m *markupReader) inlineDocument(b []byte) {
	if m.inline {
		return
	}
	raw, _ := m.elements.attributes.get(b, attrSrcdoc)
	style, styled := m.elements.attributes.get(b, attrStyle)
	if styled {
		m.elements.links.scanStyle(m.elements.links.text.decode(style, true), true)
	}
	outer := inlined{m.elements.links.text.charset, m.foreign, m.template, m.elements.xml, m.elements.based, m.elements.links.res.Title, m.elements.links.res.NoFollow, m.elements.links.res.NoIndex}
	doc := m.elements.links.text.decode(raw, true)
	m.elements.links.text.charset = charsetState{name: "utf-8", certain: true}
	m.foreign, m.template, m.elements.xml = foreignStack{}, templateDepth{}, false
	m.inline, m.elements.based = true, true // its references are resolved like those of the page around it
	m.scanMarkup(doc)
	m.inline = false
	m.elements.links.text.charset, m.foreign, m.template, m.elements.xml, m.elements.based = outer.charset, outer.foreign, outer.template, outer.xml, outer.based
	m.elements.links.res.Title, m.elements.links.res.NoFollow, m.elements.links.res.NoIndex = outer.title, outer.noFollow, outer.noIndex
}

// inlined is what the page says, and the document in it does not change.
type inlined struct {
	charset  charsetState
	foreign  foreignStack
	template templateDepth
	xml      bool
	based    bool
	title    []byte
	noFollow bool
	noIndex  bool
}
