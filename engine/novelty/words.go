package novelty

import "bytes"

const (
	textMax  = 32 << 10 // bytes of a page that are read
	wordsMax = 1024     // different words of it, about
	wordMax  = 32       // bytes of a word; what is longer is several
	imageMax = 1 << 10  // bytes of an image's tag
	pairsOf  = 4        // one pair in so many is looked at
	recent   = 512      // words of a page that are known to be repeated, if they are
)

// Words are those of one page, repetitions mostly left out. The zero value is ready; it is used again for the next page.
type Words struct {
	single []uint64 // in order
	pairs  []uint64
	recent [recent]uint64
}

// Read takes the words of a page's text: not those of tags, comments, scripts and styles. The address of an image, without
// its query, is a word. No pair has an element's border between its words. It borrows page.
func (w *Words) Read(page []byte) {
	w.single, w.pairs = w.single[:0], w.pairs[:0]
	clear(w.recent[:])
	page = page[:min(len(page), textMax)]
	for len(page) > 0 && len(w.single) < wordsMax {
		at := bytes.IndexByte(page, '<')
		if at < 0 {
			w.text(page)
			return
		}
		w.text(page[:at])
		page = w.tag(page[at:])
	}
}

// text takes the words of text without tags.
func (w *Words) text(b []byte) {
	before := uint64(0)
	for i := 0; i < len(b); {
		if !isWord(b[i]) {
			i++
			continue
		}
		h := uint64(0x9e3779b97f4a7c15)
		for end := min(len(b), i+wordMax); i < end && (isWord(b[i]) || groups(b, i)); i++ {
			h = h*0x2545f4914f6cdd1d + uint64(b[i]|0x20)
		}
		h ^= h >> 29
		w.add(&w.single, h)
		if pair := (before ^ h>>1) * 0xd6e8feb86659fd93; before != 0 && pair>>32%pairsOf == 0 {
			w.add(&w.pairs, pair)
		}
		before = h
	}
}

// add adds a word or pair, unless it came lately.
func (w *Words) add(to *[]uint64, h uint64) {
	if at := &w.recent[h%recent]; *at != h {
		*at = h
		*to = append(*to, h)
	}
}

// groups says that b[i], behind a word's first byte, separates thousands: 12,345 is one number.
func groups(b []byte, i int) bool {
	if c := b[i]; c != ',' && c != '.' && c != '\'' || i == 0 || !isDigit(b[i-1]) || i+3 >= len(b) {
		return false
	}
	return isDigit(b[i+1]) && isDigit(b[i+2]) && isDigit(b[i+3]) && (i+4 == len(b) || !isWord(b[i+4]))
}

func isDigit(c byte) bool { return c-'0' < 10 }

func isWord(c byte) bool {
	return c|0x20-'a' < 26 || c-'0' < 10 || c >= 0x80
}

// tag passes over the tag, comment, script or style that b begins with, and gives what follows.
func (w *Words) tag(b []byte) []byte {
	if len(b) < 4 {
		return nil
	}
	switch b[1] | 0x20 {
	case '!' | 0x20:
		if b[2] == '-' && b[3] == '-' {
			return behind(b, "-->")
		}
	case 's':
		for _, raw := range []struct{ open, end string }{{"<script", "</script"}, {"<style", "</style"}} {
			if begins(b, raw.open) {
				b = behind(b, raw.end)
			}
		}
	case 'i':
		if begins(b, "<img") {
			w.image(b)
		}
	}
	end := bytes.IndexByte(b, '>')
	if end < 0 {
		return nil
	}
	return b[end+1:]
}

// image takes the address of the image whose tag b begins with: pages of pictures may say nothing else that is new.
func (w *Words) image(b []byte) {
	tag, _, _ := bytes.Cut(b[:min(len(b), imageMax)], []byte{'>'})
	_, src, ok := bytes.Cut(tag, []byte("src="))
	if !ok {
		return
	}
	src = bytes.TrimLeft(src, "\"'")
	if end := bytes.IndexAny(src, "?\"' "); end >= 0 {
		src = src[:end]
	}
	h := uint64(1)
	for _, c := range src {
		h = h*0x2545f4914f6cdd1d + uint64(c)
	}
	w.add(&w.single, mix(h))
}

// begins says whether b begins with a tag's name, in letters of either case.
func begins(b []byte, open string) bool {
	return len(b) > len(open) && bytes.EqualFold(b[:len(open)], []byte(open))
}

// behind gives what follows the next text, nothing if there is none.
func behind(b []byte, text string) []byte {
	_, rest, _ := bytes.Cut(b, []byte(text))
	return rest
}
