package ring

import "math/bits"

// Logarithms are whole numbers: the same in every build, which those of floating point need not be.

const (
	fraction  = 44 // bits of a logarithm behind the point
	tableBits = 10
)

// logTable holds log2(1 + k/2^tableBits), in units of 2^-fraction, rounded down.
type logTable []uint64

// newLogTable finds each entry bit by bit: the square of x has twice its logarithm.
func newLogTable() logTable {
	t := make(logTable, 1<<tableBits+1)
	for k := range t[:1<<tableBits] {
		x := 1<<63 | uint64(k)<<(63-tableBits) // 1 <= x/2^63 < 2
		for range fraction {
			hi, lo := bits.Mul64(x, x)
			t[k] <<= 1
			if hi >= 1<<63 { // the square is at least 2
				t[k]++
				x = hi
			} else {
				x = hi<<1 | lo>>63
			}
		}
	}
	t[1<<tableBits] = 1 << fraction
	return t
}

// cost is -log2(u/2^64) in units of 2^-fraction, by a straight line between two entries: it never rises when u does. That of 0 is that of 1.
func (t logTable) cost(u uint64) uint64 {
	u = max(u, 1)
	zeros := bits.LeadingZeros64(u)
	mantissa := u << zeros << 1 // behind the leading one
	k := mantissa >> (64 - tableBits)
	rest := mantissa << tableBits >> (64 - 28) // 28 bits of the way to the next entry
	log := t[k] + (t[k+1]-t[k])*rest>>28
	return uint64(zeros+1)<<fraction - log
}

// lowest is at most cost(u): -log2(x) >= 1 - x for x between 0 and 1.
func lowest(u uint64) uint64 { return -u >> (64 - fraction) }
