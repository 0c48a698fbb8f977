package leasing

import (
	"fmt"
	"slices"

	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/peering/ring"
)

// granters are the agents that grant leases, by a view: its agents that are not away. They never change.
type granters struct {
	self       string // the instance of this agent; empty if it is not in the view
	agents     []ownership.Agent
	instances  []string // of agents
	assignment ring.Assignment
}

func newGranters(c *ownership.View, away []string) *granters {
	g := &granters{agents: c.Agents, instances: c.Instances, assignment: c.Assignment}
	if c.Self >= 0 {
		g.self = c.Instances[c.Self]
	}
	isAway := func(instance string) bool { return slices.Contains(away, instance) }
	isHere := func(instance string) bool { return !isAway(instance) }
	// all may be away, where this agent leaves
	if !slices.ContainsFunc(c.Instances, isAway) || !slices.ContainsFunc(c.Instances, isHere) {
		return g
	}
	g.agents, g.instances = nil, nil
	for i, instance := range c.Instances {
		if isHere(instance) {
			g.agents, g.instances = append(g.agents, c.Agents[i]), append(g.instances, instance)
		}
	}
	var err error
	if g.assignment, err = c.Method.Assign(g.agents); err != nil {
		panic(fmt.Sprintf("BUG: leasing: agents of a view cannot share addresses without those that are away: %v", err))
	}
	return g
}

// of is the instance that grants the leases of an address.
func (g *granters) of(a Addr) string {
	if len(g.instances) == 1 {
		return g.instances[0]
	}
	return g.instances[g.assignment.Owner(ring.Key(a[:]))]
}

// isSelf says whether this agent grants the leases of an address.
func (g *granters) isSelf(a Addr) bool { return g.of(a) == g.self }

// has says whether an instance is a granter.
func (g *granters) has(instance string) bool { return slices.Contains(g.instances, instance) }
