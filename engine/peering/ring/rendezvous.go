package ring

import "math/bits"

// Rendezvous is weighted rendezvous hashing. It needs little memory, and a look-up takes time in proportion to the
// number of members.
type Rendezvous struct {
	members []Member
	seeds   []uint64 // of the members
	weights []uint64 // capacities of the members
	shares  []float64
	log     logTable
}

// NewRendezvous makes an assignment to members, which it copies. An error wraps ErrMembers.
func NewRendezvous(members []Member) (*Rendezvous, error) {
	sorted, err := sortedMembers(members)
	if err != nil {
		return nil, err
	}
	r := &Rendezvous{members: sorted, log: newLogTable()}
	sum := 0
	for _, m := range sorted {
		sum += m.Capacity
	}
	for _, m := range sorted {
		r.shares = append(r.shares, float64(m.Capacity)/float64(sum))
		r.seeds, r.weights = append(r.seeds, m.seed()), append(r.weights, uint64(m.Capacity))
	}
	return r, nil
}

// Members implements Assignment.
func (r *Rendezvous) Members() []Member { return r.members }

// Shares implements Assignment. It is what the draws come to with very many keys.
func (r *Rendezvous) Shares() []float64 { return r.shares }

// Owner implements Assignment. Each member draws u = splitMix(key XOR seed). The least -log2(u/2^64)/capacity wins, and
// of two equal ones the smaller identifier.
func (r *Rendezvous) Owner(key uint64) int {
	best := 0
	least := r.log.cost(splitMix(key ^ r.seeds[0]))
	weight := r.weights[0]
	for i := 1; i < len(r.seeds); i++ {
		u, w := splitMix(key^r.seeds[i]), r.weights[i]
		// cost/w < least/weight. The lower bound rules out most members without a logarithm.
		if costLowerBound(u)*weight >= least*w {
			continue
		}
		if cost := r.log.cost(u); cost*weight < least*w {
			best, least, weight = i, cost, w
		}
	}
	return best
}

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
