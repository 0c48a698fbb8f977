package parse

// inlineDocument reports the links of the document in an iframe's srcdoc, which is shown in place of its src.
// Afterwards the attributes of the current tag are no longer available. Nested srcdoc documents are not read.
func (s *Scanner) inlineDocument(b []byte) {
	if s.inline {
		return
	}
	raw, _ := s.get(b, attrSrcdoc)
	style, styled := s.get(b, attrStyle)
	if styled {
		s.scanStyle(s.decode(style, true), true)
	}
	outer := inlined{s.charset, s.foreign, s.template, s.xml, s.based, s.res.Title, s.res.NoFollow, s.res.NoIndex}
	doc := s.decode(raw, true)
	s.charset = charsetState{name: "utf-8", certain: true}
	s.foreign, s.template, s.xml = foreignStack{}, templateDepth{}, false
	s.inline, s.based = true, true // its references are resolved like those of the page around it
	s.scanMarkup(doc)
	s.inline = false
	s.charset, s.foreign, s.template, s.xml, s.based = outer.charset, outer.foreign, outer.template, outer.xml, outer.based
	s.res.Title, s.res.NoFollow, s.res.NoIndex = outer.title, outer.noFollow, outer.noIndex
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
