package parse

import (
	"bytes"

	"orbweaver/internal/urlx"
)

// Old pages name files in elements and attributes that browsers have forgotten: those of HTML 4, of Netscape and of
// Internet Explorer. An archive of such a page is not whole without them.

// oldElement is a tag of such a page.
type oldElement struct {
	b          []byte
	attributes *tagAttributes
	links      *linkList
}

// oldAttributes are those without which no oldElement has links.
const oldAttributes = 1<<attrSrc | 1<<attrBackground | 1<<attrManifest | 1<<attrCode | 1<<attrArchive | 1<<attrValue |
	1<<attrLowsrc | 1<<attrDynsrc | 1<<attrLongdesc | 1<<attrCodebase

// read reports the links that browsers do not load, or only for readers who ask.
func (e *oldElement) read(name tag) {
	switch name {
	case tagImg:
		e.link(attrLowsrc, Image)
		e.link(attrDynsrc, Media)
		e.linkName(attrLongdesc)
	case tagFrame, tagIFrame:
		e.linkName(attrLongdesc)
	case tagBgsound:
		e.link(attrSrc, Media)
	case tagLayer, tagILayer:
		e.link(attrSrc, Frame)
		e.link(attrBackground, Background)
	case tagHTML:
		e.link(attrManifest, Resource)
	case tagApplet, tagObject:
		e.plugin(name)
	case tagParam:
		e.param()
	}
}

func (e *oldElement) link(id attr, kind Kind) {
	if v, ok := e.attributes.get(e.b, id); ok {
		e.links.link(kind, v, false)
	}
}

// linkName reports an attribute that should be a URL and is often a text.
func (e *oldElement) linkName(id attr) {
	if v, ok := e.attributes.get(e.b, id); ok && isOne(trimControl(v)) {
		e.links.link(LinkRel, v, false)
	}
}

// plugin reports the files of an applet, or of an object whose data is relative to a codebase. Browsers of today read
// the data of an object without it.
func (e *oldElement) plugin(name tag) {
	base, _ := e.attributes.get(e.b, attrCodebase)
	if base = trimControl(base); foreignScheme(base) || len(base) > e.links.o.RefMax {
		base = nil
	}
	switch {
	case name == tagObject:
		if data, ok := e.attributes.get(e.b, attrData); ok && len(base) > 0 {
			e.below(base, data)
		}
		e.archives(base, false)
	case e.attributes.has(attrArchive):
		e.archives(directory(base), true)
	default:
		code, _ := e.attributes.get(e.b, attrCode)
		if code = trimControl(code); len(code) > 0 && len(code) <= e.links.o.RefMax {
			e.below(directory(base), classFile(code))
		}
	}
}

// archivesMost is how many archives of an element are taken.
const archivesMost = 32

// archives reports a list of archives: those of an applet have commas between them, those of an object spaces.
func (e *oldElement) archives(base []byte, isApplet bool) {
	list, _ := e.attributes.get(e.b, attrArchive)
	for n := 0; len(list) > 0 && n < archivesMost; n++ {
		end := bytes.IndexAny(list, ", \t\r\n\f")
		if isApplet {
			end = bytes.IndexByte(list, ',')
		}
		one := list
		if end < 0 {
			list = nil
		} else {
			one, list = list[:end], list[end+1:]
		}
		if one = trimControl(one); len(one) > 0 {
			e.below(base, one)
		}
	}
}

// below reports a raw reference that is relative to a raw base.
func (e *oldElement) below(base, ref []byte) {
	if len(base) == 0 {
		e.links.link(Object, ref, false)
		return
	}
	if len(ref) > e.links.o.RefMax {
		e.links.res.LinksLong++
		return
	}
	text := &e.links.text
	start := len(text.arena)
	text.arena = urlx.AppendJoined(text.arena, base, trimControl(ref))
	e.links.link(Object, text.arena[start:len(text.arena):len(text.arena)], false)
}

// directory returns a codebase of an applet, which is a directory also without a slash at its end.
func directory(base []byte) []byte {
	if len(base) == 0 || base[len(base)-1] == '/' {
		return base
	}
	return append(base[:len(base):len(base)], '/')
}

// classFile returns the file of a class: a.b.C and a.b.C.class are a/b/C.class.
func classFile(code []byte) []byte {
	const extension = ".class"
	name := bytes.ReplaceAll(bytes.TrimSuffix(code, []byte(extension)), []byte("."), []byte("/"))
	return append(name, extension...)
}

// param reports a parameter of a plugin that names its file.
func (e *oldElement) param() {
	name, _ := e.attributes.get(e.b, attrName)
	value, ok := e.attributes.get(e.b, attrValue)
	isFile := isOneOf(trimSpace(name), "movie", "src", "url", "filename", "data", "href", "image")
	if ok && isFile && isOne(trimControl(value)) {
		e.links.link(Object, value, false)
	}
}
