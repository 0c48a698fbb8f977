package traps

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// language makes text: words as often as in a real one, names that come up once, and babble that is made of pairs of
// words that were used before.
type language struct {
	words []string
	zipf  func(r *rand.Rand) int
	after map[string][]string // what followed a word in what was learnt
	first []string
}

const vocabulary = 12_000

// newLanguage invents one, and learns to babble from so many articles.
func newLanguage(seed uint64, learnt int) *language {
	r := rand.New(rand.NewPCG(seed, 1))
	l := &language{after: map[string][]string{}}
	for range vocabulary {
		l.words = append(l.words, invent(r))
	}
	z := rand.NewZipf(r, 1.05, 4, vocabulary-1)
	table := make([]int, 1<<16)
	for i := range table {
		table[i] = int(z.Uint64())
	}
	l.zipf = func(r *rand.Rand) int { return table[r.IntN(len(table))] }
	for n := range learnt {
		before := ""
		for word := range strings.FieldsSeq(l.article(uint64(n)+1<<40, 150)) {
			if before == "" {
				l.first = append(l.first, word)
			} else {
				l.after[before] = append(l.after[before], word)
			}
			before = word
		}
	}
	return l
}

func invent(r *rand.Rand) string {
	const starts, middles = "bcdfghklmnprstvwz", "aeiou"
	var b strings.Builder
	for range 1 + r.IntN(4) {
		b.WriteByte(starts[r.IntN(len(starts))])
		b.WriteByte(middles[r.IntN(len(middles))])
	}
	return b.String() + string(starts[r.IntN(len(starts))])
}

// article is the text of an honest page: always the same for the same number.
func (l *language) article(n uint64, words int) string {
	r := rand.New(rand.NewPCG(n, 2))
	var b strings.Builder
	for i := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(l.words[l.zipf(r)])
	}
	return b.String()
}

// babble is text without end: each word has followed the one before it in something that was learnt.
func (l *language) babble(n uint64, words int) string {
	r := rand.New(rand.NewPCG(n, 3))
	var b strings.Builder
	word := l.first[r.IntN(len(l.first))]
	for range words {
		b.WriteString(word)
		b.WriteByte(' ')
		next := l.after[word]
		if len(next) == 0 {
			next = l.first
		}
		word = next[r.IntN(len(next))]
	}
	return b.String()
}

// page writes a document around a text, with the links that stand on every page of the site behind its own.
func page(title, text string, links ...string) []byte {
	var b strings.Builder
	fmt.Fprintf(
		&b,
		"<!DOCTYPE html>\n<html><head><title>%s</title><style>p { margin: 0 }</style></head>\n<body><div "+
			"class=\"menu\">Home News About Contact Imprint</div>\n",
		title,
	)
	fmt.Fprintf(&b, "<h1>%s</h1>\n<p>%s</p>\n<ul>\n", title, text)
	for _, to := range links {
		fmt.Fprintf(&b, "<li><a href=\"%s\">more</a></li>\n", strings.ReplaceAll(to, "&", "&amp;"))
	}
	b.WriteString("</ul>\n<footer>All rights reserved</footer></body></html>\n")
	return []byte(b.String())
}
