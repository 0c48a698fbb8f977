package gossip

import (
	"fmt"
	"math/rand/v2"

	"orbweaver/engine/ring"
)

// Ring is what a death does to who has which hosts.
type Ring struct {
	Replicas     int     `json:"replicas"`
	BalanceMean  float64 `json:"balance_mean"`  // of the absolute deviations of shares, as parts of what capacity promises
	BalanceWorst float64 `json:"balance_worst"` // the greatest of them
	Share        float64 `json:"share"`         // of hosts that the dead had, mean of those looked at
	Moved        float64 `json:"moved"`         // of hosts that have another owner then; the same number if nothing else moves
	Strays       int     `json:"strays"`        // hosts that went from one survivor to another: none
}

const (
	ringPoints = 2_000_000 // at most: groups of more than 250 have fewer replicas each than a crawl would give them
	ringHosts  = 200_000
	ringDeaths = 5
)

// rings takes members of a ring of n away, one at a time, and follows hosts.
func rings(n int, seed uint64) (r Ring, err error) {
	r.Replicas = min(ring.ReplicasDefault, ringPoints/n)
	all := make([]ring.Member, n)
	for i := range all {
		all[i] = ring.Member{ID: id(i), Capacity: 1}
	}
	before, err := ring.NewConsistent(all, r.Replicas)
	if err != nil {
		return r, fmt.Errorf("gossip: %w", err)
	}
	b := before.Balance()
	r.BalanceMean, r.BalanceWorst = b.Mean, b.Worst
	rng := rand.New(rand.NewPCG(seed, uint64(n)))
	for range ringDeaths {
		dead := rng.IntN(n)
		var rest []ring.Member
		rest = append(append(rest, all[:dead]...), all[dead+1:]...)
		after, err := ring.NewConsistent(rest, r.Replicas)
		if err != nil {
			return r, fmt.Errorf("gossip: %w", err)
		}
		for range ringHosts {
			key := rng.Uint64()
			was, is := before.Members()[before.Owner(key)].ID, after.Members()[after.Owner(key)].ID
			if was == all[dead].ID {
				r.Share++
			}
			if was != is {
				r.Moved++
				if was != all[dead].ID {
					r.Strays++
				}
			}
		}
	}
	r.Share /= ringDeaths * ringHosts
	r.Moved /= ringDeaths * ringHosts
	return r, nil
}
