package parse

import "bytes"

type attr uint8

// The attributes that the scanner reads.
const (
	attrHref attr = iota
	attrSrc
	attrSrcset
	attrRel
	attrData
	attrPoster
	attrBackground
	attrContent
	attrName
	attrHTTPEquiv
	attrCharset
	attrType
	attrMethod
	attrAction
	attrFormAction
	attrFormMethod
	attrXlinkHref
	attrImageSrcset
	attrStyle
	attrEncoding
	attrShadowRoot
	attrSrcdoc
	attrProperty
	attrItemprop
	attrValue
	attrCode
	attrCodebase
	attrArchive
	attrLowsrc
	attrDynsrc
	attrLongdesc
	attrManifest
	attrCite     // no link: descriptions of a page have it
	attrDataLink // data-href or data-uri
	attrFont     // color, face or size, with which a font element leaves foreign content
	attrLazy     // there are lazies
	attrHandler  // there are handlers
	attrCount
	attrOther
)

type attrSet uint64

// attrOf returns the number of an attribute.
func attrOf(key uint64, name []byte) attr {
	if len(name) > 8 {
		return longAttr(name)
	}
	if at := &attrTable[attrSlot(key)]; at.key == key {
		return at.id
	}
	return attrOther
}

// longAttr is attrOf for a name of more than eight bytes.
func longAttr(name []byte) attr {
	switch {
	case fold(name, "background"):
		return attrBackground
	case fold(name, "http-equiv"):
		return attrHTTPEquiv
	case fold(name, "data-href"):
		return attrDataLink
	case fold(name, "xlink:href"):
		return attrXlinkHref
	case fold(name, "formaction"):
		return attrFormAction
	case fold(name, "formmethod"):
		return attrFormMethod
	case fold(name, "imagesrcset"):
		return attrImageSrcset
	case fold(name, "shadowrootmode"):
		return attrShadowRoot
	}
	return attrOther
}

// attrSlot returns the place of a name in attrTable. The factor is such that no two names share a place.
func attrSlot(key uint64) uint64 { return key * 0x612e7696a6cecc1b >> 57 }

var attrTable = func() (table [128]struct { //nolint:gochecknoglobals // a table
	key uint64
	id  attr
}) {
	for _, a := range [...]struct {
		name string
		id   attr
	}{
		{"href", attrHref}, {"src", attrSrc}, {"srcset", attrSrcset}, {"srcdoc", attrSrcdoc}, {"rel", attrRel},
		{"data", attrData}, {"poster", attrPoster}, {"content", attrContent}, {"name", attrName},
		{"charset", attrCharset}, {"type", attrType}, {"method", attrMethod}, {"action", attrAction},
		{"style", attrStyle}, {"property", attrProperty}, {"itemprop", attrItemprop}, {"encoding", attrEncoding},
		{"color", attrFont}, {"face", attrFont}, {"size", attrFont}, {"value", attrValue},
		{"code", attrCode}, {"codebase", attrCodebase}, {"archive", attrArchive}, {"lowsrc", attrLowsrc},
		{"dynsrc", attrDynsrc}, {"longdesc", attrLongdesc}, {"manifest", attrManifest},
		{"cite", attrCite}, {"data-uri", attrDataLink},
	} {
		var key uint64
		for _, c := range []byte(a.name) {
			key = key<<8 | uint64(c)
		}
		at := &table[attrSlot(key)]
		if at.key != 0 {
			panic("BUG: parse: two names of attributes share a place")
		}
		at.key, at.id = key, a.id
	}
	return table
}()

// tagAttributes are the known attributes of the current tag. Their values are offsets into the body.
type tagAttributes struct {
	have  attrSet
	value [attrCount]span

	lazies       [lazyMost]lazyAttribute
	lazyCount    int
	handlers     [handlersMost]span // values of onclick and others
	handlerCount int                // valid with attrHandler, as lazyCount with attrLazy
}

// handlersMost is how many event handlers of a tag are looked at.
const handlersMost = 4

// span is a half-open range of the body.
type span struct{ from, to int }

// readAttributes reads the attributes from b[p] to the end of the tag and records the known ones; of two with one name,
// the first counts. It returns the offset after the tag. ok is false if the body ends inside the tag.
func (a *tagAttributes) readAttributes(b []byte, p int) (next int, selfClosing, ok bool) {
	a.have = 0
	for {
		for p < len(b) && class[b[p]]&isSpace != 0 {
			p++
		}
		if p >= len(b) {
			return p, false, false
		}
		switch b[p] {
		case '>':
			return p + 1, false, true
		case '/':
			p++
			if p < len(b) && b[p] == '>' {
				return p + 1, true, true
			}
			continue
		}
		start := p
		key := uint64(lower[b[p]]) // a leading equals sign is part of the name
		for p++; p < len(b) && class[b[p]]&endsAttr == 0; p++ {
			key = key<<8 | uint64(lower[b[p]])
		}
		id, name := attrOf(key, b[start:p]), span{start, p}
		var v span
		if rest := b[p:]; len(rest) > 2 && rest[0] == '=' && rest[1] == '"' { // most attributes
			n := bytes.IndexByte(rest[2:], '"')
			if n < 0 {
				return len(b), false, false
			}
			v = span{p + 2, p + 2 + n}
			p = v.to + 1
		} else if v, p, ok = value(b, p); !ok {
			return p, false, false
		}
		if id < attrCount && a.have&(1<<(id&63)) == 0 {
			a.have |= 1 << (id & 63)
			a.value[id] = v
		} else if id == attrOther && (b[start]|0x20 == 'o' || name.to-name.from > dataLen && b[name.from+dataLen-1] == '-') {
			a.noteOther(b, name, v)
		}
	}
}

// noteOther keeps an attribute without a number of its own, if it may have links.
func (a *tagAttributes) noteOther(b []byte, name, v span) {
	if b[name.from]|0x20 != 'o' {
		a.noteLazy(b, name, v)
		return
	}
	if !foldPrefix(b[name.from:name.to], "on") {
		return
	}
	if a.begins(attrHandler) {
		a.handlerCount = 0
	}
	if a.handlerCount < handlersMost {
		a.handlers[a.handlerCount] = v
		a.handlerCount++
	}
}

// begins reports whether an attribute is the first one of its group in the current tag.
func (a *tagAttributes) begins(group attr) bool {
	isFirst := !a.has(group)
	a.have |= 1 << group
	return isFirst
}

// value reads what follows an attribute name: nothing, or an equals sign and a value.
func value(b []byte, p int) (v span, next int, ok bool) {
	for p < len(b) && class[b[p]]&isSpace != 0 {
		p++
	}
	if p >= len(b) {
		return v, p, false
	}
	if b[p] != '=' {
		return v, p, true
	}
	for p++; p < len(b) && class[b[p]]&isSpace != 0; p++ {
	}
	if p >= len(b) {
		return v, p, false
	}
	switch q := b[p]; q {
	case '"', '\'':
		p++
		i := bytes.IndexByte(b[p:], q)
		if i < 0 {
			return v, len(b), false
		}
		return span{p, p + i}, p + i + 1, true
	case '>':
		return v, p, true
	}
	start := p
	for p < len(b) && class[b[p]]&endsBare == 0 {
		p++
	}
	return span{start, p}, p, true
}

// skipAttributes finds the end of a tag without recording attributes.
func skipAttributes(b []byte, p int) (next int, ok bool) {
	named := false // a name was read, so an equals sign starts its value
	for p < len(b) {
		switch c := b[p]; c {
		case '>':
			return p + 1, true
		case '/':
			named = false
			p++
		case '=':
			if !named {
				named = true
				p++
				continue
			}
			if _, p, ok = value(b, p); !ok {
				return len(b), false
			}
			named = false
		case ' ', '\t', '\n', '\f', '\r':
			p++
		default:
			named = true
			p++
		}
	}
	return p, false
}

// get returns the raw value of an attribute of the current tag.
func (a *tagAttributes) get(b []byte, id attr) ([]byte, bool) {
	if !a.has(id) {
		return nil, false
	}
	v := a.value[id]
	return b[v.from:v.to], true
}

// has reports whether the current tag has an attribute.
func (a *tagAttributes) has(id attr) bool { return a.have&(1<<id) != 0 }

// is reports whether an attribute of the current tag has a value, ignoring case. Spaces around the value count.
func (a *tagAttributes) is(b []byte, id attr, value nameKey) bool {
	v, ok := a.get(b, id)
	return ok && fold(v, value)
}

// isShadowRoot reports whether the current tag, a template, begins a shadow root.
func (a *tagAttributes) isShadowRoot(b []byte) bool {
	return a.is(b, attrShadowRoot, "open") || a.is(b, attrShadowRoot, "closed")
}

// hasToken reports whether a list of tokens separated by spaces contains one, ignoring case.
func hasToken(list []byte, token nameKey) bool {
	for p := 0; p < len(list); p++ {
		start := p
		for p < len(list) && class[list[p]]&isSpace == 0 {
			p++
		}
		if fold(list[start:p], token) {
			return true
		}
	}
	return false
}

func trimSpace(b []byte) []byte {
	for len(b) > 0 && class[b[0]]&isSpace != 0 {
		b = b[1:]
	}
	for len(b) > 0 && class[b[len(b)-1]]&isSpace != 0 {
		b = b[:len(b)-1]
	}
	return b
}
