package virtualize

import (
	"cmp"
	"slices"
)

// model is the model of the items of a segment: the lengths in bits of all codes, by symbol. It is stored in the head
// of the segment. Later segments of a crawl get models that are computed from earlier ones.
type model struct {
	char   [contexts][charSyms]uint8 // by the preceding byte
	share  [countSyms]uint8          // number of bytes that an item shares with the item before
	copied [countSyms]uint8          // length of a copy, minus the shortest
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

// firstModel returns the model that is used before any item was counted.
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

// tally counts written symbols.
type tally struct {
	char   [contexts][charSyms]uint32
	share  [countSyms]uint32
	copied [countSyms]uint32
}

// learn returns the best model for the counted symbols. Symbols that were frequent in the old model keep a code.
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

// limitedLengths computes the lengths of the best prefix code with codes up to codeBits bits. It uses the package-merge
// algorithm of Larmore and Hirschberg.
func limitedLengths(weights []uint64, lengths []uint8) {
	order := make([]int, len(weights))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weights[a], weights[b]) })
	// The list of a level has the symbols and the pairs of the level below; leaf marks the symbols.
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
