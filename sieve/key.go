package sieve

import (
	"cmp"

	"github.com/zeebo/xxh3"
)

// key is the part of a fingerprint that the sieve stores: its 72 high bits. doc.go explains why this is enough.
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

// entry is a key of a bucket with the number of its payload in the low 56 bits of lo. Comparing the two words compares
// by key first and then by arrival.
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

// keys are ascending keys as two arrays of equal length.
type keys struct {
	hi []uint64
	lo []uint8
}

func (k keys) len() int         { return len(k.hi) }
func (k keys) at(i int) key     { return key{hi: k.hi[i], lo: k.lo[i]} }
func (k keys) from(i int) keys  { return keys{hi: k.hi[i:], lo: k.lo[i:]} }
func (k keys) first(n int) keys { return keys{hi: k.hi[:n], lo: k.lo[:n]} }
