package ownership

import (
	"fmt"
	"slices"
	"testing"
)

// The predecessors of an agent for a host are the agents that would own the host one after the other, if those before
// were not there, down to the agent itself.
func TestPredecessors_ownTheHostOneAfterTheOther(t *testing.T) {
	var all []Agent
	for i := range 5 {
		all = append(all, Agent{ID: fmt.Sprintf("a%d", i), Capacity: 1 + i%2, Store: uint64(i + 1)})
	}
	made := map[string]*View{}
	of := func(peers []Agent, self string) *View {
		t.Helper()
		name := fmt.Sprint(self, peers)
		if made[name] == nil {
			c, err := NewView(Consistent, peers, nil, 0, self)
			if err != nil {
				t.Fatal(err)
			}
			made[name] = c
		}
		return made[name]
	}
	own := 0
	for n := range 300 {
		url := fmt.Appendf(nil, "http://h%d.test/a", n)
		left, order := slices.Clone(all), []string{}
		for len(left) > 0 {
			c := of(left, left[0].ID)
			first := c.Agents[c.OwnerOf(url)].ID
			order = append(order, first)
			left = slices.DeleteFunc(slices.Clone(left), func(p Agent) bool { return p.ID == first })
		}
		for _, self := range all {
			c := of(all, self.ID)
			for most := range 6 {
				var got []string
				for _, k := range c.Predecessors(url, most) {
					got = append(got, c.Agents[k].ID)
				}
				want := order[:slices.Index(order, self.ID)]
				if want = want[:min(most, len(want))]; !slices.Equal(got, want) {
					t.Fatalf("%s: before %s there are %v, want %v of %v", url, self.ID, got, want, order)
				}
				if len(want) == 0 && most > 0 {
					own++
				}
			}
		}
	}
	if own != 300*5 { // each has one owner, whatever most is
		t.Errorf("%d times there was no predecessor", own)
	}
}
