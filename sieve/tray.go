package sieve

import (
	"math/bits"
	"slices"
)

const (
	fanMean    = 2  // entries that a pile has on average
	fanBitsMax = 14 // of piles
	// insertionMax: a pile of more entries is sorted as any others are, since its keys are not evenly spread.
	insertionMax = 32
)

// tray is where a flush sorts and sifts the entries of one drawer.
type tray struct {
	entries []entry  // those that are still to be kept, by key
	dropped []uint64 // arrivals of the others
	hits    []uint8  // for whoever looks entries up
	piles   [1<<fanBitsMax + 1]uint32
}

// lay puts the entries of a drawer onto the tray, sorted by key and then by arrival. Fingerprints are spread evenly, so
// dealing them out to piles by their next bits leaves piles of some entries, which are sorted by insertion.
func (t *tray) lay(dr *drawer, shift uint) {
	dr.settle()
	n := dr.len()
	t.entries = slices.Grow(t.entries[:0], n)[:n]
	t.dropped = slices.Grow(t.dropped[:0], n)[:0]
	t.hits = slices.Grow(t.hits[:0], n)[:n]
	width := min(uint(bits.Len(uint(n/fanMean))), fanBitsMax, shift)
	piles := t.piles[:1<<width+1]
	clear(piles)
	shift = (shift - width) & 63 // 64 is only with one pile, which the mask finds
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
			t.entries[*next] = entry{hi: hi, lo: uint64(p.lo())<<arrivalBits | (s.base + p.since())}
			*next++
		}
	}
	// A pile ends where the next one began.
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

// once keeps the earliest of equal keys. It returns how many it dropped.
func (t *tray) once() int {
	for i := range t.entries {
		t.hits[i] = 0
		if i > 0 && t.entries[i].key() == t.entries[i-1].key() {
			t.hits[i] = 1
		}
	}
	return t.sift()
}

// sift drops the entries with a hit. It returns how many.
func (t *tray) sift() int {
	entries := t.entries
	hits := t.hits[:len(entries)]
	dropped := t.dropped[:cap(t.dropped)]
	kept, gone := 0, len(t.dropped)
	// Half of them go, and nobody could foretell which: so each is written to both places, and one of the two is kept.
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
