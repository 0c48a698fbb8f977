package novelty

import (
	"math/bits"
	"slices"
)

// block is a filter of 512 bits, one cache line.
type block [8]uint64

const (
	blockBytes = 64
	blockWords = 40 // average number of words in a full block; then one lookup in 25 is wrong
)

// sketch remembers recent words in two filters. New words are added to the current one, lookups use both. When the
// current one is full it becomes the previous one, whose words are forgotten.
type sketch struct {
	current, previous []block
	blocks            int // of each filter
	wordCount         int // words in current
}

// add adds a word, a hash with random bits, and reports whether it is new.
func (s *sketch) add(word uint64) (fresh bool) {
	if s.current == nil {
		s.current = make([]block, s.blocks)
	}
	at, which := bits.Mul64(word, uint64(s.blocks))
	which ^= word
	if s.current[at].has(which) {
		return false
	}
	fresh = s.previous == nil || !s.previous[at].has(which)
	if s.wordCount >= s.blocks*blockWords {
		s.current, s.previous, s.wordCount = s.previous, s.current, 0
		if s.current == nil {
			s.current = make([]block, s.blocks)
		}
		clear(s.current)
	}
	s.current[at].set(which)
	s.wordCount++
	return fresh
}

// has reports whether a word is known. It does not add it.
func (s *sketch) has(word uint64) bool {
	at, which := bits.Mul64(word, uint64(s.blocks))
	which ^= word
	return s.current != nil && s.current[at].has(which) || s.previous != nil && s.previous[at].has(which)
}

// bytes returns the memory of the filters in bytes.
func (s *sketch) bytes() int64 { return int64(len(s.current)+len(s.previous)) * blockBytes }

func (b *block) has(bits uint64) bool {
	for range 4 {
		if b[bits>>6&7]&(1<<(bits&63)) == 0 {
			return false
		}
		bits >>= 9
	}
	return true
}

func (b *block) set(bits uint64) {
	for range 4 {
		b[bits>>6&7] |= 1 << (bits & 63)
		bits >>= 9
	}
}

// How much a page must have that its site did not have before: one word, or pairsNew pairs, or figuresNew figures.
const (
	pairsNew   = 4 // one pair in pairsOf counts, so that these are about sixteen
	figuresNew = 8
)

// freshWords is what a page has that its site did not have before.
type freshWords struct {
	single  []uint64
	pairs   []pair
	figures []figure
}

// suffices reports whether a page is new that needs so many new words.
func (f *freshWords) suffices(need int) bool {
	return len(f.single) >= need || len(f.pairs) >= need*pairsNew || len(f.figures) >= need*figuresNew
}

// addAll adds the words of a page, and notes which of them are new. A figure is not new if the next or previous one is
// known: a page that counts on says nothing new.
func (s *sketch) addAll(group uint64, w *Words) {
	f := &w.fresh
	f.single, f.pairs, f.figures = f.single[:0], f.pairs[:0], f.figures[:0]
	for _, h := range w.single {
		if s.add(mix(h ^ group)) {
			f.single = append(f.single, h)
		}
	}
	for _, p := range w.pairs {
		if s.add(mix(p.hash ^ group)) {
			f.pairs = append(f.pairs, p)
		}
	}
	for _, one := range w.figures {
		if s.add(mix(one.hash(0)^group)) && !s.has(mix(one.hash(1)^group)) && !s.has(mix(one.hash(-1)^group)) {
			f.figures = append(f.figures, one)
		}
	}
}

// isNew reports whether the page whose words addAll has added is new: it has need new words without those that stand in
// an address, or as much of pairs or figures.
func (w *Words) isNew(need int, own []byte, others Addresses) bool {
	f, a := &w.fresh, &w.addresses
	if !f.suffices(need) {
		return false
	}
	a.read(own, others)
	f.single = slices.DeleteFunc(f.single, a.has)
	f.pairs = slices.DeleteFunc(f.pairs, func(p pair) bool { return a.has(p.first) || a.has(p.second) })
	f.figures = slices.DeleteFunc(f.figures, a.hasNear)
	return f.suffices(need)
}
