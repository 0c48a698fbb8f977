package cluster

import (
	"math"
	"slices"
	"strings"
	"time"

	"orbweaver/internal/simweb/arrivals"
)

// detectionTime is how long membership takes to learn which agents are there: engine/peering/membership has less than
// 10 s.
const detectionTime = 9 * time.Second

// G01: a partition, full, in one direction or flapping, and its end. The judge reads the log of the web.

// takeoverTime is how long after a moment some agents first contact a host that only others had contacted before.
func (b *testCluster) takeoverTime(by, from []string, since time.Time) time.Duration {
	contacted := map[string]bool{} // by others alone
	for a := range b.rig.Log.All() {
		if a.Time.Before(since) {
			only, known := contacted[a.Site]
			contacted[a.Site] = (only || !known) && slices.Contains(from, agentOf(&a))
		}
	}
	first := time.Duration(math.MaxInt64)
	for a := range b.rig.Log.All() {
		if contacted[a.Site] && a.Time.After(since) && slices.Contains(by, agentOf(&a)) {
			first = min(first, a.Time.Sub(since))
		}
	}
	return first
}

// repair repairs all connections, and lets all agents find each other.
func (b *testCluster) repair() {
	b.hub.repairAll()
	time.Sleep(3 * time.Second)
	b.hub.updateMembership(b.names)
}

// requests counts the requests of some agents between two moments.
func (b *testCluster) requests(names []string, from, to time.Time) (n int) {
	for a := range b.rig.Log.All() {
		if slices.Contains(names, agentOf(&a)) && a.Time.After(from) && a.Time.Before(to) {
			n++
		}
	}
	return n
}

// agentOf is the name of an agent in its User-Agent.
func agentOf(a *arrivals.Arrival) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(a.Agent, "orbweaver/"), " ")
	return name
}

// countImpolite counts the requests to a host or an address that are too soon after another request of the same group
// of agents.
func (b *testCluster) countImpolite(group func(agent string) string) (n int) {
	var all []arrivals.Arrival
	for a := range b.rig.Log.All() {
		all = append(all, a)
	}
	slices.SortStableFunc(all, func(a, c arrivals.Arrival) int { return a.Time.Compare(c.Time) })
	type contact struct{ group, contacted string }
	last := map[contact]time.Time{}
	count := func(a *arrivals.Arrival, contacted string, delay time.Duration) {
		v := contact{group(agentOf(a)), contacted}
		if before, ok := last[v]; ok && a.Time.Sub(before) < delay-50*time.Millisecond {
			n++
		}
		if a.End.After(last[v]) {
			last[v] = a.End
		}
	}
	for i := range all {
		count(&all[i], all[i].Site, b.rig.Config().Politeness.HostDelay)
		count(&all[i], all[i].Addr.String(), b.rig.Config().Politeness.IPDelay)
	}
	return n
}

// repeatedAfter counts the requests after a moment for pages that had been answered whole before.
func (b *testCluster) repeatedAfter(after time.Time) (n int) {
	answered := map[string]arrivals.Arrival{} // the last one
	for a := range b.rig.Log.All() {
		if before, again := answered[a.URL]; again && a.Time.After(after) && a.Path != "/robots.txt" {
			b.t.Logf("%s is fetched again by %s %v after the end, which %s fetched from %v to %v", a.URL, agentOf(&a),
				a.Time.Sub(after), agentOf(&before), before.Time.Sub(after), before.End.Sub(after))
			n++
		}
		if a.Whole {
			answered[a.URL] = a
		}
	}
	return n
}
