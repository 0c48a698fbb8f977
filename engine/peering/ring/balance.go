package ring

import "math"

// Balance says how far the shares of the members are from the shares that their capacities ask for. A deviation is
// relative: 0.05 is 5 % more or less than the wanted share.
type Balance struct {
	Mean  float64 // mean of the absolute deviations
	Worst float64 // largest absolute deviation
}

// MeasureBalance assigns so many hosts and compares the counts. The function next gives the key of each host.
func MeasureBalance(a Assignment, hosts int, next func() uint64) Balance {
	counts := make([]int, len(a.Members()))
	for range hosts {
		counts[a.Owner(next())]++
	}
	shares := make([]float64, len(counts))
	for i, n := range counts {
		shares[i] = float64(n) / float64(max(hosts, 1))
	}
	return balanceOf(a.Members(), shares)
}

// Balance is the exact balance over all 2^64 keys, from the lengths of the arcs.
func (c *Consistent) Balance() Balance { return balanceOf(c.members, c.shares) }

// Shares are the parts of all keys that the members own, in the order of Members. Their sum is 1. The slice belongs to
// c.
func (c *Consistent) Shares() []float64 { return c.shares }

func balanceOf(members []Member, shares []float64) (b Balance) {
	total := 0
	for _, m := range members {
		total += m.Capacity
	}
	for i, m := range members {
		wanted := float64(m.Capacity) / float64(total)
		deviation := math.Abs(shares[i]/wanted - 1)
		b.Mean += deviation / float64(len(members))
		b.Worst = max(b.Worst, deviation)
	}
	return b
}
