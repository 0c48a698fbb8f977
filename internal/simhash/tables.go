package simhash

import (
	"math/bits"
	"slices"
)

// Distance is the largest number of different bits of two fingerprints that Find calls near.
const Distance = 3

const (
	blocks    = Distance + 1 // at least one of them is equal in two near fingerprints
	blockBits = 64 / blocks
)

// Tables is a set of fingerprints.
type Tables struct {
	n     int
	lists [blocks][][]uint64 // by the value of the block
}

// New returns an empty set.
func New() *Tables {
	t := &Tables{}
	for i := range t.lists {
		t.lists[i] = make([][]uint64, 1<<blockBits)
	}
	return t
}

// Len is the number of fingerprints.
func (t *Tables) Len() int { return t.n }

// list is where a fingerprint is in a table.
func (t *Tables) list(table int, fingerprint uint64) *[]uint64 {
	return &t.lists[table][fingerprint>>(table*blockBits)&(1<<blockBits-1)]
}

// Add adds a fingerprint, and reports whether it is new.
func (t *Tables) Add(fingerprint uint64) bool {
	if slices.Contains(*t.list(0, fingerprint), fingerprint) {
		return false
	}
	for i := range t.lists {
		list := t.list(i, fingerprint)
		if n := len(*list); n == cap(*list) {
			grown := make([]uint64, n, n+n/8+4) // append alone would leave more room unused
			copy(grown, *list)
			*list = grown
		}
		*list = append(*list, fingerprint)
	}
	t.n++
	return true
}

// Find appends all fingerprints within Distance to dst, in no order.
func (t *Tables) Find(dst []uint64, fingerprint uint64) []uint64 {
	for i := range t.lists {
		for _, f := range *t.list(i, fingerprint) {
			different := f ^ fingerprint
			if bits.OnesCount64(different) <= Distance && isFirst(different, i) {
				dst = append(dst, f)
			}
		}
	}
	return dst
}

// isFirst reports whether no table before this one has both fingerprints in one list.
func isFirst(different uint64, table int) bool {
	for i := range table {
		if different>>(i*blockBits)&(1<<blockBits-1) == 0 {
			return false
		}
	}
	return true
}
