package novelty

import "slices"

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
