package ring

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
