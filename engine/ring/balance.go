package ring

import "math"

// Balance is how even an assignment is: how far the shares of members are from what their capacity promises, as parts of that.
type Balance struct {
	Mean  float64 // of the absolute deviations
	Worst float64 // the greatest of them
}

// Measure counts what so many hosts, whose keys next gives, make of an assignment.
func Measure(a Assignment, hosts int, next func() uint64) Balance {
	counts := make([]int, len(a.Members()))
	for range hosts {
		counts[a.Owner(next())]++
	}
	shares := make([]float64, len(counts))
	for i, n := range counts {
		shares[i] = float64(n) / float64(max(hosts, 1))
	}
	return balance(a.Members(), shares)
}

// Balance is that of all keys there are: the lengths of the arcs.
func (c *Consistent) Balance() Balance { return balance(c.members, c.shares) }

// Shares are the parts of all keys that the members have, in their order: 1 together. The slice is lent.
func (c *Consistent) Shares() []float64 { return c.shares }

func balance(members []Member, shares []float64) (b Balance) {
	all := 0
	for _, m := range members {
		all += m.Capacity
	}
	for i, m := range members {
		promised := float64(m.Capacity) / float64(all)
		off := math.Abs(shares[i]/promised - 1)
		b.Mean += off / float64(len(members))
		b.Worst = max(b.Worst, off)
	}
	return b
}
