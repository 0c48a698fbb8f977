package virtualize

import (
	"cmp"
	"slices"
)

// model is what a segment believes about its items: the lengths in bits of all codes, by symbol. It stands in the
// segment's head, so what is learned from a crawl serves its later segments, whatever its web looks like.
type model struct {
	char   [contexts][charSyms]uint8 // by the byte before
	share  [countSyms]uint8          // how many bytes an item shares with the one before
	copied [countSyms]uint8          // how much longer than the shortest a copy is
}

const modelBytes = (contexts*charSyms + 2*countSyms + 1) / 2

// each calls f with the lengths of all codes, in the order of their bytes.
func (m *model) each(f func(i int, lengths []uint8)) {
	for i := range m.char {
		f(i, m.char[i][:])
	}
	f(contexts, m.share[:])
	f(contexts+1, m.copied[:])
}

// firstModel is what is believed before anything was seen.
func firstModel() *model {
	m := &model{}
	at := 0
	m.each(func(_ int, lengths []uint8) {
		for sym := range lengths {
			digit := firstLengths[at]
			lengths[sym] = digit - '0'
			if digit >= 'a' {
				lengths[sym] = digit - 'a' + 10
			}
			at++
		}
	})
	return m
}

// put writes four bits for each length.
func (m *model) put(dst []byte) {
	at := 0
	m.each(func(_ int, lengths []uint8) {
		for _, l := range lengths {
			dst[at/2] = dst[at/2]&(15<<(4-at%2*4)) | l<<(at%2*4)
			at++
		}
	})
}

func parseModel(src []byte) *model {
	m := &model{}
	at := 0
	m.each(func(_ int, lengths []uint8) {
		for sym := range lengths {
			lengths[sym] = src[at/2] >> (at % 2 * 4) & 15
			at++
		}
	})
	return m
}

// tally counts the symbols that were written.
type tally struct {
	char   [contexts][charSyms]uint32
	share  [countSyms]uint32
	copied [countSyms]uint32
}

// learn is the best model for what was counted. What the old one thought frequent remains possible.
func (t *tally) learn(old *model) *model {
	m := &model{}
	*m = *old
	m.each(func(i int, lengths []uint8) {
		counts := t.share[:]
		if i < contexts {
			counts = t.char[i][:]
		} else if i > contexts {
			counts = t.copied[:]
		}
		weights := make([]uint64, len(counts))
		for sym, n := range counts {
			weights[sym] = uint64(n)<<4 + 1<<(codeBits-lengths[sym])
		}
		limitedLengths(weights, lengths)
	})
	return m
}

// limitedLengths finds the lengths of the best prefix code none of which is longer than codeBits (package-merge).
func limitedLengths(weights []uint64, lengths []uint8) {
	order := make([]int, len(weights))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weights[a], weights[b]) })
	// A level's list has the symbols, and the pairs of the level below; leaf says which is a symbol.
	var list []uint64
	var leaf [codeBits][]bool
	for level := range leaf {
		var next []uint64
		pair, sym := 0, 0
		for pair+1 < len(list) || sym < len(order) {
			if sym < len(order) && (pair+1 >= len(list) || weights[order[sym]] <= list[pair]+list[pair+1]) {
				next = append(next, weights[order[sym]])
				leaf[level] = append(leaf[level], true)
				sym++
			} else {
				next = append(next, list[pair]+list[pair+1])
				leaf[level] = append(leaf[level], false)
				pair += 2
			}
		}
		list = next
	}
	clear(lengths)
	take := 2*len(order) - 2
	for level := codeBits - 1; level >= 0; level-- {
		syms := 0
		for _, is := range leaf[level][:take] {
			if is {
				lengths[order[syms]]++
				syms++
			}
		}
		take = 2 * (take - syms)
	}
}
