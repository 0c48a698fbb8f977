//go:build scenario

package cluster

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/judge"
)

// partitionSeeds is the number of seeds of each kind of partition.
func partitionSeeds() int {
	if testbed.Reduced {
		return 1
	}
	return (*testbed.SeedCount + 1) / 2
}

// slowWorld has answers that take some seconds, so that there are exchanges whenever something happens.
func slowWorld(seed uint64) simweb.Config {
	c := testbed.SmallWorld(seed, simweb.Plain())
	c.Hosts, c.IPs, c.PagesPerHostMean, c.PagesPerHostMax, c.Think = 40, 40, 12, 30, 2*time.Second
	return c
}

// newSlowCluster makes agents with slowWorld. With a quorum at most one side of a partition continues.
func newSlowCluster(t *testing.T, seed uint64, agents int, quorum bool) *testCluster {
	t.Helper()
	b := newTestCluster(t, slowWorld(seed), agents)
	b.quorum = quorum
	return b
}

// wantSound judges a partition in which at most one side continued. So many pages may be fetched again.
func (b *testCluster) wantSound(repeats int) judge.Verdict {
	b.t.Helper()
	v := b.judge()
	for _, name := range b.names {
		if r := b.final(name); r.State != lifecycle.Finished {
			b.t.Errorf("%s: %s (%s)", name, r.State, r.Reason)
		}
	}
	if impolite(v) || v.RobotsViolations > 0 || v.Coverage != 1 || v.Missing > 0 || v.Repeated > repeats {
		b.t.Logf("%d pages fetched again, %d may be", v.Repeated, repeats)
		testbed.FailVerdict(b.t, v)
	}
	return v
}

// Connections break and recover at random, messages take up to some seconds, and membership is wrong half of the time.
// No host is contacted too soon, and when all connections work again the crawl ends. An agent may come to be alone in
// its view, so each asks all others for pages: --recover promises as many changes as it asks agents.
func TestG01_partitionsThatFlap(t *testing.T) {
	for i := range 3 * partitionSeeds() {
		seed := *testbed.FirstSeed + 870 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			synctest.Test(t, func(t *testing.T) {
				b := newSlowCluster(t, seed, 3+i%3, true)
				b.change = func(_ string, c *engine.Config, _ *engine.Seams) { c.Cluster.Recover = len(b.names) - 1 }
				delays := rand.New(rand.NewPCG(seed, 8))
				b.hub.latency = func() time.Duration {
					return time.Duration(delays.ExpFloat64() * float64(200*time.Millisecond))
				}
				b.startAll(b.names)
				time.Sleep(20 * time.Second)
				began, meanPause := time.Now(), time.Duration(5+5*(i%4))*time.Second
				events := b.changeLinks(rng, 4*time.Minute, meanPause)
				b.repair()
				healed := time.Now()
				b.wait()
				v := b.wantSound(math.MaxInt)
				t.Logf("%d agents, an event each %v: %d events, %d requests meanwhile, %d after; %d pages, %d fetched again",
					len(b.names), meanPause, events, b.requests(b.names, began, healed),
					b.requests(b.names, healed, time.Now()), v.Fetched, v.Repeated)
				// an agent that found the others a moment ago may have had an exchange
				if n := b.repeatedAfter(healed.Add(20 * time.Second)); n > 0 {
					t.Errorf("%d pages were fetched again after the end", n)
				}
			})
		})
	}
}

// changeLinks breaks and repairs connections at random, and lets agents see or not see each other.
func (b *testCluster) changeLinks(rng *rand.Rand, duration, meanPause time.Duration) (events int) {
	some := func() (names []string) {
		for _, name := range b.names {
			if rng.IntN(2) == 0 {
				names = append(names, name)
			}
		}
		return names
	}
	for end := time.Now().Add(duration); time.Now().Before(end); events++ {
		time.Sleep(time.Duration(rng.ExpFloat64() * float64(meanPause)))
		switch rng.IntN(8) {
		case 0, 1:
			one, other := some(), some()
			b.hub.setBroken(one, other, true)
			if rng.IntN(2) == 0 {
				b.hub.setBroken(other, one, true)
			}
		case 2:
			b.hub.setSeen(some(), some(), false)
		case 3:
			b.hub.updateMembership(b.names)
		case 4:
			b.hub.setBroken(some(), some(), false)
		case 5:
			b.repair()
		default: // two groups, and membership learns of it
			one := some()
			other := slices.DeleteFunc(slices.Clone(b.names), func(name string) bool { return slices.Contains(one, name) })
			b.hub.repairAll()
			b.hub.setBroken(one, other, true)
			b.hub.setBroken(other, one, rng.IntN(4) > 0)
			time.Sleep(time.Duration(rng.Int64N(int64(detectionTime))))
			b.hub.updateMembership(b.names)
			time.Sleep(time.Duration(rng.Int64N(int64(40 * time.Second))))
		}
	}
	return events
}
