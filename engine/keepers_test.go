package engine

import (
	"slices"
	"testing"

	"orbweaver/engine/cluster/addresslease"
)

// Who is away keeps no addresses, unless all are: where an agent leaves for good the others may be away, every one.
func TestKeepers_whoIsAwayKeepsNothing(t *testing.T) {
	peers := []Peer{{ID: "a", Capacity: 1, Store: 1}, {ID: "b", Capacity: 1, Store: 2}, {ID: "c", Capacity: 1, Store: 3}}
	for _, self := range []string{"a", ""} { // the other leaves
		c, err := newCircle(peers, peers, 0, self)
		if err != nil {
			t.Fatal(err)
		}
		for _, away := range [][]string{nil, c.lines[1:2], c.lines[1:], c.lines} {
			k := newKeepers(c, away)
			for i := range byte(50) {
				of := k.of(addresslease.Addr{15: i})
				if slices.Contains(away, of) && len(away) < len(c.lines) || !slices.Contains(c.lines, of) {
					t.Fatalf("away %q: the keeper is %q", away, of)
				}
			}
		}
	}
}
