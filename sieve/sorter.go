package sieve

import (
	"math/bits"
	"slices"
)

const (
	groupMean    = 2  // average entries per group
	groupBitsMax = 14 // of the number of groups
	// insertionMax: a group with more entries is sorted by slices.SortFunc, because its keys are not spread evenly.
	insertionMax = 32
)

// sorter sorts and filters the entries of one drawer during a flush.
type sorter struct {
	entries []entry  // remaining entries, by key
	dropped []uint64 // arrivals of the dropped entries
	hits    []uint8  // results of lookups, one per entry
	groups  [1<<groupBitsMax + 1]uint32
}

// load reads the entries of a drawer and sorts them by key and then by arrival. Fingerprints are spread evenly, so
// distributing them by their next bits makes groups of a few entries, which are sorted by insertion.
func (t *sorter) load(dr *drawer, shift uint) {
	dr.storeTail()
	n := dr.len()
	t.entries = slices.Grow(t.entries[:0], n)[:n]
	t.dropped = slices.Grow(t.dropped[:0], n)[:0]
	t.hits = slices.Grow(t.hits[:0], n)[:n]
	width := min(uint(bits.Len(uint(n/groupMean))), groupBitsMax, shift)
	piles := t.groups[:1<<width+1]
	clear(piles)
	shift = (shift - width) & 63 // 64 occurs only with a single group, for which the mask is 0
	mask := uint64(1)<<width - 1
	for s := dr.first; s != nil; s = s.next {
		for i := range s.entries {
			piles[s.entries[i].hi()>>shift&mask+1]++
		}
	}
	for i := 1; i < len(piles); i++ {
		piles[i] += piles[i-1]
	}
	for s := dr.first; s != nil; s = s.next {
		for i := range s.entries {
			p := &s.entries[i]
			hi := p.hi()
			next := &piles[hi>>shift&mask]
			t.entries[*next] = entry{hi: hi, lo: uint64(p.lo())<<arrivalBits | (s.base + p.arrivalOffset())}
			*next++
		}
	}
	// A group ends where the next one started.
	begin := uint32(0)
	for _, end := range piles[:len(piles)-1] {
		if end-begin > insertionMax {
			slices.SortFunc(t.entries[begin:end], compareEntries)
		}
		begin = end
	}
	insertionSort(t.entries)
}

func insertionSort(e []entry) {
	for i := 1; i < len(e); i++ {
		x, j := e[i], i
		for ; j > 0 && (x.hi < e[j-1].hi || x.hi == e[j-1].hi && x.lo < e[j-1].lo); j-- {
			e[j] = e[j-1]
		}
		e[j] = x
	}
}

// dropRepeated keeps the earliest of equal keys. It returns the number of dropped entries.
func (t *sorter) dropRepeated() int {
	for i := range t.entries {
		t.hits[i] = 0
		if i > 0 && t.entries[i].key() == t.entries[i-1].key() {
			t.hits[i] = 1
		}
	}
	return t.dropHits()
}

// dropHits drops the entries with a hit. It returns their number.
func (t *sorter) dropHits() int {
	entries := t.entries
	hits := t.hits[:len(entries)]
	dropped := t.dropped[:cap(t.dropped)]
	kept, gone := 0, len(t.dropped)
	// About half of the entries are dropped, unpredictably. So each entry is written to both places without a branch,
	// and only one place advances.
	for i := range entries {
		e, hit := entries[i], int(hits[i])
		entries[kept] = e
		kept += 1 - hit
		dropped[gone] = e.arrival()
		gone += hit
	}
	t.entries, t.dropped = entries[:kept], dropped[:gone]
	return len(entries) - kept
}
