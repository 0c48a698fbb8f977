package parse

// inlineDocument reports the links of the document in an iframe's srcdoc, which is shown in place of its src.
// Afterwards the attributes of the current tag are no longer available. Nested srcdoc documents are not read.
func (m *markupReader) inlineDocument(b []byte) {
	if m.inline {
		return
	}
	elements, links := &m.elements, &m.elements.links
	raw, _ := elements.attributes.get(b, attrSrcdoc)
	elements.inlineStyle(b)
	outer := inlined{
		charset: links.text.charset, foreign: m.foreign, template: m.template, xml: elements.xml, based: elements.based,
		title: links.res.Title, noFollow: links.res.NoFollow, noIndex: links.res.NoIndex,
	}
	doc := links.text.decode(raw, true)
	links.text.charset = charsetState{name: "utf-8", certain: true}
	m.foreign, m.template, elements.xml = foreignStack{}, templateDepth{}, false
	m.inline, elements.based = true, true // its references are resolved like those of the page around it
	m.scanMarkup(doc)
	links.text.charset, elements.xml, elements.based = outer.charset, outer.xml, outer.based
	m.foreign, m.template, m.inline = outer.foreign, outer.template, false
	links.res.Title, links.res.NoFollow, links.res.NoIndex = outer.title, outer.noFollow, outer.noIndex
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
