package simweb

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"sort"
	"strconv"
)

// Packing 240 KB takes a server longer than all else about a page, and a simulator that works harder than the crawler
// measures itself. So pages that may be sent packed are made of islands: pieces of the sea that were packed once, when
// the world was made, at the level that servers use. The gzip form of a page is then a few copies; only what stands
// between the islands is packed when it is asked for.
//
//	payload   | head, links |   island   | links |   island   | island | links, end |
//	gzip      | head | packed now | packed once | packed now | packed once | ... | end, CRC-32, length |
//
// An island refers to nothing before it and ends at a byte, so it may stand anywhere in a stream.

const (
	islandLarge = 32 << 10 // bytes, about: as far as a match reaches, so that hardly any is lost
	islandSmall = 4 << 10  // the same, for the rest of a page
	islandLevel = 6        // what most servers pack with
)

// island is whole paragraphs of the sea and what they are packed.
type island struct {
	text   []byte
	packed []byte
}

// islands is the sea cut into pieces of two sizes.
type islands struct{ large, small []island }

// mark says that an island begins at a byte of a payload.
type mark struct {
	at int
	of *island
}

// newIslands makes a sea of cards and packs it twice. It takes some 100 ms.
func newIslands(seed uint64) islands {
	s := newSea(mix(seed+78), appendCard)
	return islands{large: s.cut(islandLarge), small: s.cut(islandSmall)}
}

// appendCard appends a piece of page as it comes out of templates: more markup than text, classes by the dozen,
// drawings, data for scripts. It holds no link.
func appendCard(dst []byte, r *rng, phrases []string) []byte {
	phrase := func() { dst = append(dst, phrases[r.zipf(len(phrases))]...) }
	number := func(n int) { dst = strconv.AppendInt(dst, int64(r.below(n)), 10) }
	switch r.below(10) {
	case 0:
		dst = append(dst, "<script type=\"application/json\" class=\"js-state\">{\"component\":\"StoryList\",\"items\":["...)
		for k := 3 + r.below(6); k > 0; k-- {
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
		dst = append(dst, "<svg class=\"icon icon--inline\" width=\"24\" height=\"24\" viewBox=\"0 0 24 24\" aria-hidden=\"true\"><path d=\"M"...)
		for k := 6 + r.below(20); k > 0; k-- {
			number(24)
			dst = append(dst, '.')
			number(1000)
			dst = append(dst, " l-"...)
		}
		return append(dst, "1z\"></path></svg>\n"...)
	case 2, 3:
		return appendParagraph(dst, r, phrases)
	}
	dst = append(dst, "<div class=\"story-card story-card--wide js-track\" data-component=\"StoryCard\" data-id=\""...)
	number(10_000_000)
	dst = append(dst, "\" data-index=\""...)
	number(100)
	dst = append(dst, "\">\n  <div class=\"story-card__body\">\n    <span class=\"story-card__label story-card__label--muted\">"...)
	phrase()
	dst = append(dst, "</span>\n    <h3 class=\"story-card__title\">"...)
	phrase()
	dst = append(dst, ' ')
	phrase()
	dst = append(dst, "</h3>\n    <p class=\"story-card__summary\">"...)
	for k := 1 + r.below(4); k > 0; k-- {
		phrase()
		dst = append(dst, ", "...)
		phrase()
		dst = append(dst, ". "...)
	}
	return append(dst, "</p>\n  </div>\n</div>\n"...)
}

func (s *sea) cut(size int) []island {
	var all []island
	var z packer
	end := s.cuts[len(s.cuts)-1]
	for from := 0; from+size < end; {
		to := s.cuts[sort.SearchInts(s.cuts, from+size)]
		text := s.text[from:to:to]
		all = append(all, island{text: text, packed: bytes.Clone(z.stretch(nil, text, islandLevel))})
		from = to
	}
	return all
}

// fill appends islands until about n bytes are added, and notes where they lie in the payload.
func (s *islands) fill(dst []byte, d *doc, r *rng, n int) []byte {
	for n > islandSmall/2 {
		from := s.small
		if n >= islandLarge*3/4 {
			from = s.large
		}
		next := &from[r.below(len(from))]
		d.marks = append(d.marks, mark{at: len(dst) - d.start, of: next})
		dst = append(dst, next.text...)
		n -= len(next.text)
	}
	return dst
}

// packer makes gzip forms.
type packer struct {
	z   [2]*flate.Writer // of BestSpeed and of islandLevel; nil until they are needed
	out appender
}

// appender is a Writer that appends.
type appender struct{ b []byte }

// Write appends p. It never fails.
func (a *appender) Write(p []byte) (int, error) {
	a.b = append(a.b, p...)
	return len(p), nil
}

// stretch appends the packed form of text, which refers to nothing before it, and fills its last byte.
func (p *packer) stretch(dst, text []byte, level int) []byte {
	k := 0
	if level > flate.BestSpeed {
		k = 1
	}
	p.out.b = dst
	if p.z[k] == nil {
		var err error
		if p.z[k], err = flate.NewWriter(&p.out, level); err != nil {
			panic("BUG: simweb: deflate level: " + err.Error())
		}
	} else {
		p.z[k].Reset(&p.out)
	}
	_, _ = p.z[k].Write(text) // an appender does not fail
	_ = p.z[k].Flush()
	dst, p.out.b = p.out.b, nil
	return dst
}

const (
	gzipHead  = "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"
	gzipEmpty = "\x03\x00" // the last block, with nothing in it
)

// gzip appends the gzip form of a payload in which these islands lie; the same at every call.
func (p *packer) gzip(dst, payload []byte, marks []mark) []byte {
	dst = append(dst, gzipHead...)
	from := 0
	for _, m := range marks {
		if m.at > from {
			dst = p.stretch(dst, payload[from:m.at], flate.BestSpeed)
		}
		dst = append(dst, m.of.packed...)
		from = m.at + len(m.of.text)
	}
	if from < len(payload) {
		dst = p.stretch(dst, payload[from:], flate.BestSpeed)
	}
	dst = append(dst, gzipEmpty...)
	dst = binary.LittleEndian.AppendUint32(dst, crc32.ChecksumIEEE(payload))
	return binary.LittleEndian.AppendUint32(dst, uint32(len(payload)))
}

// packs says that a page is sent packed to a client that accepts gzip: HTML of a host that does so, unless its shape is
// about another encoding, about size, or about heads.
func (h *host) packs(f *page, s shape) bool {
	switch s {
	case shapeGzip, shapeLyingGzip, shapeOddHeaders, shapeHuge:
		return false
	}
	return h.gzip && f.content == contentHTML
}
