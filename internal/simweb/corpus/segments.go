package corpus

import (
	"bytes"
	"sort"
	"strconv"

	"orbweaver/internal/simweb/draw"
)

// The sizes of segments.
const (
	LargeSegment = 32 << 10 // bytes, about: the reach of a match, so that hardly any match is lost
	segmentSmall = 4 << 10  // the same, for the rest of a page
	segmentLevel = 6        // what most servers pack with
)

// segment is whole paragraphs of the text and what they are packed.
type segment struct {
	text   []byte
	packed []byte
}

// Segments is the text cut into pieces of two sizes.
type Segments struct{ large, small []segment }

// Placement is where a segment begins in a payload.
type Placement struct {
	at int
	of *segment
}

// NewSegments makes a text of cards and packs it twice. It takes some 100 ms.
func NewSegments(seed uint64) Segments {
	s := NewText(draw.Mix(seed+78), appendCard)
	return Segments{large: s.cut(LargeSegment), small: s.cut(segmentSmall)}
}

// appendCard appends a piece of page as it comes out of templates: more markup than text, classes by the dozen,
// drawings, data for scripts. It holds no link.
func appendCard(dst []byte, r *draw.RNG, phrases []string) []byte {
	phrase := func() { dst = append(dst, phrases[r.Zipf(len(phrases))]...) }
	number := func(n int) { dst = strconv.AppendInt(dst, int64(r.Below(n)), 10) }
	switch r.Below(10) {
	case 0:
		dst = append(dst, "<script type=\"application/json\" class=\"js-state\">{\"component\":\"StoryList\",\"items\":["...)
		for k := 3 + r.Below(6); k > 0; k-- {
			dst = append(dst, "{\"id\":"...)
			number(10_000_000)
			dst = append(dst, ",\"title\":\""...)
			phrase()
			dst = append(dst, "\",\"teaser\":null,\"premium\":false,\"rank\":"...)
			number(100)
			dst = append(dst, "},"...)
		}
		return append(dst, "{}]}</script>\n"...)
	case 1:
		dst = append(dst, "<svg class=\"icon icon--inline\" width=\"24\" height=\"24\" viewBox=\"0 0 24 24\" "...)
		dst = append(dst, "aria-hidden=\"true\"><path d=\"M"...)
		for k := 6 + r.Below(20); k > 0; k-- {
			number(24)
			dst = append(dst, '.')
			number(1000)
			dst = append(dst, " l-"...)
		}
		return append(dst, "1z\"></path></svg>\n"...)
	case 2, 3:
		return AppendParagraph(dst, r, phrases)
	}
	dst = append(dst, "<div class=\"story-card story-card--wide js-track\" data-component=\"StoryCard\" data-id=\""...)
	number(10_000_000)
	dst = append(dst, "\" data-index=\""...)
	number(100)
	dst = append(dst, "\">\n  <div class=\"story-card__body\">\n"...)
	dst = append(dst, "    <span class=\"story-card__label story-card__label--muted\">"...)
	phrase()
	dst = append(dst, "</span>\n    <h3 class=\"story-card__title\">"...)
	phrase()
	dst = append(dst, ' ')
	phrase()
	dst = append(dst, "</h3>\n    <p class=\"story-card__summary\">"...)
	for k := 1 + r.Below(4); k > 0; k-- {
		phrase()
		dst = append(dst, ", "...)
		phrase()
		dst = append(dst, ". "...)
	}
	return append(dst, "</p>\n  </div>\n</div>\n"...)
}

func (s *Text) cut(size int) []segment {
	var all []segment
	var z Packer
	end := s.cuts[len(s.cuts)-1]
	for from := 0; from+size < end; {
		to := s.cuts[sort.SearchInts(s.cuts, from+size)]
		piece := s.bytes[from:to:to]
		all = append(all, segment{text: piece, packed: bytes.Clone(z.stretch(nil, piece, segmentLevel))})
		from = to
	}
	return all
}

// Append appends segments until about n bytes are added, and notes where they lie in the payload.
func (s *Segments) Append(dst []byte, marks []Placement, start int, r *draw.RNG, n int) ([]byte, []Placement) {
	for n > segmentSmall/2 {
		from := s.small
		if n >= LargeSegment*3/4 {
			from = s.large
		}
		next := &from[r.Below(len(from))]
		marks = append(marks, Placement{at: len(dst) - start, of: next})
		dst = append(dst, next.text...)
		n -= len(next.text)
	}
	return dst, marks
}
