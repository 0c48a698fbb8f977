package parse

import "unicode/utf8"

// guessCharset returns the most likely character set of a text that is not UTF-8: an East Asian one by its common
// characters, or a non-Latin alphabet by its most frequent letters. It returns "" for Latin text and if it is
// uncertain. The result is for paths and titles: a query keeps its original bytes.
func guessCharset(b []byte) string {
	if mostlyUTF8(b) {
		return ""
	}
	best, name := wideEnough, ""
	for i := range wideCodings {
		if score := wideCodings[i].score(b); score >= best {
			best, name = score, wideCodings[i].name
		}
	}
	if name != "" {
		return name
	}
	return guessAlphabet(b)
}

// mostlyUTF8 reports whether the invalid bytes of a UTF-8 page are few enough to be an accident.
func mostlyUTF8(b []byte) bool {
	whole, broken := 0, 0
	for p := 0; p < len(b); {
		if b[p] < utf8.RuneSelf {
			p++
			continue
		}
		_, n := utf8.DecodeRune(b[p:])
		if n > 1 {
			whole++
		} else {
			broken++
		}
		p += n
	}
	return whole >= broken
}

// octets is a range of octets, both ends inside.
type octets struct{ from, to byte }

func (o octets) has(c byte) bool { return o.from <= c && c <= o.to }

// wideCoding is a character set that encodes most of its characters in two bytes.
type wideCoding struct {
	name   string
	lead   octets // the first of two
	trail  octets // the second, and from 0xA1 to 0xFE
	single octets // characters of one octet
	common octets // first octets of nearly all characters of ordinary text
	high   bool   // and their second octets are from 0xA1 on
	kana   octets // first octets of kana syllables, frequent in Japanese text; 0 in other languages
}

// wideCodings are in order of trust: of equal scores the last one wins.
var wideCodings = [...]wideCoding{
	{name: "gbk", lead: octets{0x81, 0xFE}, trail: octets{0x40, 0xFE}, common: octets{0xB0, 0xD7}, high: true},
	{name: "big5", lead: octets{0x81, 0xFE}, trail: octets{0x40, 0x7E}, common: octets{0xA4, 0xC6}},
	{name: "euc-kr", lead: octets{0x81, 0xFE}, trail: octets{0xA1, 0xFE}, common: octets{0xB0, 0xC8}, high: true},
	{name: "shift_jis", lead: octets{0x81, 0xFC}, trail: octets{0x40, 0xFC}, single: octets{0xA1, 0xDF},
		common: octets{0x88, 0x97}, kana: octets{0x82, 0x83}},
	{name: "euc-jp", lead: octets{0x8E, 0xFE}, trail: octets{0xA1, 0xFE}, common: octets{0xB0, 0xCF}, high: true,
		kana: octets{0xA4, 0xA5}},
}

// Of a hundred characters: so many must be common ones, and no more may be none at all.
const (
	wideEnough = 80
	wideBroken = 2
)

// score is how many of a hundred characters are common ones; 0 if the text cannot be in this coding.
func (w *wideCoding) score(b []byte) int {
	chars, common, kana, broken := 0, 0, 0, 0
	for p := 0; p < len(b); p++ {
		c := b[p]
		if c < utf8.RuneSelf {
			continue
		}
		switch {
		case w.single.has(c):
			chars++
			continue
		case !w.lead.has(c) || p+1 == len(b):
			broken++
			continue
		}
		trail := b[p+1]
		if !w.trail.has(trail) && (trail < 0xA1 || trail == 0xFF) {
			broken++
			continue
		}
		p++
		switch {
		case w.kana.has(c) && w.kana.from > 0:
			kana++
			common++
		case w.common.has(c) && (!w.high || trail >= 0xA1):
			common++
		case c == 0x81 || 0xA1 <= c && c <= 0xA3:
			continue // punctuation says nothing
		}
		chars++
	}
	if chars < 4 || broken*100 > chars*wideBroken || w.kana.from > 0 && kana*8 < chars {
		return 0
	}
	return common * 100 / chars
}

// alphabet is a single-byte character set with its most frequent letters, which make two thirds of a text: ten, or
// sixteen for Thai.
type alphabet struct {
	name    string
	letters string
}

var alphabets = [...]alphabet{
	{"windows-1251", "\xEE\xE5\xE0\xE8\xED\xF2\xF1\xF0\xE2\xEB"},
	{"koi8-r", "\xCF\xC5\xC1\xC9\xCE\xD4\xD3\xD2\xD7\xCC"},
	{"iso-8859-5", "\xDE\xD5\xD0\xD8\xDD\xE2\xE1\xE0\xD2\xDB"},
	{"windows-1253", "\xE1\xEF\xE9\xF4\xE5\xED\xF3\xF2\xE7\xF5"},
	{"windows-1255", "\xE9\xE5\xE4\xEC\xE0\xFA\xF8\xED\xEE\xF9"},
	{"windows-1256", "\xC7\xE1\xED\xE3\xE6\xE4\xD1\xCA\xC8\xDA"},
	{"windows-874", "\xD2\xB9\xC3\xCD\xA1\xE0\xA7\xE8\xC1\xD5\xD1\xC2\xE9\xC5\xC7\xB7"},
}

// guessAlphabet distinguishes alphabets by their most frequent letters. It requires that most non-ASCII bytes stand
// beside another one: in Latin text they stand alone.
func guessAlphabet(b []byte) string {
	var count [256]int
	all, beside := 0, 0
	for p, c := range b {
		if c < utf8.RuneSelf {
			continue
		}
		count[c]++
		all++
		if p > 0 && b[p-1] >= utf8.RuneSelf || p+1 < len(b) && b[p+1] >= utf8.RuneSelf {
			beside++
		}
	}
	if all < 8 || beside*10 < all*6 {
		return ""
	}
	best, name := 45, "" // of a hundred letters
	for _, a := range alphabets {
		common := 0
		for i := range len(a.letters) {
			common += count[a.letters[i]]
		}
		if score := common * 100 / all; score > best {
			best, name = score, a.name
		}
	}
	return name
}
