package cluster

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/arrivals"
)

const groupDelay = 9 * time.Second

// groupRule is the rule of a group with hosts of a web.
func groupRule(t *testing.T, group []string) *filter.HostRules {
	t.Helper()
	rule := "group farm:"
	for _, host := range group {
		rule += " " + host
	}
	rules := new(filter.HostRules)
	_, err := rules.Grow(rule + " delay=" + groupDelay.String())
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// largestHosts are the names of the largest hosts of a web.
func largestHosts(rig *testbed.Rig, n int) (names []string) {
	for _, h := range testbed.HostsBySize(rig.World.Model)[:n] {
		names = append(names, string(h.AppendName(nil)))
	}
	return names
}

// checkGroupDelay wants the delay of the group between all requests to its hosts, as the web sees them.
func checkGroupDelay(t *testing.T, log *arrivals.Log, group []string) {
	t.Helper()
	var visits []arrivals.Arrival
	for a := range log.All() {
		if slices.Contains(group, a.Host) {
			visits = append(visits, a)
		}
	}
	slices.SortFunc(visits, func(a, b arrivals.Arrival) int { return a.Time.Compare(b.Time) })
	agents, changes, least := map[string]bool{}, 0, time.Hour
	for i, v := range visits {
		agents[v.Agent] = true
		if i == 0 {
			continue
		}
		if v.Agent != visits[i-1].Agent {
			changes++
		}
		least = min(least, v.Time.Sub(visits[i-1].End))
	}
	t.Logf("%d requests of %d agents, which took turns %d times; at least %v between two", len(visits), len(agents),
		changes, least)
	if least < groupDelay || len(agents) < 2 || changes < 5 {
		t.Errorf("%v between two requests of %d agents, which took turns %d times", least, len(agents), changes)
	}
}

// The hosts of a group belong to different agents. All agents together keep the delay of the group. They keep that of
// an address, too, if it has a host of the group at one agent and another host at the other.
func TestGroups_agentsKeepTheDelayTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := testbed.SmallWorld(*testbed.FirstSeed+7400, simweb.Plain())
		world.Robots = simweb.Robots{AllowAll: 1}
		b := newTestCluster(t, world, 2)
		group := largestHosts(b.rig, 6)
		b.change = func(_ string, c *engine.Config, _ *engine.Seams) { c.Filters.HostRules = groupRule(t, group) }
		b.startAll(b.names)
		b.wait()
		for _, name := range b.names {
			if r := b.final(name); r.State != lifecycle.Finished || r.PagesStored == 0 {
				t.Errorf("%s: %s (%s) after %d pages", name, r.State, r.Reason, r.PagesStored)
			}
		}
		checkGroupDelay(t, b.rig.Log, group)
		wantWhole(t, b.judge(), 0)
	})
}
