package leasing

import (
	"slices"
	"testing"

	"orbweaver/engine/peering/ownership"
)

// An agent that is away grants no leases, unless all are away: where an agent leaves, all the others may be.
func TestGranters_anAgentThatIsAwayGrantsNothing(t *testing.T) {
	agents := []ownership.Agent{{ID: "a", Capacity: 1, Store: 1}, {ID: "b", Capacity: 1, Store: 2},
		{ID: "c", Capacity: 1, Store: 3}}
	for _, self := range []string{"a", ""} { // this agent is in the view, or leaves
		c, err := ownership.NewView(ownership.Consistent, agents, agents, 0, self)
		if err != nil {
			t.Fatal(err)
		}
		for _, away := range [][]string{nil, c.Instances[1:2], c.Instances[1:], c.Instances} {
			g := newGranters(c, away)
			for i := range byte(50) {
				of := g.of(Addr{15: i})
				if slices.Contains(away, of) && len(away) < len(c.Instances) || !slices.Contains(c.Instances, of) {
					t.Fatalf("away %q: the granter is %q", away, of)
				}
			}
		}
	}
}
