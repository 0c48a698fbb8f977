package parse

import "bytes"

// Names of elements and attributes are compared as packed numbers: the bytes in lower case, the last one lowest. A
// name of more than eight bytes keeps its last eight; its length and spelling are then checked apart.

// The classes of bytes in markup.
const (
	isSpace    = 1 << iota // tab, line feed, form feed, carriage return, space
	endsTag                // ends the name of a tag: space / >
	endsAttr               // ends the name of an attribute: space / > =
	endsBare               // ends a value without quotes: space >
	isAlpha                // ASCII letter
	isIdent                // may be part of a CSS identifier
	startsCSS              // may start something a style sheet's scanner must look at
	inTemplate             // no address has it, and templates of scripts do
)

var class = func() (t [256]byte) {
	for _, c := range "\t\n\f\r " {
		t[c] |= isSpace | endsTag | endsAttr | endsBare
	}
	t['/'] |= endsTag | endsAttr
	t['>'] |= endsTag | endsAttr | endsBare
	t['='] |= endsAttr
	for c := 'a'; c <= 'z'; c++ {
		t[c] |= isAlpha | isIdent
		t[c-32] |= isAlpha | isIdent
	}
	for c := '0'; c <= '9'; c++ {
		t[c] |= isIdent
	}
	t['-'] |= isIdent
	t['_'] |= isIdent
	for c := 0x80; c < 0x100; c++ {
		t[c] |= isIdent
	}
	for _, c := range "/\"'uU@\\" {
		t[c] |= startsCSS
	}
	for _, c := range "{}<>|\\^" {
		t[c] |= inTemplate
	}
	return t
}()

// lower maps ASCII letters to lower case. NUL becomes 0xFF, so that no name equals a shorter one with zeros in front.
var lower = func() (t [256]byte) {
	for i := range t {
		t[i] = byte(i)
		if 'A' <= i && i <= 'Z' {
			t[i] = byte(i) + 32
		}
	}
	t[0] = 0xFF
	return t
}()

type tag uint64

// The elements that the scanner knows.
const (
	tagA        tag = 'a'
	tagAmpAnim  tag = 'a'<<56 | 'm'<<48 | 'p'<<40 | '-'<<32 | 'a'<<24 | 'n'<<16 | 'i'<<8 | 'm'
	tagAmpImg   tag = 'a'<<48 | 'm'<<40 | 'p'<<32 | '-'<<24 | 'i'<<16 | 'm'<<8 | 'g'
	tagApplet   tag = 'a'<<40 | 'p'<<32 | 'p'<<24 | 'l'<<16 | 'e'<<8 | 't'
	tagBgsound  tag = 'b'<<48 | 'g'<<40 | 's'<<32 | 'o'<<24 | 'u'<<16 | 'n'<<8 | 'd'
	tagHTML     tag = 'h'<<24 | 't'<<16 | 'm'<<8 | 'l'
	tagILayer   tag = 'i'<<40 | 'l'<<32 | 'a'<<24 | 'y'<<16 | 'e'<<8 | 'r'
	tagLayer    tag = 'l'<<32 | 'a'<<24 | 'y'<<16 | 'e'<<8 | 'r'
	tagParam    tag = 'p'<<32 | 'a'<<24 | 'r'<<16 | 'a'<<8 | 'm'
	tagAppRoot  tag = 'a'<<56 | 'p'<<48 | 'p'<<40 | '-'<<32 | 'r'<<24 | 'o'<<16 | 'o'<<8 | 't'
	tagArea     tag = 'a'<<24 | 'r'<<16 | 'e'<<8 | 'a'
	tagAudio    tag = 'a'<<32 | 'u'<<24 | 'd'<<16 | 'i'<<8 | 'o'
	tagBase     tag = 'b'<<24 | 'a'<<16 | 's'<<8 | 'e'
	tagBody     tag = 'b'<<24 | 'o'<<16 | 'd'<<8 | 'y'
	tagButton   tag = 'b'<<40 | 'u'<<32 | 't'<<24 | 't'<<16 | 'o'<<8 | 'n'
	tagDiv      tag = 'd'<<16 | 'i'<<8 | 'v'
	tagEmbed    tag = 'e'<<32 | 'm'<<24 | 'b'<<16 | 'e'<<8 | 'd'
	tagFeImage  tag = 'f'<<48 | 'e'<<40 | 'i'<<32 | 'm'<<24 | 'a'<<16 | 'g'<<8 | 'e'
	tagForm     tag = 'f'<<24 | 'o'<<16 | 'r'<<8 | 'm'
	tagFrame    tag = 'f'<<32 | 'r'<<24 | 'a'<<16 | 'm'<<8 | 'e'
	tagIFrame   tag = 'i'<<40 | 'f'<<32 | 'r'<<24 | 'a'<<16 | 'm'<<8 | 'e'
	tagImage    tag = 'i'<<32 | 'm'<<24 | 'a'<<16 | 'g'<<8 | 'e'
	tagImg      tag = 'i'<<16 | 'm'<<8 | 'g'
	tagInput    tag = 'i'<<32 | 'n'<<24 | 'p'<<16 | 'u'<<8 | 't'
	tagLink     tag = 'l'<<24 | 'i'<<16 | 'n'<<8 | 'k'
	tagMath     tag = 'm'<<24 | 'a'<<16 | 't'<<8 | 'h'
	tagMenuitem tag = 'm'<<56 | 'e'<<48 | 'n'<<40 | 'u'<<32 | 'i'<<24 | 't'<<16 | 'e'<<8 | 'm'
	tagMeta     tag = 'm'<<24 | 'e'<<16 | 't'<<8 | 'a'
	tagNoembed  tag = 'n'<<48 | 'o'<<40 | 'e'<<32 | 'm'<<24 | 'b'<<16 | 'e'<<8 | 'd'
	tagNoframes tag = 'n'<<56 | 'o'<<48 | 'f'<<40 | 'r'<<32 | 'a'<<24 | 'm'<<16 | 'e'<<8 | 's'
	tagNoscript tag = 'n'<<56 | 'o'<<48 | 's'<<40 | 'c'<<32 | 'r'<<24 | 'i'<<16 | 'p'<<8 | 't'
	tagObject   tag = 'o'<<40 | 'b'<<32 | 'j'<<24 | 'e'<<16 | 'c'<<8 | 't'
	tagOption   tag = 'o'<<40 | 'p'<<32 | 't'<<24 | 'i'<<16 | 'o'<<8 | 'n'
	tagP        tag = 'p'
	tagBr       tag = 'b'<<8 | 'r'
	tagScript   tag = 's'<<40 | 'c'<<32 | 'r'<<24 | 'i'<<16 | 'p'<<8 | 't'
	tagSource   tag = 's'<<40 | 'o'<<32 | 'u'<<24 | 'r'<<16 | 'c'<<8 | 'e'
	tagStyle    tag = 's'<<32 | 't'<<24 | 'y'<<16 | 'l'<<8 | 'e'
	tagSVG      tag = 's'<<16 | 'v'<<8 | 'g'
	tagTable    tag = 't'<<32 | 'a'<<24 | 'b'<<16 | 'l'<<8 | 'e'
	tagTbody    tag = 't'<<32 | 'b'<<24 | 'o'<<16 | 'd'<<8 | 'y'
	tagTd       tag = 't'<<8 | 'd'
	tagTemplate tag = 't'<<56 | 'e'<<48 | 'm'<<40 | 'p'<<32 | 'l'<<24 | 'a'<<16 | 't'<<8 | 'e'
	tagTextarea tag = 't'<<56 | 'e'<<48 | 'x'<<40 | 't'<<32 | 'a'<<24 | 'r'<<16 | 'e'<<8 | 'a'
	tagTfoot    tag = 't'<<32 | 'f'<<24 | 'o'<<16 | 'o'<<8 | 't'
	tagTh       tag = 't'<<8 | 'h'
	tagThead    tag = 't'<<32 | 'h'<<24 | 'e'<<16 | 'a'<<8 | 'd'
	tagTitle    tag = 't'<<32 | 'i'<<24 | 't'<<16 | 'l'<<8 | 'e'
	tagTr       tag = 't'<<8 | 'r'
	tagTrack    tag = 't'<<32 | 'r'<<24 | 'a'<<16 | 'c'<<8 | 'k'
	tagUse      tag = 'u'<<16 | 's'<<8 | 'e'
	tagVideo    tag = 'v'<<32 | 'i'<<24 | 'd'<<16 | 'e'<<8 | 'o'
	tagXmp      tag = 'x'<<16 | 'm'<<8 | 'p'

	// Longer names get numbers that no packed name has: a name's bytes are never below 9.
	tagPlaintext     tag = 1
	tagForeignObject tag = 2
	tagAnnotationXML tag = 3
	tagBlockquote    tag = 4
	tagOther         tag = 5
	tagAmpIFrame     tag = 6
)

// readTag reads the name of a tag that starts at b[p] and gives its number and the offset of what follows.
func readTag(b []byte, p int) (tag, int) {
	start := p
	var key uint64
	for p < len(b) {
		c := b[p]
		if class[c]&endsTag != 0 {
			break
		}
		key = key<<8 | uint64(lower[c])
		p++
	}
	if p-start > 8 {
		return longTag(b[start:p]), p
	}
	return tag(key), p
}

func longTag(name []byte) tag {
	switch {
	case fold(name, "plaintext"):
		return tagPlaintext
	case fold(name, "foreignobject"):
		return tagForeignObject
	case fold(name, "annotation-xml"):
		return tagAnnotationXML
	case fold(name, "blockquote"):
		return tagBlockquote
	case fold(name, "amp-iframe"):
		return tagAmpIFrame
	case fold(name, "amp-video"):
		return tagVideo
	case fold(name, "amp-audio"):
		return tagAudio
	default:
		return tagOther
	}
}

// unprefixed returns the number of an XML name without its prefix. The namespace of the prefix is not checked.
func unprefixed(whole tag, name []byte) (local tag, prefixed bool) {
	colon := bytes.IndexByte(name, ':')
	if colon < 0 {
		return whole, false
	}
	local, _ = readTag(name, colon+1)
	return local, true
}

// nameKey is a short string in lower case that values are compared with.
type nameKey string

// fold reports whether b equals name, which is in lower case, ignoring the case of ASCII letters.
func fold(b []byte, name nameKey) bool {
	if len(b) != len(name) {
		return false
	}
	for i := range b {
		if lower[b[i]] != name[i] {
			return false
		}
	}
	return true
}

// foldPrefix reports whether b begins with name, which is in lower case, ignoring the case of ASCII letters.
func foldPrefix(b []byte, name nameKey) bool {
	return len(b) >= len(name) && fold(b[:len(name)], name)
}
