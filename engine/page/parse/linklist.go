package parse

import (
	"unicode/utf8"

	"orbweaver/engine/page/parse/script"
)

// linkList collects the links of the current body, and its title.
type linkList struct {
	o        *Options
	text     textDecoder
	res      Result
	linksMax int // of this body
	scripts  script.Reader
	// speculative links of this body
	speculative int
	joinedRoom  int // bytes that joined references of this body may still have
}

// link reports the raw value of an attribute.
func (l *linkList) link(kind Kind, raw []byte, nofollow bool) {
	raw = trimControl(raw)
	// Seen before it is decoded, so that a data URL of a megabyte costs nothing.
	if foreignScheme(raw) {
		l.res.LinksForeign++
		if l.o.Speculative && foldPrefix(raw, "javascript:") {
			l.scanHandler(raw[len("javascript:"):])
		}
		return
	}
	if len(raw) > longestReference*l.o.RefMax {
		l.res.LinksLong++
		return
	}
	l.add(kind, l.text.decode(raw, true), nofollow)
}

// speculativeMax is the largest number of links from the scripts of one body.
const speculativeMax = 1000

// scanScript reports the links of a script or of JSON, in UTF-8 or another superset of ASCII.
func (l *linkList) scanScript(b []byte, place script.Place) {
	l.text.work += len(b)
	for l.scripts.Open(b, place); l.speculative < speculativeMax; {
		link, ok := l.scripts.Next()
		if !ok {
			return
		}
		l.speculative++
		kind := Speculative
		if link.IsImport {
			kind = Script
		}
		l.add(kind, link.Ref, false)
	}
}

// scanHandler reports the links of a script that is the raw value of an attribute.
func (l *linkList) scanHandler(raw []byte) {
	l.scanScript(l.text.decode(raw[:min(len(raw), handlerMax)], true), script.Handler)
}

// handlerMax is how many bytes of the script in an attribute are read.
const handlerMax = 4 << 10

// address reports a value that may be anything, if it has the form of a URL: that of an option, to which a script may
// go, or one in XML that is data.
func (l *linkList) address(raw []byte) {
	if l.speculative >= speculativeMax || len(raw) > l.o.RefMax {
		return
	}
	if ref := trimControl(l.text.decode(raw, true)); script.IsAddress(ref) {
		l.speculative++
		l.add(Speculative, ref, false)
	}
}

// longestReference is how many bytes a character may take in a raw value: what is longer by that factor than the
// longest reference allowed need not be decoded to know that it is too long.
const longestReference = 12

// add reports a decoded reference.
func (l *linkList) add(kind Kind, ref []byte, nofollow bool) {
	l.text.work += len(ref)
	ref = trimControl(ref)
	switch {
	case foreignScheme(ref):
		l.res.LinksForeign++
		return
	case len(ref) == 0 && kind != Anchor && kind != Area && kind != Form:
		return // an empty reference is the page itself, and no page is its own image
	}
	if l.text.charset.encoder != nil && !l.text.asUTF8 {
		ref = l.text.encodeQuery(ref)
	}
	if len(ref) > l.o.RefMax {
		l.res.LinksLong++
		return
	}
	if len(l.res.Links) >= l.linksMax {
		l.res.LinksDropped++
		return
	}
	l.res.Links = append(l.res.Links, Link{Kind: kind, NoFollow: nofollow, Ref: ref})
}

// trimControl cuts control bytes and spaces off both ends, as a URL parser does, but no NUL: before a URL parser sees
// it, it has become U+FFFD.
func trimControl(b []byte) []byte {
	for len(b) > 0 && b[0] <= ' ' && b[0] > 0 {
		b = b[1:]
	}
	for len(b) > 0 && b[len(b)-1] <= ' ' && b[len(b)-1] > 0 {
		b = b[:len(b)-1]
	}
	return b
}

// foreignScheme says whether a reference has a scheme other than http and https. What is spelt in a way that only a URL
// parser understands (with a tab inside, say) passes.
func foreignScheme(ref []byte) bool {
	for i, c := range ref {
		switch {
		case class[c]&isAlpha != 0:
		case i > 0 && ('0' <= c && c <= '9' || c == '+' || c == '-' || c == '.'):
		case i > 0 && c == ':':
			return !fold(ref[:i], "http") && !fold(ref[:i], "https")
		default:
			return false
		}
	}
	return false
}

// title keeps the text of a title element.
func (l *linkList) title(raw []byte) {
	if limit := longestReference * l.o.TitleMax; len(raw) > limit {
		raw = raw[:limit]
	}
	if text := trimSpace(startOf(trimSpace(l.text.decode(raw, false)), l.o.TitleMax)); len(text) > 0 {
		l.res.Title = text
	}
}

// startOf returns the first whole characters of a text, at most limit bytes.
func startOf(text []byte, limit int) []byte {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
