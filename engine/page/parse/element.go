package parse

// elementReader reads what the tag of an element says: links, base, robots directives.
type elementReader struct {
	o          *Options
	robot      nameKey // o.Robot, as attribute values are compared
	attributes tagAttributes
	links      linkList
	xml        bool // read by the lenient XML rules
	based      bool // a base element with an href was read: later ones do not count
}

// svgElement reports the links of the tag at hand, an element of SVG.
func (e *elementReader) svgElement(b []byte, name tag) {
	switch name {
	case tagA:
		e.linkRel(b, Anchor, true)
	case tagImage, tagFeImage:
		e.linkXlink(b, Image)
	case tagUse:
		e.linkXlink(b, Use)
	case tagScript:
		e.linkXlink(b, Script)
	}
	e.inlineStyle(b)
}

// inlineStyle reports what the style attribute of the tag at hand refers to, and what its event handlers lead to.
func (e *elementReader) inlineStyle(b []byte) {
	if e.attributes.has(attrHandler) && e.o.Speculative {
		for _, v := range e.attributes.handlers[:e.attributes.handlerCount] {
			e.links.scanHandler(b[v.from:v.to])
		}
	}
	if v, ok := e.attributes.get(b, attrStyle); ok {
		e.links.scanStyle(e.links.text.decode(v, true), true)
	}
}

// element reports the links of the tag at hand, an element of HTML or, where that is not known, of some XML.
func (e *elementReader) element(b []byte, name tag) {
	switch name {
	case tagA:
		e.linkRel(b, Anchor, e.xml)
	case tagArea:
		e.linkRel(b, Area, false)
	case tagLink:
		rel, _ := e.attributes.get(b, attrRel)
		if kind, ok := kindOfRel(rel); ok {
			e.linkRel(b, kind, false)
			e.linkSet(b, attrImageSrcset)
		}
	case tagImg, tagAmpImg, tagAmpAnim:
		e.linkAttr(b, attrSrc, Image)
		e.linkSet(b, attrSrcset)
		if e.attributes.have&(1<<attrLowsrc|1<<attrDynsrc|1<<attrLongdesc) != 0 {
			e.old(b, name)
		}
	case tagImage:
		if e.xml {
			e.linkXlink(b, Image)
			break
		}
		e.linkAttr(b, attrSrc, Image) // an old spelling of img
		e.linkSet(b, attrSrcset)
	case tagUse, tagFeImage:
		if e.xml && name == tagUse {
			e.linkXlink(b, Use)
		} else if e.xml {
			e.linkXlink(b, Image)
		}
	case tagScript:
		e.linkAttr(b, attrSrc, Script)
		if e.xml {
			e.linkXlink(b, Script)
		}
	case tagFrame:
		e.linkAttr(b, attrSrc, Frame)
		e.old(b, name)
	case tagIFrame, tagAmpIFrame:
		e.linkAttr(b, attrSrc, IFrame)
		e.old(b, name)
	case tagEmbed:
		e.linkAttr(b, attrSrc, Embed)
	case tagObject:
		e.linkAttr(b, attrData, Object)
		e.old(b, name)
	case tagVideo:
		e.linkAttr(b, attrSrc, Media)
		e.linkAttr(b, attrPoster, Media)
	case tagAudio, tagTrack:
		e.linkAttr(b, attrSrc, Media)
	case tagSource:
		e.linkAttr(b, attrSrc, Media)
		e.linkSet(b, attrSrcset)
	case tagMeta:
		e.meta(b)
	case tagBase:
		e.base(b)
	case tagInput, tagButton, tagForm:
		e.form(b, name)
	case tagOption:
		if v, ok := e.attributes.get(b, attrValue); ok && e.o.Speculative {
			e.links.address(v)
		}
	case tagBody, tagTable, tagThead, tagTbody, tagTfoot, tagTr, tagTd, tagTh:
		e.linkAttr(b, attrBackground, Background)
	default:
		if e.attributes.have&oldAttributes != 0 {
			e.old(b, name)
		}
	}
	if e.attributes.have&(1<<attrLazy|1<<attrStyle|1<<attrHandler) == 0 { // most tags
		return
	}
	if e.attributes.has(attrLazy) {
		e.lazy(b, kindOfLazy(name))
	}
	e.inlineStyle(b)
}

// old reports what only old pages have.
func (e *elementReader) old(b []byte, name tag) {
	tag := oldElement{b, &e.attributes, &e.links}
	tag.read(name)
}

// kindOfLazy returns the kind of what a script puts into an element.
func kindOfLazy(name tag) Kind {
	switch name {
	case tagImg, tagAmpImg, tagAmpAnim:
		return Image
	case tagIFrame, tagAmpIFrame:
		return IFrame
	case tagVideo, tagAudio, tagTrack, tagSource:
		return Media
	default:
		return Background
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
		case fold(one, "dns-prefetch"), fold(one, "preconnect"), fold(one, "profile"), foldPrefix(one, "schema."):
			hints++ // or a name
		case fold(one, "stylesheet"), fold(one, "icon"), fold(one, "preload"), fold(one, "modulepreload"),
			fold(one, "manifest"),
			fold(one, "mask-icon"), fold(one, "apple-touch-icon"), fold(one, "apple-touch-icon-precomposed"):
			kind = Resource
		}
	}
	return kind, tokens == 0 || hints < tokens
}

func (e *elementReader) linkAttr(b []byte, id attr, kind Kind) {
	if v, ok := e.attributes.get(b, id); ok {
		e.links.link(kind, v, false)
	}
}

// linkRel reports an href that a rel may qualify; xlink says that xlink:href will do.
func (e *elementReader) linkRel(b []byte, kind Kind, xlink bool) {
	v, ok := e.attributes.get(b, attrHref)
	if !ok && xlink {
		v, ok = e.attributes.get(b, attrXlinkHref)
	}
	if !ok {
		return
	}
	nofollow := false
	if e.attributes.has(attrRel) {
		rel, _ := e.attributes.get(b, attrRel)
		nofollow = hasToken(rel, "nofollow")
	}
	e.links.link(kind, v, nofollow)
}

func (e *elementReader) linkXlink(b []byte, kind Kind) {
	v, ok := e.attributes.get(b, attrHref)
	if !ok {
		v, ok = e.attributes.get(b, attrXlinkHref)
	}
	if ok {
		e.links.link(kind, v, false)
	}
}

// linkSet reports the candidates of a srcset.
func (e *elementReader) linkSet(b []byte, id attr) {
	if raw, ok := e.attributes.get(b, id); ok {
		eachCandidate(e.links.text.decode(raw, true), func(ref []byte) { e.links.add(Image, ref, false) })
	}
}

// eachCandidate calls f for the candidates of a srcset: URLs with optional descriptors, separated by commas. A comma
// inside a URL belongs to it; commas at its end do not.
func eachCandidate(set []byte, f func(ref []byte)) {
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
		f(set[start:end])
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
func (e *elementReader) base(b []byte) {
	v, ok := e.attributes.get(b, attrHref)
	if !ok || e.based {
		return
	}
	e.based = true
	if foreignScheme(trimControl(v)) {
		return
	}
	ref := trimControl(e.links.text.decode(v, true))
	if len(ref) > 0 && len(ref) <= e.o.RefMax && !foreignScheme(ref) {
		e.links.res.Base = ref
	}
}

// form reports image buttons, and the action of forms with method GET.
func (e *elementReader) form(b []byte, name tag) {
	if name == tagInput && e.attributes.is(b, attrType, "image") {
		e.linkAttr(b, attrSrc, Image)
	}
	if !e.o.Forms {
		return
	}
	method, action := attrMethod, attrAction
	if name != tagForm {
		method, action = attrFormMethod, attrFormAction
	}
	if v, ok := e.attributes.get(b, method); !ok || len(trimSpace(v)) == 0 || fold(trimSpace(v), "get") {
		e.linkAttr(b, action, Form)
	}
}
