package tokens

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// vocabularyFile has a token for each byte, and these ones in the order of their ranks.
func vocabularyFile(joined ...string) []byte {
	var file bytes.Buffer
	rank := 0
	add := func(token []byte) {
		fmt.Fprintf(&file, "%s %d\n", base64.StdEncoding.EncodeToString(token), rank)
		rank++
	}
	for b := range 256 {
		add([]byte{byte(b)})
	}
	for _, token := range joined {
		add([]byte(token))
	}
	return file.Bytes()
}

func opened(tb testing.TB, file []byte) *Vocabulary {
	tb.Helper()
	v, err := Open(file)
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

// naive joins the pair with the lowest rank, again and again, and looks at all pairs each time.
func naive(v *Vocabulary, piece []byte) int64 {
	if _, ok := v.ranks[string(piece)]; ok {
		return 1
	}
	var parts []string
	for _, b := range piece {
		parts = append(parts, string([]byte{b}))
	}
	for {
		best, at := int32(-1), 0
		for i := range len(parts) - 1 {
			if rank, ok := v.ranks[parts[i]+parts[i+1]]; ok && (best < 0 || rank < best) {
				best, at = rank, i
			}
		}
		if best < 0 {
			return int64(len(parts))
		}
		parts = slices.Replace(parts, at, at+2, parts[at]+parts[at+1])
	}
}

// TK1: the number of tokens is that of the plain method, for vocabularies whose tokens overlap.
func TestCount_TK1(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var joined []string
		for range 30 {
			token := make([]byte, 2+r.IntN(4))
			for i := range token {
				token[i] = "ab\xc3"[r.IntN(3)]
			}
			joined = append(joined, string(token))
		}
		v := opened(t, vocabularyFile(joined...))
		c := v.NewCounter()
		for range 20 {
			piece := make([]byte, 1+r.IntN(60))
			for i := range piece {
				piece[i] = "ab\xc3"[r.IntN(3)]
			}
			if got, want := c.join(piece), naive(v, piece); len(piece) > v.longest && got != want {
				t.Fatalf("%q with %q: %d, want %d", piece, joined, got, want)
			}
		}
	}
}

// Texts are divided as GPT-2 divides them.
func TestPieceLength(t *testing.T) {
	for text, want := range map[string]string{
		"Hello, world!":                       "Hello|,| world|!",
		"I'm don't we'll 'LL x's":             "I|'m| don|'t| we|'ll| '|LL| x|'s",
		"a  b\n\nc \n":                        "a| | b|\n|\n|c| \n",
		"  x":                                 " | x",
		"\t\ty 12ab":                          "\t|\t|y| 12|ab",
		"\u00a0\u00a0b":                       "\u00a0|\u00a0|b",
		"na\u00efve \u4e16\u754c\u3002\u00b2": "na\u00efve| \u4e16\u754c|\u3002|\u00b2",
		" ":                                   " ", "   ": "   ", " \U0001f577!": " \U0001f577!",
	} {
		var got []string
		for rest := []byte(text); len(rest) > 0; {
			n := pieceLength(rest)
			got, rest = append(got, string(rest[:n])), rest[n:]
		}
		if strings.Join(got, "|") != want {
			t.Errorf("%q: %q, want %q", text, strings.Join(got, "|"), want)
		}
	}
}

// A text of several pieces has the tokens of all of them.
func TestCount_text(t *testing.T) {
	c := opened(t, vocabularyFile("th", "the", " the", " w", "or")).NewCounter()
	for text, want := range map[string]int64{"": 0, "the": 1, "the the": 2, " word": 3, "thx  the": 4} {
		if got := c.Count([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// What is not a vocabulary is refused, with the line.
func TestOpen_errors(t *testing.T) {
	sound := vocabularyFile("ab")
	for name, file := range map[string][]byte{
		"empty": nil, "a page": []byte("<html>"), "no rank": append(bytes.Clone(sound), "YWI=\n"...),
		"negative": append(bytes.Clone(sound), "YWI= -1\n"...), "cut": sound[:len(sound)/2],
		"long": append(bytes.Clone(sound), strings.Repeat("YWIB", 2000)+" 9\n"...),
	} {
		if _, err := Open(file); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A vocabulary from anywhere counts no more tokens than a text has bytes, and at least one.
func FuzzCount(f *testing.F) {
	f.Add("YWI= 300\nYWJj 12\n", []byte("abc ab 'll\u00fc"))
	f.Fuzz(func(t *testing.T, lines string, text []byte) {
		v, err := Open(append(vocabularyFile(), lines...))
		if err != nil {
			return
		}
		if n := v.NewCounter().Count(text); n > int64(len(text)) || n == 0 && len(text) > 0 {
			t.Fatal(n)
		}
	})
}

// A long piece costs little more than short ones.
func BenchmarkCount(b *testing.B) {
	v := opened(b, vocabularyFile("aa", "aaaa", "aaaaaaaa"))
	for name, text := range map[string][]byte{
		"short": bytes.Repeat([]byte("aaa "), 1<<11), "long": bytes.Repeat([]byte("a"), 1<<13),
	} {
		b.Run(name, func(b *testing.B) {
			c := v.NewCounter()
			b.ReportAllocs()
			for b.Loop() {
				c.Count(text)
			}
		})
	}
}
