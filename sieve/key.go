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
	keyBytes   = 9
	offsetBits = 56
	offsetMask = 1<<offsetBits - 1
)

func keyOf(fp xxh3.Uint128) key { return key{hi: fp.Hi, lo: uint8(fp.Lo >> offsetBits)} }

func (k key) less(o key) bool { return k.hi < o.hi || k.hi == o.hi && k.lo < o.lo }

func (k key) compare(o key) int {
	if c := cmp.Compare(k.hi, o.hi); c != 0 {
		return c
	}
	return cmp.Compare(k.lo, o.lo)
}

// entry is one key in a bucket with the place of its payload. The place fills the low 56 bits of lo and grows with
// arrival, so that comparing the two words compares by key first and then by arrival.
type entry struct{ hi, lo uint64 }

func newEntry(k key, offset uint64) entry {
	return entry{hi: k.hi, lo: uint64(k.lo)<<offsetBits | offset}
}

func (e entry) key() key       { return key{hi: e.hi, lo: uint8(e.lo >> offsetBits)} }
func (e entry) offset() uint64 { return e.lo & offsetMask }

func compareEntries(a, b entry) int {
	if c := cmp.Compare(a.hi, b.hi); c != 0 {
		return c
	}
	return cmp.Compare(a.lo, b.lo)
}

const (
	insertionMax = 32
	radixBitsMax = 16
)

// sortEntries sorts by key, then arrival. Fingerprints are spread evenly, so one pass that puts each entry into the
// drawer of its highest bits, in place, leaves drawers of some sixteen entries, which are sorted one by one. Uneven keys
// are only slower: a long drawer is sorted by comparison.
func sortEntries(e []entry) {
	if len(e) <= insertionMax {
		insertionSort(e)
		return
	}
	width := min(bits.Len(uint(len(e)/16)), radixBitsMax)
	shift := 64 - width
	ends := make([]int, 1<<width)
	for i := range e {
		ends[e[i].hi>>shift]++
	}
	next := make([]int, 1<<width)
	at := 0
	for d, n := range ends {
		next[d] = at
		at += n
		ends[d] = at
	}
	for d := range ends {
		for i := next[d]; i < ends[d]; i++ {
			x := e[i]
			for home := x.hi >> shift; home != uint64(d); home = x.hi >> shift {
				e[next[home]], x = x, e[next[home]]
				next[home]++
			}
			e[i] = x
		}
		next[d] = ends[d]
	}
	from := 0
	for _, to := range ends {
		if to-from <= insertionMax {
			insertionSort(e[from:to])
		} else {
			slices.SortFunc(e[from:to], compareEntries)
		}
		from = to
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
