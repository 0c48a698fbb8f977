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
	attrFont // color, face or size, with which a font element leaves foreign content
	attrCount
	attrOther
)

type attrSet uint32

func attrOf(key uint64, name []byte) attr {
	if len(name) > 8 {
		switch {
		case fold(name, "background"):
			return attrBackground
		case fold(name, "http-equiv"):
			return attrHTTPEquiv
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
	switch key {
	case 'h'<<24 | 'r'<<16 | 'e'<<8 | 'f':
		return attrHref
	case 's'<<16 | 'r'<<8 | 'c':
		return attrSrc
	case 's'<<40 | 'r'<<32 | 'c'<<24 | 's'<<16 | 'e'<<8 | 't':
		return attrSrcset
	case 's'<<40 | 'r'<<32 | 'c'<<24 | 'd'<<16 | 'o'<<8 | 'c':
		return attrSrcdoc
	case 'r'<<16 | 'e'<<8 | 'l':
		return attrRel
	case 'd'<<24 | 'a'<<16 | 't'<<8 | 'a':
		return attrData
	case 'p'<<40 | 'o'<<32 | 's'<<24 | 't'<<16 | 'e'<<8 | 'r':
		return attrPoster
	case 'c'<<48 | 'o'<<40 | 'n'<<32 | 't'<<24 | 'e'<<16 | 'n'<<8 | 't':
		return attrContent
	case 'n'<<24 | 'a'<<16 | 'm'<<8 | 'e':
		return attrName
	case 'c'<<48 | 'h'<<40 | 'a'<<32 | 'r'<<24 | 's'<<16 | 'e'<<8 | 't':
		return attrCharset
	case 't'<<24 | 'y'<<16 | 'p'<<8 | 'e':
		return attrType
	case 'm'<<40 | 'e'<<32 | 't'<<24 | 'h'<<16 | 'o'<<8 | 'd':
		return attrMethod
	case 'a'<<40 | 'c'<<32 | 't'<<24 | 'i'<<16 | 'o'<<8 | 'n':
		return attrAction
	case 's'<<32 | 't'<<24 | 'y'<<16 | 'l'<<8 | 'e':
		return attrStyle
	case 'p'<<56 | 'r'<<48 | 'o'<<40 | 'p'<<32 | 'e'<<24 | 'r'<<16 | 't'<<8 | 'y':
		return attrProperty
	case 'i'<<56 | 't'<<48 | 'e'<<40 | 'm'<<32 | 'p'<<24 | 'r'<<16 | 'o'<<8 | 'p':
		return attrItemprop
	case 'e'<<56 | 'n'<<48 | 'c'<<40 | 'o'<<32 | 'd'<<24 | 'i'<<16 | 'n'<<8 | 'g':
		return attrEncoding
	case 'c'<<32 | 'o'<<24 | 'l'<<16 | 'o'<<8 | 'r', 'f'<<24 | 'a'<<16 | 'c'<<8 | 'e', 's'<<24 | 'i'<<16 | 'z'<<8 | 'e':
		return attrFont
	}
	return attrOther
}

// tagAttributes are the known attributes of the current tag. Their values are offsets into the body.
type tagAttributes struct {
	have  attrSet
	value [attrCount]span

	lazies    [lazyMost]lazyAttribute
	lazyCount int
}

// span is a half-open range of the body.
type span struct{ from, to int }

// readAttributes reads the attributes from b[p] to the end of the tag and records the known ones; of two with one name,
// the first counts. It returns the offset after the tag. ok is false if the body ends inside the tag.
func (a *tagAttributes) readAttributes(b []byte, p int) (next int, selfClosing, ok bool) {
	a.have, a.lazyCount = 0, 0
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
		if v, p, ok = value(b, p); !ok {
			return p, false, false
		}
		if id < attrCount && a.have&(1<<id) == 0 {
			a.have |= 1 << id
			a.value[id] = v
		} else if id == attrOther && name.to-name.from > dataLen && b[name.from+dataLen-1] == '-' {
			a.noteLazy(b, name, v)
		}
	}
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
