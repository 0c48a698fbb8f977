package sitemap

import (
	"bytes"
	"unicode/utf8"
)

// text collects the text of an element in pieces. It reuses its buffers.
type text struct {
	on    bool // an element is being collected
	local [16]byte
	size  int // length of the element's name in local
	kind  Kind
	guid  bool // only a text that looks like a URL counts

	raw  []byte // as written, with references
	done []byte // text before raw, with references replaced
}

// longestReference is the number of bytes that a character may need as a reference.
const longestReference = 12

// begin starts to collect an element.
func (x *text) begin(local []byte, kind Kind) {
	x.on, x.kind, x.guid = true, kind, false
	x.size = copy(x.local[:], local)
	x.raw, x.done = x.raw[:0], x.done[:0]
}

func (x *text) drop() { x.on = false }

// keep adds text as written. Text that is too long is stored only up to a length at which it stays too long.
func (x *text) keep(b []byte) {
	if x.on {
		x.raw = append(x.raw, b[:min(len(b), max(roomMax-len(x.raw), 0))]...)
	}
}

// roomMax limits both buffers: a valid URL with references and some white space is not longer.
const roomMax = longestReference*8<<10 + 4<<10

// verbatim prepares for text without references (CDATA).
func (x *text) verbatim() {
	if x.on {
		x.done = appendUnescaped(x.done, x.raw)
		x.raw = x.raw[:0]
	}
}

// keepVerbatim adds such text.
func (x *text) keepVerbatim(b []byte) {
	if x.on {
		x.done = append(x.done, b[:min(len(b), max(roomMax-len(x.done), 0))]...)
	}
}

// end returns the whole text without outer white space, and ends the collection.
func (x *text) end() []byte {
	x.verbatim()
	x.on = false
	return bytes.TrimSpace(x.done)
}

// set makes the raw value of an attribute the text, and returns it like end.
func (x *text) set(value []byte) []byte {
	x.on = false
	x.done = appendUnescaped(x.done[:0], value[:min(len(value), roomMax)])
	return bytes.TrimSpace(x.done)
}

// appendUnescaped appends src to dst with references replaced: numbers and the five predefined names. Others stay
// unchanged, and so do ampersands that begin no reference, since many sitemaps do not escape them.
func appendUnescaped(dst, src []byte) []byte {
	for len(src) > 0 {
		i := bytes.IndexByte(src, '&')
		if i < 0 {
			return append(dst, src...)
		}
		dst, src = append(dst, src[:i]...), src[i:]
		r, n := reference(src)
		if n == 0 {
			dst, src = append(dst, '&'), src[1:]
			continue
		}
		dst, src = utf8.AppendRune(dst, r), src[n:]
	}
	return dst
}

// reference decodes the reference at the start of src, an ampersand, and returns its length; 0 if it is none.
func reference(src []byte) (rune, int) {
	end := bytes.IndexByte(src[:min(len(src), longestReference)], ';')
	if end < 2 {
		return 0, 0
	}
	name := src[1:end]
	switch string(name) {
	case "amp":
		return '&', end + 1
	case "lt":
		return '<', end + 1
	case "gt":
		return '>', end + 1
	case "quot":
		return '"', end + 1
	case "apos":
		return '\'', end + 1
	}
	if name[0] != '#' || len(name) < 2 {
		return 0, 0
	}
	base, digits := rune(10), name[1:]
	if digits[0]|0x20 == 'x' {
		base, digits = 16, digits[1:]
	}
	r := rune(0)
	for _, c := range digits {
		d := digit(c)
		if d >= base {
			return 0, 0
		}
		if r = r*base + d; r > utf8.MaxRune {
			return utf8.RuneError, end + 1
		}
	}
	if len(digits) == 0 {
		return 0, 0
	}
	if r == 0 || !utf8.ValidRune(r) {
		r = utf8.RuneError
	}
	return r, end + 1
}

func digit(c byte) rune {
	switch {
	case '0' <= c && c <= '9':
		return rune(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return rune(c|0x20-'a') + 10
	}
	return 16
}
