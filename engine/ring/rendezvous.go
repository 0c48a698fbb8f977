package ring

// Rendezvous is weighted rendezvous hashing. It needs no memory to speak of, and a look-up takes time in proportion to the members.
type Rendezvous struct {
	members []Member
	seeds   []uint64
	weights []uint64
	log     logTable
}

// NewRendezvous makes the assignment to members.
func NewRendezvous(members []Member) (*Rendezvous, error) {
	all, err := ordered(members)
	if err != nil {
		return nil, err
	}
	r := &Rendezvous{members: all, log: newLogTable()}
	for _, m := range all {
		r.seeds, r.weights = append(r.seeds, m.seed()), append(r.weights, uint64(m.Capacity))
	}
	return r, nil
}

// Members implements Assignment.
func (r *Rendezvous) Members() []Member { return r.members }

// Owner implements Assignment. Each member draws mix(key XOR its seed), a number u below 2^64; the least -log2(u/2^64)/capacity wins, and
// of equals the smaller identifier.
func (r *Rendezvous) Owner(key uint64) int {
	best := 0
	least := r.log.cost(mix(key ^ r.seeds[0]))
	weight := r.weights[0]
	for i := 1; i < len(r.seeds); i++ {
		u, w := mix(key^r.seeds[i]), r.weights[i]
		// cost/w < least/weight. The straight line below the curve rules most members out without a logarithm.
		if lowest(u)*weight >= least*w {
			continue
		}
		if cost := r.log.cost(u); cost*weight < least*w {
			best, least, weight = i, cost, w
		}
	}
	return best
}
