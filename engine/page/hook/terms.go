package hook

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"unicode/utf8"
)

// Bounds of terms.
const (
	termsRead = 64 << 10 // bytes of a page that are read
	wordsMost = 1000     // of them
	termsMost = 400      // that are counted at a time
	termsTold = 50       // in a question
	termLeast = 3        // bytes of a term
	termMost  = 40
)

// terms counts the words of a site. If there are too many, all counts fall by one, and those at zero are forgotten
// (Misra and Gries): a word is in it for certain if more than one of termsMost words is this word.
type terms struct{ counts map[string]int }

// add counts the first words of a page, which is HTML or plain text, and returns how its text begins.
func (t *terms) add(page []byte) (text string) {
	if t.counts == nil {
		t.counts = make(map[string]int, termsMost)
	}
	begins, left := []byte{}, wordsMost
	for page = page[:min(len(page), termsRead)]; len(page) > 0 && left > 0; {
		end := bytes.IndexByte(page, '<')
		if end < 0 {
			end = len(page)
		}
		for word := range bytes.FieldsFuncSeq(page[:end], isBetweenWords) {
			if left--; left < 0 {
				break
			}
			if len(begins)+len(word) < sampleText {
				begins = append(append(begins, word...), ' ')
			}
			if len(word) >= termLeast && len(word) <= termMost {
				t.count(bytes.ToLower(word))
			}
		}
		page = afterTag(page[end:])
	}
	return string(bytes.ToValidUTF8(bytes.TrimSpace(begins), []byte{}))
}

func (t *terms) count(word []byte) {
	if _, isKnown := t.counts[string(word)]; isKnown || len(t.counts) < termsMost {
		t.counts[string(word)]++
		return
	}
	for other := range t.counts {
		if t.counts[other]--; t.counts[other] == 0 {
			delete(t.counts, other)
		}
	}
}

// top returns the most frequent words.
func (t *terms) top() map[string]int {
	words := slices.SortedFunc(maps.Keys(t.counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.counts[b], t.counts[a]), cmp.Compare(a, b))
	})
	told := make(map[string]int, termsTold)
	for _, word := range words {
		if utf8.ValidString(word) && len(told) < termsTold {
			told[word] = t.counts[word]
		}
	}
	return told
}

// isBetweenWords reports whether a character is no part of a word: of ASCII all but letters and digits.
func isBetweenWords(r rune) bool {
	return r < utf8.RuneSelf && (r|0x20 < 'a' || r|0x20 > 'z') && (r < '0' || r > '9') || r == 0xa0 || r == utf8.RuneError
}

// afterTag returns what follows the tag with which b begins; a script or style with its content.
func afterTag(b []byte) []byte {
	for _, name := range [...]string{"script", "style"} {
		if len(b) > 0 && hasPrefixFold(b[1:], name) {
			b = closingTag(b, name)
		}
	}
	if end := bytes.IndexByte(b, '>'); end >= 0 {
		return b[end+1:]
	}
	return nil
}

// closingTag returns b from the closing tag with the name on; nil if there is none.
func closingTag(b []byte, name string) []byte {
	for {
		at := bytes.Index(b, []byte("</"))
		if at < 0 {
			return nil
		}
		if b = b[at:]; hasPrefixFold(b[2:], name) {
			return b
		}
		b = b[2:]
	}
}

func hasPrefixFold(b []byte, name string) bool {
	return len(b) >= len(name) && bytes.EqualFold(b[:len(name)], []byte(name))
}
