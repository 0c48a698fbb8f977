package parse

import "bytes"

// lazyMost is how many attributes data-* of a tag are looked at.
const lazyMost = 6

// lazyAttribute is an attribute data-* of the current tag: the name without data-, and the value.
type lazyAttribute struct{ name, value span }

// dataLen is the length of data-.
const dataLen = 5

// noteLazy keeps an attribute data-*, for lazy.
func (a *tagAttributes) noteLazy(b []byte, name, value span) {
	if a.lazyCount == lazyMost || value.from == value.to || !foldPrefix(b[name.from:name.to], "data-") {
		return
	}
	a.lazies[a.lazyCount] = lazyAttribute{span{name.from + dataLen, name.to}, value}
	a.lazyCount++
}

// lazy reports what scripts put into src, srcset and style when the element comes into view. Programs call the
// attributes data-src, data-lazy-srcset, data-original, data-bg and many other names. So an attribute counts if its
// name speaks of a source or an image, and its value has the form of an address of one. kind is that of the element;
// elements that show no image of their own have Background.
func (e *elementReader) lazy(b []byte, kind Kind) {
	for _, x := range e.attributes.lazies[:e.attributes.lazyCount] {
		name, value := b[x.name.from:x.name.to], trimControl(b[x.value.from:x.value.to])
		switch {
		case !isLazyName(name):
		case fold(name, "src") && kind != Background:
			e.links.link(kind, value, false)
		case containsFold(name, "set"):
			if kind == Image || kind == Media {
				e.lazySet(value)
			}
		case foldPrefix(value, "url("):
			e.links.scanStyle(e.links.text.decode(value, true), true)
		case isMediaAddress(value) || kind == IFrame && isAddress(value):
			e.links.link(kind, value, false)
		}
	}
}

// lazySet reports the candidates of a srcset that have the form of addresses.
func (e *elementReader) lazySet(value []byte) {
	eachCandidate(e.links.text.decode(value, true), func(ref []byte) {
		if isAddress(ref) {
			e.links.add(Image, ref, false)
		}
	})
}

// isLazyName reports whether the name of an attribute speaks of a source or an image.
func isLazyName(name []byte) bool {
	for _, word := range [...]nameKey{
		"src", "original", "lazy", "bg", "background", "image", "img", "poster", "hires", "hi-res", "large", "full", "thumb",
		"url", "retina", "echo",
	} {
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

// isAddress reports whether a value has the form of an address: no space, no template, and a slash or a dot.
func isAddress(value []byte) bool {
	for _, c := range value {
		if class[c]&isSpace != 0 || bytes.IndexByte([]byte(`{}[]<>"'|\^`), c) >= 0 {
			return false
		}
	}
	return bytes.IndexByte(value, '/') >= 0 || bytes.IndexByte(value, '.') > 0
}

// isMediaAddress reports whether a value has the form of an address whose path ends like the name of an image, a video
// or a sound.
func isMediaAddress(value []byte) bool {
	if !isAddress(value) {
		return false
	}
	path := value
	if end := bytes.IndexAny(path, "?#"); end >= 0 {
		path = path[:end]
	}
	dot := bytes.LastIndexByte(path, '.')
	if dot <= 0 {
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
