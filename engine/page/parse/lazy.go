package parse

import "bytes"

// lazyMost is how many attributes data-* of a tag are looked at.
const lazyMost = 6

// lazyAttribute is an attribute data-* of the current tag: the name without data-, and the value.
type lazyAttribute struct{ name, value span }

// dataLen is the length of data-.
const dataLen = 5

// noteLazy keeps an attribute data-*, for lazy. Of others than those that can count, a page may have any number.
func (a *tagAttributes) noteLazy(b []byte, name, value span) {
	if !foldPrefix(b[name.from:name.to], "data-") {
		return
	}
	name.from += dataLen
	if !isAddress(b[value.from:value.to]) || !isLazyName(b[name.from:name.to]) {
		return
	}
	if a.begins(attrLazy) {
		a.lazyCount = 0
	}
	if a.lazyCount < lazyMost {
		a.lazies[a.lazyCount] = lazyAttribute{name, value}
		a.lazyCount++
	}
}

// lazy reports what scripts put into src, srcset and style when the element comes into view. Programs call the
// attributes data-src, data-lazy-srcset, data-original, data-bg and many other names. So an attribute counts if its
// name speaks of a source or an image, and its value has the form of an address of one. kind is that of the element;
// elements that show no image of their own have Background, and need a name that speaks of one.
func (e *elementReader) lazy(b []byte, kind Kind) {
	for _, x := range e.attributes.lazies[:e.attributes.lazyCount] {
		name, value := b[x.name.from:x.name.to], trimControl(b[x.value.from:x.value.to])
		isSource := fold(name, "src") || isOne(value) && (containsFold(name, "src") || containsFold(name, "orig"))
		switch {
		case containsFold(name, "set"):
			if kind == Image || kind == Media {
				e.lazySet(value)
			}
		case kind == Background && !isImageName(name):
		case foldPrefix(value, "url("):
			e.links.scanStyle(e.links.text.decode(value, true), true)
		case isMediaAddress(value), kind != Background && isSource, kind == IFrame && isOne(value):
			e.links.link(kind, value, false)
		}
	}
}

// lazySet reports the candidates of a srcset that have the form of addresses.
func (e *elementReader) lazySet(value []byte) {
	eachCandidate(e.links.text.decode(value, true), func(ref []byte) {
		if isOne(ref) {
			e.links.add(Image, ref, false)
		}
	})
}

// isLazyName reports whether the name of an attribute speaks of a source or an image, and not of something about it.
func isLazyName(name []byte) bool {
	last := name[bytes.LastIndexAny(name, "-_")+1:]
	for _, word := range [...]nameKey{
		"title", "caption", "description", "alt", "meta", "color", "colour", "name", "id", "size", "sizes", "width", "height",
		"type", "position", "template", "ratio", "count", "text", "label", "class", "style",
	} {
		if fold(last, word) {
			return false
		}
	}
	for _, word := range [...]nameKey{
		"orig", "lazy", "hires", "hi-res", "highres", "large", "full", "url", "retina", "echo", "defer",
	} {
		if containsFold(name, word) {
			return true
		}
	}
	return isImageName(name)
}

// isImageName reports whether the name of an attribute speaks of an image, also on an element that shows none.
func isImageName(name []byte) bool {
	for _, word := range [...]nameKey{"src", "bg", "background", "image", "img", "poster", "thumb"} {
		if containsFold(name, word) {
			return true
		}
	}
	return false
}

// containsFold reports whether b contains a word, ignoring case.
func containsFold(b []byte, word nameKey) bool {
	for p := 0; p+len(word) <= len(b); p++ {
		if foldPrefix(b[p:], word) {
			return true
		}
	}
	return false
}

// isAddress reports whether a value may have addresses: it has a byte that most have, and none of a template.
func isAddress(value []byte) bool {
	has := false
	for _, c := range value {
		if class[c]&inTemplate != 0 {
			return false
		}
		has = has || c == '/' || c == '.' || c == '?'
	}
	return has
}

// isOne reports whether a value has the form of a single address.
func isOne(value []byte) bool { return isAddress(value) && !bytes.ContainsAny(value, " \t\r\n\f[]\"'") }

// isMediaAddress reports whether a value has the form of an address whose path ends like the name of an image, a video
// or a sound.
func isMediaAddress(value []byte) bool {
	path := value
	if end := bytes.IndexAny(path, "?#"); end >= 0 {
		path = path[:end]
	}
	dot := bytes.LastIndexByte(path, '.')
	if dot <= 0 || !isOne(value) {
		return false
	}
	for _, extension := range [...]nameKey{
		"jpg", "jpeg", "png", "gif", "webp", "avif", "svg", "bmp", "ico", "mp4", "webm", "mp3", "ogg", "m4v", "mov", "jxl",
	} {
		if fold(path[dot+1:], extension) {
			return true
		}
	}
	return false
}
