package tokens

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// kind is what a character is for the division of a text.
type kind byte

const (
	alphabetic kind = iota
	digit
	space
	sign
)

// kindAt returns the kind of the next character, and its length.
func kindAt(text []byte) (k kind, size int) {
	c := text[0]
	if c < utf8.RuneSelf {
		switch {
		case c|0x20-'a' <= 'z'-'a':
			return alphabetic, 1
		case c-'0' <= 9:
			return digit, 1
		case c == ' ' || c-'\t' <= '\r'-'\t':
			return space, 1
		}
		return sign, 1
	}
	r, size := utf8.DecodeRune(text)
	switch {
	case unicode.IsLetter(r):
		return alphabetic, size
	case unicode.Is(unicode.N, r):
		return digit, size
	case unicode.IsSpace(r):
		return space, size
	}
	return sign, size
}

// pieceLength returns the length of the first piece of a text that is not empty. A piece is the end of a contraction,
// a run of letters, digits or signs with a space before it, or white space without the last character before a word.
func pieceLength(text []byte) int {
	if text[0] == '\'' {
		for _, end := range []string{"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"} {
			if bytes.HasPrefix(text, []byte(end)) {
				return len(end)
			}
		}
	}
	at := 0
	if text[0] == ' ' && len(text) > 1 {
		at = 1
	}
	first, size := kindAt(text[at:])
	if first == space {
		return spaceLength(text)
	}
	at += size
	for at < len(text) {
		next, size := kindAt(text[at:])
		if next != first {
			break
		}
		at += size
	}
	return at
}

// spaceLength returns the length of a piece of white space.
func spaceLength(text []byte) int {
	at, last := 0, 0
	for at < len(text) {
		k, size := kindAt(text[at:])
		if k != space {
			break
		}
		last = at
		at += size
	}
	if at < len(text) && last > 0 {
		return last // the last character belongs to the next piece, or is one
	}
	return at
}
