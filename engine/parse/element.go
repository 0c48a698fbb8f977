package parse

import "bytes"

// svgElement reports the links of the tag at hand, an element of SVG.
func (s *Scanner) svgElement(b []byte, name tag) {
	switch name {
	case tagA:
		s.linkRel(b, Anchor, true)
	case tagImage, tagFeImage:
		s.linkXlink(b, Image)
	case tagUse:
		s.linkXlink(b, Use)
	case tagScript:
		s.linkXlink(b, Script)
	}
	s.inlineStyle(b)
}

// inlineStyle reports what the style attribute of the tag at hand refers to.
func (s *Scanner) inlineStyle(b []byte) {
	if v, ok := s.get(b, attrStyle); ok {
		s.scanStyle(s.decode(v, true), true)
	}
}

// element reports the links of the tag at hand, an element of HTML or, where that is not known, of some XML.
func (s *Scanner) element(b []byte, name tag) {
	switch name {
	case tagA:
		s.linkRel(b, Anchor, s.xml)
	case tagArea:
		s.linkRel(b, Area, false)
	case tagLink:
		rel, _ := s.get(b, attrRel)
		if kind, ok := kindOfRel(rel); ok {
			s.linkRel(b, kind, false)
			s.linkSet(b, attrImageSrcset)
		}
	case tagImg:
		s.linkAttr(b, attrSrc, Image)
		s.linkSet(b, attrSrcset)
	case tagImage:
		if s.xml {
			s.linkXlink(b, Image)
			break
		}
		s.linkAttr(b, attrSrc, Image) // an old spelling of img
		s.linkSet(b, attrSrcset)
	case tagUse, tagFeImage:
		if s.xml && name == tagUse {
			s.linkXlink(b, Use)
		} else if s.xml {
			s.linkXlink(b, Image)
		}
	case tagScript:
		s.linkAttr(b, attrSrc, Script)
		if s.xml {
			s.linkXlink(b, Script)
		}
	case tagFrame:
		s.linkAttr(b, attrSrc, Frame)
	case tagIFrame:
		if s.have&(1<<attrSrcdoc) == 0 {
			s.linkAttr(b, attrSrc, IFrame)
		} else {
			s.inlineDocument(b)
			return
		}
	case tagEmbed:
		s.linkAttr(b, attrSrc, Embed)
	case tagObject:
		s.linkAttr(b, attrData, Object)
	case tagVideo:
		s.linkAttr(b, attrSrc, Media)
		s.linkAttr(b, attrPoster, Media)
	case tagAudio, tagTrack:
		s.linkAttr(b, attrSrc, Media)
	case tagSource:
		s.linkAttr(b, attrSrc, Media)
		s.linkSet(b, attrSrcset)
	case tagMeta:
		s.meta(b)
	case tagBase:
		s.base(b)
	case tagInput, tagButton, tagForm:
		s.form(b, name)
	case tagBody, tagTable, tagThead, tagTbody, tagTfoot, tagTr, tagTd, tagTh:
		s.linkAttr(b, attrBackground, Background)
	}
	s.inlineStyle(b)
}

// styleText reports what a style element refers to where its text is like any other: in XML, and in SVG inside HTML.
// There it has comments, character references and CDATA sections, and ends at the next tag. b[p] is its first byte.
func (s *Scanner) styleText(b []byte, p int) {
	for p < len(b) {
		end := len(b)
		if i := bytes.IndexByte(b[p:], '<'); i >= 0 {
			end = p + i
		}
		s.scanStyle(s.decode(b[p:end], false), true)
		const cdata = "<![CDATA["
		switch p = end; {
		case bytes.HasPrefix(b[p:], []byte(cdata)):
			p += len(cdata)
			end = after(b, p, "]]>")
			s.scanStyle(bytes.TrimSuffix(b[p:end], []byte("]]>")), false)
		case bytes.HasPrefix(b[p:], []byte("<!--")):
			end = afterComment(b, p+len("<!--"))
		default:
			return
		}
		p = end
	}
}

// kindOfRel returns the kind of a link element. ok is false if it names no document, but a host to connect to.
func kindOfRel(rel []byte) (kind Kind, ok bool) {
	kind = LinkRel
	tokens, hints := 0, 0
	for p := 0; p < len(rel); p++ {
		start := p
		for p < len(rel) && class[rel[p]]&isSpace == 0 {
			p++
		}
		if p == start {
			continue
		}
		tokens++
		switch one := rel[start:p]; {
		case fold(one, "dns-prefetch"), fold(one, "preconnect"):
			hints++
		case fold(one, "stylesheet"), fold(one, "icon"), fold(one, "preload"), fold(one, "modulepreload"),
			fold(one, "manifest"),
			fold(one, "mask-icon"), fold(one, "apple-touch-icon"), fold(one, "apple-touch-icon-precomposed"):
			kind = Resource
		}
	}
	return kind, tokens == 0 || hints < tokens
}

func (s *Scanner) linkAttr(b []byte, id attr, kind Kind) {
	if v, ok := s.get(b, id); ok {
		s.link(kind, v, false)
	}
}

// linkRel reports an href that a rel may qualify; xlink says that xlink:href will do.
func (s *Scanner) linkRel(b []byte, kind Kind, xlink bool) {
	v, ok := s.get(b, attrHref)
	if !ok && xlink {
		v, ok = s.get(b, attrXlinkHref)
	}
	if !ok {
		return
	}
	nofollow := false
	if s.have&(1<<attrRel) != 0 {
		rel, _ := s.get(b, attrRel)
		nofollow = hasToken(rel, "nofollow")
	}
	s.link(kind, v, nofollow)
}

func (s *Scanner) linkXlink(b []byte, kind Kind) {
	v, ok := s.get(b, attrHref)
	if !ok {
		v, ok = s.get(b, attrXlinkHref)
	}
	if ok {
		s.link(kind, v, false)
	}
}

// linkSet reports the candidates of a srcset: URLs with optional descriptors, separated by commas. A comma inside a URL
// belongs to it; commas at its end do not.
func (s *Scanner) linkSet(b []byte, id attr) {
	raw, ok := s.get(b, id)
	if !ok {
		return
	}
	set := s.decode(raw, true)
	for p := 0; ; {
		for p < len(set) && (class[set[p]]&isSpace != 0 || set[p] == ',') {
			p++
		}
		if p >= len(set) {
			return
		}
		start := p
		for p < len(set) && class[set[p]]&isSpace == 0 {
			p++
		}
		end := p
		for end > start && set[end-1] == ',' {
			end--
		}
		s.add(Image, set[start:end], false)
		if end < p {
			continue
		}
		for depth := 0; p < len(set) && (set[p] != ',' || depth > 0); p++ {
			switch {
			case set[p] == '(':
				depth++
			case set[p] == ')' && depth > 0:
				depth--
			}
		}
	}
}

// base stores the href of the first base element that has one, if it can be a base. Later base elements never count.
func (s *Scanner) base(b []byte) {
	v, ok := s.get(b, attrHref)
	if !ok || s.based {
		return
	}
	s.based = true
	if foreignScheme(trimControl(v)) {
		return
	}
	ref := trimControl(s.decode(v, true))
	if len(ref) > 0 && len(ref) <= s.o.RefMax && !foreignScheme(ref) {
		s.res.Base = ref
	}
}

// form reports image buttons, and the action of forms with method GET.
func (s *Scanner) form(b []byte, name tag) {
	if name == tagInput && s.is(b, attrType, "image") {
		s.linkAttr(b, attrSrc, Image)
	}
	if !s.o.Forms {
		return
	}
	method, action := attrMethod, attrAction
	if name != tagForm {
		method, action = attrFormMethod, attrFormAction
	}
	if v, ok := s.get(b, method); !ok || len(trimSpace(v)) == 0 || fold(trimSpace(v), "get") {
		s.linkAttr(b, action, Form)
	}
}
