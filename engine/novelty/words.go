package novelty

import "bytes"

const (
	textMax  = 32 << 10 // bytes of a page that are read
	wordsMax = 1024     // different words of a page that are read, about
	wordMax  = 32       // bytes of a word; a longer one becomes several
	imageMax = 1 << 10  // bytes of an image tag that are read
	pairsOf  = 4        // one pair in this many counts
	recent   = 512      // words that are remembered to leave out repetitions
)

// Words holds the words of one page, mostly without repetitions. The zero value is ready. It is reused for the next
// page and belongs to one goroutine.
type Words struct {
	single []uint64 // in order
	pairs  []uint64
	recent [recent]uint64
}

// Read reads the words of a page: its text without tags, comments, scripts and styles. The address of an image, without
// its query, counts as a word. Words on two sides of a tag make no pair. It borrows page.
func (w *Words) Read(page []byte) {
	w.single, w.pairs = w.single[:0], w.pairs[:0]
	clear(w.recent[:])
	page = page[:min(len(page), textMax)]
	for len(page) > 0 && len(w.single) < wordsMax {
		at := bytes.IndexByte(page, '<')
		if at < 0 {
			w.addText(page)
			return
		}
		w.addText(page[:at])
		page = w.skipTag(page[at:])
	}
}

// addText adds the words of text without tags.
func (w *Words) addText(b []byte) {
	before := uint64(0)
	for i := 0; i < len(b); {
		if !isWord(b[i]) {
			i++
			continue
		}
		h := uint64(0x9e3779b97f4a7c15)
		for end := min(len(b), i+wordMax); i < end && (isWord(b[i]) || isThousandsSeparator(b, i)); i++ {
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

// add adds a word or pair, unless it came recently.
func (w *Words) add(to *[]uint64, h uint64) {
	if at := &w.recent[h%recent]; *at != h {
		*at = h
		*to = append(*to, h)
	}
}

// isThousandsSeparator reports whether b[i] separates thousands, so that 12,345 is one word.
func isThousandsSeparator(b []byte, i int) bool {
	if c := b[i]; c != ',' && c != '.' && c != '\'' || i == 0 || !isDigit(b[i-1]) || i+3 >= len(b) {
		return false
	}
	return isDigit(b[i+1]) && isDigit(b[i+2]) && isDigit(b[i+3]) && (i+4 == len(b) || !isWord(b[i+4]))
}

func isDigit(c byte) bool { return c-'0' < 10 }

func isWord(c byte) bool {
	return c|0x20-'a' < 26 || c-'0' < 10 || c >= 0x80
}

// skipTag returns what follows the tag, comment, script or style at the beginning of b. It adds the address of an
// image.
func (w *Words) skipTag(b []byte) []byte {
	if len(b) < 4 {
		return nil
	}
	switch b[1] | 0x20 {
	case '!' | 0x20:
		if b[2] == '-' && b[3] == '-' {
			return after(b, "-->")
		}
	case 's':
		for _, raw := range []struct{ open, end string }{{"<script", "</script"}, {"<style", "</style"}} {
			if beginsWithTag(b, raw.open) {
				b = after(b, raw.end)
			}
		}
	case 'i':
		if beginsWithTag(b, "<img") {
			w.addImage(b)
		}
	}
	end := bytes.IndexByte(b, '>')
	if end < 0 {
		return nil
	}
	return b[end+1:]
}

// addImage adds the address of the image whose tag begins b. Pages with pictures may contain nothing else that is new.
func (w *Words) addImage(b []byte) {
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

// beginsWithTag reports whether b begins with a tag's name, in any case.
func beginsWithTag(b []byte, open string) bool {
	return len(b) > len(open) && bytes.EqualFold(b[:len(open)], []byte(open))
}

// after returns what follows the first occurrence of text, or nil.
func after(b []byte, text string) []byte {
	_, rest, _ := bytes.Cut(b, []byte(text))
	return rest
}
