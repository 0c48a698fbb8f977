package novelty

import "bytes"

const (
	textMax  = 32 << 10 // bytes of a page that are read
	wordsMax = 1024     // different words of a page that are read, about
	wordMax  = 32       // bytes of a word; a longer one becomes several
	imageMax = 1 << 10  // bytes of an image tag that are read
	pairsOf  = 4        // one pair in this many counts
	recent   = 512      // words that are remembered to leave out repetitions
	shortMax = 3        // bytes of a figure that makes pairs: there are few of these, so they are vocabulary
)

// Words holds the words of one page, mostly without repetitions. The zero value is ready. It is reused for the next
// page and belongs to one goroutine.
type Words struct {
	single  []uint64 // in order
	pairs   []pair
	figures []figure
	images  uint64 // sum over the addresses of images
	recent  [recent]uint64

	fresh     freshWords
	addresses addressWords
}

// pair is two neighbouring words.
type pair struct{ hash, first, second uint64 }

// figure is a word with a digit: a number, a date, an id. Its digits at the end are a number behind the rest.
type figure struct{ word, rest, number uint64 }

// hash returns a hash of the figure whose number is greater by more, which may be negative.
func (f figure) hash(more int64) uint64 {
	return mix(f.rest + (f.number+uint64(more))*0x9e3779b97f4a7c15)
}

// Read reads the words of a page: its text without tags, comments, scripts and styles. Words on two sides of a tag make
// no pair. It borrows page.
func (w *Words) Read(page []byte) {
	w.reset()
	page = page[:min(len(page), textMax)]
	for len(page) > 0 && len(w.single)+len(w.figures) < wordsMax {
		at := bytes.IndexByte(page, '<')
		if at < 0 {
			w.addText(page)
			return
		}
		w.addText(page[:at])
		page = w.skipTag(page[at:])
	}
}

func (w *Words) reset() {
	w.single, w.pairs, w.figures, w.images = w.single[:0], w.pairs[:0], w.figures[:0], 0
	clear(w.recent[:])
}

// addText adds the words of text without tags.
func (w *Words) addText(b []byte) {
	var before uint64
	for i := 0; ; {
		t := nextToken(b, i)
		if t.from == len(b) {
			return
		}
		i = t.end
		switch {
		case !t.hasDigit:
			w.addWord(t.hash)
		case len(w.figures) < wordsMax:
			w.addFigure(t.hash, b[t.from:t.end])
		}
		if t.hasDigit && t.end-t.from > shortMax {
			before = 0
			continue
		}
		if hash := (before ^ t.hash>>1) * 0xd6e8feb86659fd93; before != 0 && hash>>32%pairsOf == 0 && w.isNotRecent(hash) {
			w.pairs = append(w.pairs, pair{hash, before, t.hash})
		}
		before = t.hash
	}
}

// addWord adds a word, unless it came recently.
func (w *Words) addWord(h uint64) {
	if w.isNotRecent(h) {
		w.single = append(w.single, h)
	}
}

// addFigure adds a word with a digit, unless it came recently.
func (w *Words) addFigure(h uint64, text []byte) {
	if w.isNotRecent(h) {
		w.figures = append(w.figures, newFigure(h, text))
	}
}

// newFigure returns the figure of a text with its hash.
func newFigure(h uint64, text []byte) figure {
	f := figure{word: h}
	n, from := len(text), len(text)
	for from > 0 && n-from < digitsMax && (isDigit(text[from-1]) || isThousandsSeparator(text, from-1)) {
		from--
	}
	for _, c := range text[from:] {
		if isDigit(c) {
			f.number = f.number*10 + uint64(c-'0')
		}
	}
	for _, c := range text[:from] {
		f.rest = (f.rest + uint64(c|0x20)) * 0x2545f4914f6cdd1d
	}
	return f
}

// digitsMax is the most digits of a number.
const digitsMax = 18

// isNotRecent reports whether a word or pair did not come recently, and notes it.
func (w *Words) isNotRecent(h uint64) bool {
	at := &w.recent[h%recent]
	if *at == h {
		return false
	}
	*at = h
	return true
}

// token is a run of letters and digits.
type token struct {
	from, end int
	hash      uint64
	hasDigit  bool
}

// nextToken returns the first token of b at or behind i. If there is none, it begins at the end of b. A number with
// thousands separators is one token.
func nextToken(b []byte, i int) (t token) {
	for i < len(b) && byteClasses[b[i]] == 0 {
		i++
	}
	t.from = i
	h, classes := uint64(0x9e3779b97f4a7c15), uint8(0)
	for end := min(len(b), i+wordMax); i < end; i++ {
		c := b[i]
		class := byteClasses[c]
		if class == 0 && (classes&digitClass == 0 || !isThousandsSeparator(b, i)) {
			break
		}
		classes |= class
		h = h*0x2545f4914f6cdd1d + uint64(c|0x20)
	}
	t.end, t.hash, t.hasDigit = i, h^h>>29, classes&digitClass != 0
	return t
}

// The classes of the bytes of words.
const (
	wordClass uint8 = 1 << iota
	digitClass
)

// byteClasses is the class of each byte; 0 for what separates words.
var byteClasses = func() (class [256]uint8) { //nolint:gochecknoglobals // a table
	for c := range class {
		switch {
		case isDigit(byte(c)):
			class[c] = wordClass | digitClass
		case c|0x20 >= 'a' && c|0x20 <= 'z' || c >= 0x80:
			class[c] = wordClass
		}
	}
	return class
}()

// isThousandsSeparator reports whether b[i] separates thousands, so that 12,345 is one word.
func isThousandsSeparator(b []byte, i int) bool {
	if c := b[i]; c != ',' && c != '.' && c != '\'' || i == 0 || !isDigit(b[i-1]) || i+3 >= len(b) {
		return false
	}
	return isDigit(b[i+1]) && isDigit(b[i+2]) && isDigit(b[i+3]) && (i+4 == len(b) || byteClasses[b[i+4]] == 0)
}

func isDigit(c byte) bool { return c-'0' < 10 }

// skipTag returns what follows the tag, comment, script or style at the beginning of b. It notes the address of an
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
			w.noteImage(b)
		}
	}
	end := bytes.IndexByte(b, '>')
	if end < 0 {
		return nil
	}
	return b[end+1:]
}

// noteImage notes the address of the image whose tag begins b, without its query: pages that differ in their images
// alone are not the same.
func (w *Words) noteImage(b []byte) {
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
	w.images += mix(h)
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
