//go:build scenario

package cluster

import (
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/internal/simweb"
)

// shareSkewed crawls a skewed web with some agents, which have eight fetch workers together, and returns what the first
// fifth of the pages has.
func shareSkewed(t *testing.T, seed uint64, visit string, agents int) (f testbed.FirstFifth) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		world := testbed.SkewedWorld(seed)
		b := newTestCluster(t, world, agents)
		b.hostDelay, b.ipDelay = time.Second, 100*time.Millisecond
		b.change = func(_ string, cfg *engine.Config, _ *engine.Seams) {
			if err := cfg.Order.Visit.UnmarshalText([]byte(visit)); err != nil {
				t.Fatal(err)
			}
			cfg.Workers.Fetchers = 8 / agents
		}
		b.startAll(b.names)
		b.wait()
		wantWhole(t, b.judge(), 0)
		var visits []string
		for a := range b.rig.Log.All() {
			if a.Path != "/robots.txt" {
				visits = append(visits, a.URL)
			}
		}
		m, err := simweb.NewModel(world)
		if err != nil {
			t.Fatal(err)
		}
		f = testbed.MeasureFifth(t, m, b.rig.Seeds, visits)
	})
	t.Logf("seed %d, %d agents, %s: %.3f of the rank, gain %.2f, %d pages of farms, %d breadth-first", seed,
		agents, visit, f.Visited, f.Gain(), f.VisitedOfFarms, f.BreadthFirstOfFarms)
	return f
}

// Each agent ranks domains by the links of the pages that it has fetched itself. That is enough for a better first
// fifth than breadth-first has, and for less spam.
func TestVisit_agentsRank(t *testing.T) {
	plain := shareSkewed(t, *testbed.FirstSeed, "breadth-first", 4)
	ranked := shareSkewed(t, *testbed.FirstSeed, "ranked", 4)
	if ranked.Visited < plain.Visited+0.1 || 2*ranked.VisitedOfFarms > plain.VisitedOfFarms {
		t.Errorf("%.3f of the rank, %.3f breadth-first; %d and %d pages of farms",
			ranked.Visited, plain.Visited, ranked.VisitedOfFarms, plain.VisitedOfFarms)
	}
}
