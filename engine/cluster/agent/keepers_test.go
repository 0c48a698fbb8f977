package agent

import (
	"slices"
	"testing"

	"orbweaver/engine/cluster/addresslease"
	"orbweaver/engine/cluster/ownership"
)

// Who is away keeps no addresses, unless all are: where an agent leaves for good the others may be away, every one.
func TestKeepers_whoIsAwayKeepsNothing(t *testing.T) {
	peers := []ownership.Agent{{ID: "a", Capacity: 1, Store: 1}, {ID: "b", Capacity: 1, Store: 2},
		{ID: "c", Capacity: 1, Store: 3}}
	for _, self := range []string{"a", ""} { // the other leaves
		c, err := ownership.NewView(peers, peers, 0, self)
		if err != nil {
			t.Fatal(err)
		}
		for _, away := range [][]string{nil, c.Instances[1:2], c.Instances[1:], c.Instances} {
			k := newKeepers(c, away)
			for i := range byte(50) {
				of := k.of(addresslease.Addr{15: i})
				if slices.Contains(away, of) && len(away) < len(c.Instances) || !slices.Contains(c.Instances, of) {
					t.Fatalf("away %q: the keeper is %q", away, of)
				}
			}
		}
	}
}
