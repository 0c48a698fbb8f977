package sieve

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/zeebo/xxh3"
)

// key is what the sieve keeps of a fingerprint: its 72 high bits. doc.go says why that is enough.
type key struct {
	hi uint64
	lo uint8
}

const (
	keyBytes    = 9
	arrivalBits = 56
	arrivalMask = 1<<arrivalBits - 1
)

func keyOf(fp xxh3.Uint128) key { return key{hi: fp.Hi, lo: uint8(fp.Lo >> arrivalBits)} }

func (k key) less(o key) bool { return k.hi < o.hi || k.hi == o.hi && k.lo < o.lo }

func (k key) compare(o key) int {
	if c := cmp.Compare(k.hi, o.hi); c != 0 {
		return c
	}
	return cmp.Compare(k.lo, o.lo)
}

// entry is one key in a bucket with the number of its payload, which fills the low 56 bits of lo, so that comparing the
// two words compares by key first and then by arrival.
type entry struct{ hi, lo uint64 }

func newEntry(k key, arrival uint64) entry {
	return entry{hi: k.hi, lo: uint64(k.lo)<<arrivalBits | arrival}
}

func (e entry) key() key        { return key{hi: e.hi, lo: uint8(e.lo >> arrivalBits)} }
func (e entry) arrival() uint64 { return e.lo & arrivalMask }

func compareEntries(a, b entry) int {
	if c := cmp.Compare(a.hi, b.hi); c != 0 {
		return c
	}
	return cmp.Compare(a.lo, b.lo)
}

// sortArrivals sorts by number.
func sortArrivals(e []entry) {
	slices.SortFunc(e, func(a, b entry) int { return cmp.Compare(a.arrival(), b.arrival()) })
}

const (
	insertionMax = 32
	drawerMean   = 16    // entries in a drawer of the last pass
	cachedMax    = 16384 // entries that a pass may throw about at random without missing the cache
	radixBitsMax = 11
)

// sortEntries sorts by key, then arrival. Fingerprints are spread evenly, so a pass that puts each entry into the drawer
// of its highest bits, in place, leaves drawers of much the same length: of some sixteen entries, which are sorted by
// insertion, or so many that the next pass over one of them stays in the cache. Uneven keys are only slower.
func sortEntries(e []entry) { sortDrawers(e, 64) }

// sortDrawers sorts entries whose hi differ only in the low bits.
func sortDrawers(e []entry, low int) {
	if len(e) <= insertionMax {
		insertionSort(e)
		return
	}
	width := bits.Len(uint(len(e) / drawerMean))
	if len(e) > cachedMax {
		width = bits.Len(uint(len(e) / (cachedMax / 2)))
	}
	width = min(width, radixBitsMax, low)
	if width == 0 {
		slices.SortFunc(e, compareEntries)
		return
	}
	var bounds [1<<radixBitsMax + 1]uint32
	drawers := bounds[:1<<width+1]
	distribute(e, low-width, drawers)
	for d := 1; d < len(drawers); d++ {
		sortDrawers(e[drawers[d-1]:drawers[d]], low-width)
	}
}

// distribute orders entries by the bits of hi from shift on, of which there are log2(len(bounds)-1). Drawer d is then
// from bounds[d] to bounds[d+1].
func distribute(e []entry, shift int, bounds []uint32) {
	mask := uint64(len(bounds) - 2)
	for i := range e {
		bounds[e[i].hi>>shift&mask+1]++
	}
	for d := 1; d < len(bounds); d++ {
		bounds[d] += bounds[d-1]
	}
	var cursors [1 << radixBitsMax]uint32
	next := cursors[:len(bounds)-1]
	copy(next, bounds)
	for d := range next {
		for i := next[d]; i < bounds[d+1]; i = next[d] {
			x := e[i]
			for home := x.hi >> shift & mask; home != uint64(d); home = x.hi >> shift & mask {
				at := next[home]
				next[home]++
				e[at], x = x, e[at]
			}
			e[i] = x
			next[d]++
		}
	}
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
