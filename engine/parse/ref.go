package parse

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"unicode/utf8"
)

// link reports the raw value of an attribute.
func (s *Scanner) link(kind Kind, raw []byte, nofollow bool) {
	raw = trimControl(raw)
	// Seen before it is decoded, so that a data URL of a megabyte costs nothing.
	if foreignScheme(raw) {
		s.res.LinksForeign++
		return
	}
	if len(raw) > longestReference*s.o.RefMax {
		s.res.LinksLong++
		return
	}
	s.add(kind, s.decode(raw, true), nofollow)
}

// longestReference is how many bytes a character may take in a raw value: what is longer by that factor than the
// longest reference allowed need not be decoded to know that it is too long.
const longestReference = 12

// add reports a decoded reference.
func (s *Scanner) add(kind Kind, ref []byte, nofollow bool) {
	s.work += len(ref)
	ref = trimControl(ref)
	switch {
	case foreignScheme(ref):
		s.res.LinksForeign++
		return
	case len(ref) == 0 && kind != Anchor && kind != Area && kind != Form:
		return // an empty reference is the page itself, and no page is its own image
	}
	if s.charset.encoder != nil && !s.asUTF8 {
		ref = s.encodeQuery(ref)
	}
	if len(ref) > s.o.RefMax {
		s.res.LinksLong++
		return
	}
	if len(s.res.Links) >= s.linksMax {
		s.res.LinksDropped++
		return
	}
	s.res.Links = append(s.res.Links, Link{Kind: kind, NoFollow: nofollow, Ref: ref})
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

// decode turns a raw value into UTF-8 with character references replaced. It gives the value itself when there is
// nothing to do, which is nearly always, and otherwise a piece of the arena. inAttr says by which of the two rules
// references without a semicolon are read.
func (s *Scanner) decode(v []byte, inAttr bool) []byte {
	s.asUTF8 = false
	s.work += len(v)
	high := !plain(v)
	if !high && bytes.IndexByte(v, '&') < 0 {
		return v
	}
	if high {
		v = s.toUTF8(v)
	}
	start := len(s.arena)
	s.arena = appendUnescaped(s.arena, v, inAttr)
	return s.arena[start:len(s.arena):len(s.arena)]
}

// plain says whether there is no byte in v that is zero or not ASCII. It may say false to a few values that are plain.
func plain(v []byte) bool {
	const ones, tops = 0x0101010101010101, 0x8080808080808080
	for len(v) >= 8 {
		w := binary.LittleEndian.Uint64(v)
		if ((w-ones)|w)&tops != 0 {
			return false
		}
		v = v[8:]
	}
	for _, c := range v {
		if c == 0 || c >= 0x80 {
			return false
		}
	}
	return true
}

// toUTF8 turns bytes of the page's character set into UTF-8. A page that named no character set may well be UTF-8: a
// value that reads as UTF-8 is taken so, whatever the fallback.
func (s *Scanner) toUTF8(v []byte) []byte {
	if s.charset.decoder == nil || !s.charset.certain {
		if utf8.Valid(v) {
			s.asUTF8 = true
			return v
		}
		s.guessCharset(s.body)
	}
	decoder := s.charset.decoder
	if decoder == nil {
		decoder = s.utf8Decoder()
	}
	s.text = appendDecoded(s.text[:0], v, decoder)
	return s.text
}

// encodeQuery writes the query of a reference as browsers do in a page whose character set is not UTF-8: its characters
// beyond ASCII as percent-encoded bytes of the page's character set.
func (s *Scanner) encodeQuery(ref []byte) []byte {
	s.work += len(ref)
	from := bytes.IndexByte(ref, '?')
	if from < 0 {
		return ref
	}
	query, fragment := ref[from:], []byte(nil)
	if i := bytes.IndexByte(query, '#'); i >= 0 {
		query, fragment = query[:i], query[i:]
	}
	if plain(query) {
		return ref
	}
	const hex = "0123456789ABCDEF"
	start := len(s.arena)
	s.arena = append(s.arena, ref[:from]...)
	for len(query) > 0 {
		r, n := utf8.DecodeRune(query)
		if r < utf8.RuneSelf {
			s.arena = append(s.arena, query[0])
			query = query[1:]
			continue
		}
		s.charset.encoder.Reset()
		wrote, _, err := s.charset.encoder.Transform(s.coded[:], s.encodable(r, query[:n]), true)
		if err != nil || r == 0xE5E5 {
			s.arena = append(s.arena, "%26%23"...)
			s.arena = strconv.AppendInt(s.arena, int64(r), 10)
			s.arena = append(s.arena, "%3B"...)
		} else {
			for _, c := range s.coded[:wrote] {
				if c < 0x7F {
					s.arena = append(s.arena, c)
				} else {
					s.arena = append(s.arena, '%', hex[c>>4], hex[c&15])
				}
			}
		}
		query = query[n:]
	}
	s.arena = append(s.arena, fragment...)
	return s.arena[start:len(s.arena):len(s.arena)]
}

// encodable is the character that stands for r in the page's character set, in UTF-8; nearly always itself, c. What the
// Encoding Standard has beyond x/text: there U+E5E5, which encodeQuery leaves out, is in no character set.
func (s *Scanner) encodable(r rune, c []byte) []byte {
	if r == 0x2212 && (s.charset.name == "shift_jis" || s.charset.name == "euc-jp") {
		return append(s.minus[:0], "\uFF0D"...)
	}
	return c
}

// title keeps the text of a title element.
func (s *Scanner) title(raw []byte) {
	if limit := longestReference * s.o.TitleMax; len(raw) > limit {
		raw = raw[:limit]
	}
	text := trimSpace(s.decode(raw, false))
	if len(text) > s.o.TitleMax {
		end := s.o.TitleMax
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = trimSpace(text[:end])
	}
	if len(text) > 0 {
		s.res.Title = text
	}
}
