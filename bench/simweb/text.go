package simweb

import (
	"sort"
	"strings"
)

// word names a part of a path. None holds a digit, and none is a word of the rules in robots.go.
func word(bits uint32) string {
	const width = 8
	const list = "amber   birch   cedar   delta   ember   field   grove   haven   " +
		"inlet   juniper kelp    larch   meadow  north   orchard pebble  " +
		"quarry  river   stone   timber  upland  valley  willow  yarrow  " +
		"alder   bramble copse   dune    estuary fern    gorse   heath   "
	at := int(bits%uint32(len(list)/width)) * width
	return strings.TrimRight(list[at:at+width], " ")
}

// sea is a large text, made once, of which pages are cut: a page costs a few copies. It compresses as text does.
type sea struct {
	text []byte
	cuts []int // where paragraphs begin; the last one is the end
}

const (
	seaBytes   = 1 << 20
	seaPhrases = 1500
)

// newSea writes paragraphs out of phrases that come up Zipf-like.
func newSea(seed uint64, paragraph func(dst []byte, r *rng, phrases []string) []byte) sea {
	r := rng(mix(seed + 77))
	vocabulary := make([]string, 3000)
	for i := range vocabulary {
		vocabulary[i] = inventWord(&r)
	}
	phrases := make([]string, seaPhrases)
	for i := range phrases {
		var b []byte
		for k := 2 + r.below(5); k > 0; k-- {
			if len(b) > 0 {
				b = append(b, ' ')
			}
			b = append(b, vocabulary[r.zipf(len(vocabulary))]...)
		}
		phrases[i] = string(b)
	}
	s := sea{text: make([]byte, 0, seaBytes+4096)}
	for len(s.text) < seaBytes {
		s.cuts = append(s.cuts, len(s.text))
		s.text = paragraph(s.text, &r, phrases)
	}
	s.cuts = append(s.cuts, len(s.text))
	return s
}

func inventWord(r *rng) string {
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
		return parts[r.below(n)]
	}
	s := part(starts) + part(middles)
	for k := r.below(3); k > 0; k-- {
		s += part(starts) + part(middles)
	}
	return s + part(ends)
}

func appendParagraph(dst []byte, r *rng, phrases []string) []byte {
	switch r.below(8) {
	case 0:
		dst = append(dst, "<h2 class=\"section-heading\">"...)
		dst = append(dst, phrases[r.zipf(len(phrases))]...)
		return append(dst, "</h2>\n"...)
	case 1:
		dst = append(dst, "<ul class=\"item-list\">\n"...)
		for k := 2 + r.below(5); k > 0; k-- {
			dst = append(dst, "  <li class=\"item\"><span class=\"label\">"...)
			dst = append(dst, phrases[r.zipf(len(phrases))]...)
			dst = append(dst, "</span></li>\n"...)
		}
		return append(dst, "</ul>\n"...)
	}
	dst = append(dst, "<p class=\"body-text\">"...)
	for k := 2 + r.below(8); k > 0; k-- {
		from := len(dst)
		dst = append(dst, phrases[r.zipf(len(phrases))]...)
		dst[from] -= 'a' - 'A'
		for j := 1 + r.below(3); j > 0; j-- {
			dst = append(dst, ' ')
			dst = append(dst, phrases[r.zipf(len(phrases))]...)
		}
		dst = append(dst, ". "...)
	}
	return append(dst, "</p>\n"...)
}

// fill appends whole paragraphs, from somewhere in the sea, until at least n bytes are added.
func (s *sea) fill(dst []byte, r *rng, n int) []byte {
	for n > 0 {
		k := r.below(len(s.cuts) - 1)
		from := s.cuts[k]
		end := sort.SearchInts(s.cuts, from+n)
		if end == len(s.cuts) {
			end--
		}
		dst = append(dst, s.text[from:s.cuts[end]]...)
		n -= s.cuts[end] - from
	}
	return dst
}
