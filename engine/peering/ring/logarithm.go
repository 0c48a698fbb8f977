package ring

import "math/bits"

// Logarithms are integers, so that they are equal in every build. Floating-point logarithms need not be.

const (
	fractionBits = 44 // bits of a logarithm behind the binary point
	tableBits    = 10 // the table has 2^tableBits steps
)

// logTable holds log2(1 + k/2^tableBits), in units of 2^-fractionBits, rounded down.
type logTable []uint64

// newLogTable computes each entry bit by bit: squaring x doubles its logarithm.
func newLogTable() logTable {
	t := make(logTable, 1<<tableBits+1)
	for k := range t[:1<<tableBits] {
		x := 1<<63 | uint64(k)<<(63-tableBits) // 1 <= x/2^63 < 2
		for range fractionBits {
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
	t[1<<tableBits] = 1 << fractionBits
	return t
}

// cost is -log2(u/2^64) in units of 2^-fractionBits, interpolated linearly between two entries. It never rises when u
// rises. The cost of 0 is the cost of 1.
func (t logTable) cost(u uint64) uint64 {
	u = max(u, 1)
	zeros := bits.LeadingZeros64(u)
	mantissa := u << zeros << 1 // bits behind the leading 1
	k := mantissa >> (64 - tableBits)
	rest := mantissa << tableBits >> (64 - 28) // 28 bits: how far u is from entry k towards entry k+1
	log := t[k] + (t[k+1]-t[k])*rest>>28
	return uint64(zeros+1)<<fractionBits - log
}

// costLowerBound is at most cost(u), since -log2(x) >= 1 - x for x between 0 and 1.
func costLowerBound(u uint64) uint64 { return -u >> (64 - fractionBits) }
