package simhash

import (
	"slices"
	"strings"
	"testing"
)

func hashes(text string) []uint64 {
	var h WordHasher
	return h.Hashes(nil, []byte(text))
}

// Texts that differ in case, accents, punctuation, numbers and white space only have the same words.
func TestHashes_normalised(t *testing.T) {
	for text, same := range map[string]string{
		"The CAFÉ, in 1984!":      "the cafe in 7",
		" a\u00a0b\r\n\tc ":       "a b c",
		"don't \u2014 e-mail":     "dont email",
		"cafe\u0301 \u00c5sa":     "cafe asa",
		"\u0663 \u0664\u0665":     "0 0",
		"v1.2.3":                  "v0",
		"\u6f22\u5b57 x":          "\u6f22 \u5b57 x",
		"\u0421\u041b\u041e":      "\u0441\u043b\u043e",
		"... \xff\xfe \U0001F600": "",
	} {
		if got, want := hashes(text), hashes(same); !slices.Equal(got, want) {
			t.Errorf("%q and %q: %x and %x", text, same, got, want)
		}
	}
	if n := len(hashes(strings.Repeat("x", 1000))); n != 1 {
		t.Errorf("%d words", n)
	}
}

// Five words have one shingle of five, and four have none.
func TestShingles(t *testing.T) {
	words := hashes("a b c d e f")
	if got := Shingles(nil, words, 5); len(got) != 2 || got[0] == got[1] || got[1] != WordHash(words[1:]) {
		t.Errorf("%x", got)
	}
	if got := Shingles(nil, words[:4], 5); len(got) != 0 {
		t.Errorf("%x", got)
	}
}

// The words of two texts with a space between them are those of the first and of the second, for any bytes.
func FuzzHasher(f *testing.F) {
	for _, text := range []string{
		"The CAFÉ", "\xff\xe6\xbc", "\u0301x 12\u0663", "\u6f22\u5b57\u0e01\u0e33", "\ufb01 \u1e9b\u0323",
	} {
		f.Add([]byte(text), []byte("next 1"))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		want := append(hashes(string(a)), hashes(string(b))...)
		got := hashes(string(a) + " " + string(b))
		if !slices.Equal(got, want) || len(got) > len(a)+len(b) {
			t.Errorf("%q, %q: %d words, want %d", a, b, len(got), len(want))
		}
	})
}
