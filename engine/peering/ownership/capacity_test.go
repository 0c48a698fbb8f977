package ownership

import (
	"fmt"
	"testing"
)

// Seventeen agents of the largest capacity, and thousands of agents, make a view like any others, and each agent
// makes the same: 17 of capacity 1,000 ended every agent's crawl ("ring: bad members").
func TestHostilePeer_P4_anOversizeRingIsNotFatal(t *testing.T) {
	for _, c := range []struct{ agents, capacity int }{{17, 1000}, {3, -1}, {3000, 1}} {
		var all []Agent
		for i := range c.agents {
			all = append(all, Agent{ID: fmt.Sprintf("a%04d", i), Capacity: c.capacity, Store: 1})
		}
		one, err := NewView(Consistent, all, nil, 0, "a0000")
		if err != nil {
			t.Errorf("%d agents of capacity %d: %v", c.agents, c.capacity, err)
			continue
		}
		for i, share := range one.Shares {
			if mean := 1 / float64(c.agents); share < mean/2 || share > 2*mean {
				t.Errorf("%d agents of capacity %d: agent %d has %f of the hosts", c.agents, c.capacity, i, share)
				break
			}
		}
	}
}
