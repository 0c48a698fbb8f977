package simhash

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
	"golang.org/x/text/unicode/norm"
)

// wordMax is how many bytes of a word count.
const wordMax = 256

// WordHasher hashes words.
type WordHasher struct {
	word   [wordMax]byte
	n      int // bytes of word
	hashes []uint64
}

// Hashes appends the hash of each word of a text to dst.
func (h *WordHasher) Hashes(dst []uint64, text []byte) []uint64 {
	h.n, h.hashes = 0, dst
	for i := 0; i < len(text); {
		c := text[i]
		if letter := c | 0x20; 'a' <= letter && letter <= 'z' {
			i++
			if h.n < wordMax {
				h.word[h.n] = letter
				h.n++
			}
			continue
		}
		if c < utf8.RuneSelf {
			i++
			switch {
			case c <= ' ':
				h.end()
			case '0' <= c && c <= '9':
				h.addDigit()
			}
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		h.wide(r, text[i:i+size])
		i += size
	}
	h.end()
	dst, h.hashes = h.hashes, nil
	return dst
}

// wide takes a character beyond ASCII; b is its UTF-8.
func (h *WordHasher) wide(r rune, b []byte) {
	switch {
	case unicode.IsSpace(r):
		h.end()
	case unicode.IsDigit(r):
		h.addDigit()
	case !unicode.IsLetter(r) && !unicode.IsMark(r):
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer,
		unicode.Myanmar):
		h.end()
		h.addRune(r)
		h.end()
	default:
		plain := norm.NFD.Properties(b).Decomposition()
		if plain == nil {
			h.addRune(r)
			return
		}
		for _, r := range string(plain) {
			h.addRune(r)
		}
	}
}

// addRune adds a letter in lower case. Accents are left out.
func (h *WordHasher) addRune(r rune) {
	if unicode.Is(unicode.Mn, r) {
		return
	}
	var b [utf8.UTFMax]byte
	for _, c := range b[:utf8.EncodeRune(b[:], unicode.ToLower(r))] {
		h.add(c)
	}
}

// addDigit adds "0" for a run of digits.
func (h *WordHasher) addDigit() {
	if h.n == 0 || h.word[h.n-1] != '0' {
		h.add('0')
	}
}

func (h *WordHasher) add(c byte) {
	if h.n < wordMax {
		h.word[h.n] = c
		h.n++
	}
}

// end ends a word, if there is one.
func (h *WordHasher) end() {
	if h.n > 0 {
		h.hashes = append(h.hashes, xxh3.Hash(h.word[:h.n]))
		h.n = 0
	}
}

// Shingles appends the hash of each n words in a row to dst: none for fewer words.
func Shingles(dst, words []uint64, n int) []uint64 {
	for i := 0; i+n <= len(words); i++ {
		dst = append(dst, WordHash(words[i:i+n]))
	}
	return dst
}

// listed is how many values Hash takes without memory of its own.
const listed = 16

// WordHash returns the hash of a list.
func WordHash(values []uint64) uint64 {
	var b [listed * 8]byte
	bytes := b[:0]
	for _, v := range values {
		bytes = binary.LittleEndian.AppendUint64(bytes, v)
	}
	return xxh3.Hash(bytes)
}
