package corpus

import (
	"sort"
	"strings"

	"orbweaver/internal/simweb/draw"
)

// Word names a part of a path. None holds a digit, and none is a word of the rules in robots.go.
func Word(bits uint32) string {
	const width = 8
	const list = "amber   birch   cedar   delta   ember   field   grove   haven   " +
		"inlet   juniper kelp    larch   meadow  north   orchard pebble  " +
		"quarry  river   stone   timber  upland  valley  willow  yarrow  " +
		"alder   bramble copse   dune    estuary fern    gorse   heath   "
	at := int(bits%uint32(len(list)/width)) * width
	return strings.TrimRight(list[at:at+width], " ")
}

// AppendName appends a word of eight letters.
func AppendName(dst []byte, bits uint64) []byte {
	for range 8 {
		dst = append(dst, 'a'+byte(bits%26))
		bits /= 26
	}
	return dst
}

// Text is a large text, made once. Pages are cut of it, so a page costs a few copies. It compresses as text does.
type Text struct {
	bytes []byte
	cuts  []int // where paragraphs begin; the last one is the end
}

const (
	textBytes   = 1 << 20
	textPhrases = 1500
)

// NewText writes paragraphs out of phrases that come up Zipf-like.
func NewText(seed uint64, paragraph func(dst []byte, r *draw.RNG, phrases []string) []byte) Text {
	r := draw.RNG(draw.Mix(seed + 77))
	vocabulary := make([]string, 3000)
	for i := range vocabulary {
		vocabulary[i] = inventWord(&r)
	}
	phrases := make([]string, textPhrases)
	for i := range phrases {
		var b []byte
		for k := 2 + r.Below(5); k > 0; k-- {
			if len(b) > 0 {
				b = append(b, ' ')
			}
			b = append(b, vocabulary[r.Zipf(len(vocabulary))]...)
		}
		phrases[i] = string(b)
	}
	s := Text{bytes: make([]byte, 0, textBytes+4096)}
	for len(s.bytes) < textBytes {
		s.cuts = append(s.cuts, len(s.bytes))
		s.bytes = paragraph(s.bytes, &r, phrases)
	}
	s.cuts = append(s.cuts, len(s.bytes))
	return s
}

func inventWord(r *draw.RNG) string {
	const starts = "b c d f g h k l m n p r s t v w st tr pl gr "
	const middles = "a e i o u ea ou ai "
	const ends = "n r s t l d m nd st rt ng ck "
	part := func(list string) string {
		var parts [20]string
		n, from := 0, 0
		for i := range len(list) {
			if list[i] == ' ' {
				parts[n] = list[from:i]
				n, from = n+1, i+1
			}
		}
		return parts[r.Below(n)]
	}
	s := part(starts) + part(middles)
	for k := r.Below(3); k > 0; k-- {
		s += part(starts) + part(middles)
	}
	return s + part(ends)
}

// AppendParagraph appends a heading, a list or a paragraph.
func AppendParagraph(dst []byte, r *draw.RNG, phrases []string) []byte {
	switch r.Below(8) {
	case 0:
		dst = append(dst, "<h2 class=\"section-heading\">"...)
		dst = append(dst, phrases[r.Zipf(len(phrases))]...)
		return append(dst, "</h2>\n"...)
	case 1:
		dst = append(dst, "<ul class=\"item-list\">\n"...)
		for k := 2 + r.Below(5); k > 0; k-- {
			dst = append(dst, "  <li class=\"item\"><span class=\"label\">"...)
			dst = append(dst, phrases[r.Zipf(len(phrases))]...)
			dst = append(dst, "</span></li>\n"...)
		}
		return append(dst, "</ul>\n"...)
	}
	dst = append(dst, "<p class=\"body-text\">"...)
	for k := 2 + r.Below(8); k > 0; k-- {
		from := len(dst)
		dst = append(dst, phrases[r.Zipf(len(phrases))]...)
		dst[from] -= 'a' - 'A'
		for j := 1 + r.Below(3); j > 0; j-- {
			dst = append(dst, ' ')
			dst = append(dst, phrases[r.Zipf(len(phrases))]...)
		}
		dst = append(dst, ". "...)
	}
	return append(dst, "</p>\n"...)
}

// Append appends whole paragraphs, from anywhere in the text, until at least n bytes are added.
func (s *Text) Append(dst []byte, r *draw.RNG, n int) []byte {
	for n > 0 {
		k := r.Below(len(s.cuts) - 1)
		from := s.cuts[k]
		end := sort.SearchInts(s.cuts, from+n)
		if end == len(s.cuts) {
			end--
		}
		dst = append(dst, s.bytes[from:s.cuts[end]]...)
		n -= s.cuts[end] - from
	}
	return dst
}
