package novelty

import "bytes"

const (
	textMax  = 64 << 10 // bytes of a page that are read
	wordsMax = 4096     // words of it
	wordMax  = 32       // bytes of a word; what is longer is several
	imageMax = 1 << 10  // bytes of an image's tag
	pairsOf  = 4        // one pair in so many is looked at
)

// Words are those of one page. The zero value is ready; it is used again for the next page.
type Words struct {
	single []uint64 // in order
	pairs  []uint64
}

// Read takes the words of a page's text: not those of tags, comments, scripts and styles. The address of an image, without
// its query, is a word. No pair has an element's border between its words. It borrows page.
func (w *Words) Read(page []byte) {
	w.single, w.pairs = w.single[:0], w.pairs[:0]
	page = page[:min(len(page), textMax)]
	for len(page) > 0 && len(w.single) < wordsMax {
		at := bytes.IndexByte(page, '<')
		if at < 0 {
			w.text(page)
			return
		}
		w.text(page[:at])
		page = page[at:]
		w.image(page)
		page = behindTag(page)
	}
}

// text takes the words of text without tags.
func (w *Words) text(b []byte) {
	before := uint64(0)
	for len(b) > 0 && len(w.single) < wordsMax {
		if !isWord(b[0]) {
			b = b[1:]
			continue
		}
		h, n := uint64(0x9e3779b97f4a7c15), 0
		for n < len(b) && n < wordMax && isWord(b[n]) {
			h = (h ^ uint64(b[n]|0x20)) * 0x100000001b3
			n++
		}
		b = b[n:]
		h = mix(h)
		w.single = append(w.single, h)
		if pair := mix(before*3 + h); before != 0 && pair%pairsOf == 0 {
			w.pairs = append(w.pairs, pair)
		}
		before = h
	}
}

// image takes the address of the image that b begins with the tag of, if it does: pages of pictures may say nothing else that is new.
func (w *Words) image(b []byte) {
	const open = "<img"
	if len(b) < len(open) || !bytes.EqualFold(b[:len(open)], []byte(open)) {
		return
	}
	tag, _, _ := bytes.Cut(b[:min(len(b), imageMax)], []byte{'>'})
	_, src, ok := bytes.Cut(tag, []byte("src="))
	if !ok {
		return
	}
	src = bytes.TrimLeft(src, "\"'")
	if end := bytes.IndexAny(src, "?\"' "); end >= 0 {
		src = src[:end]
	}
	h := uint64(len(open))
	for _, c := range src {
		h = mix(h ^ uint64(c))
	}
	w.single = append(w.single, h)
}

func isWord(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c >= 0x80
}

// behindTag gives what follows the tag, comment, script or style that b begins with.
func behindTag(b []byte) []byte {
	if bytes.HasPrefix(b, []byte("<!--")) {
		return behind(b, "-->")
	}
	for _, raw := range []struct{ open, end string }{{"<script", "</script"}, {"<style", "</style"}} {
		if len(b) > len(raw.open) && bytes.EqualFold(b[:len(raw.open)], []byte(raw.open)) {
			b = behind(b[len(raw.open):], raw.end)
			break
		}
	}
	return behind(b, ">")
}

// behind gives what follows the next text, nothing if there is none.
func behind(b []byte, text string) []byte {
	_, rest, _ := bytes.Cut(b, []byte(text))
	return rest
}
