//go:build scenario

package cluster

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/arrivals"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/vfs"
)

// detectionTime is how long membership takes to learn which agents are there: engine/peering/membership has less than
// 10 s.
const detectionTime = 9 * time.Second

// G01: a partition, full, in one direction or flapping, and its end. The judge reads the log of the web.

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

// split separates the agents into two groups for a while, and repairs the connections. Membership learns of it after
// noticed.
func (b *testCluster) split(left, right []string, duration, noticed time.Duration) {
	b.hub.setBroken(left, right, true)
	b.hub.setBroken(right, left, true)
	time.Sleep(noticed)
	b.hub.updateMembership(b.names)
	time.Sleep(duration - noticed)
	b.repair()
}

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

// wantSound judges a partition in which at most one side continued. So many pages may be fetched again.
func (b *testCluster) wantSound(repeats int) judge.Verdict {
	b.t.Helper()
	v := b.judge()
	for _, name := range b.names {
		if r := b.reports[name]; r.State != lifecycle.Finished {
			b.t.Errorf("%s: %s (%s)", name, r.State, r.Reason)
		}
	}
	if impolite(v) || v.RobotsViolations > 0 || v.Coverage != 1 || v.Missing > 0 || v.Repeated > repeats {
		b.t.Logf("%d pages fetched again, %d may be", v.Repeated, repeats)
		testbed.FailVerdict(b.t, v)
	}
	return v
}

// With a quorum the smaller side stops within 10 s, and the larger one takes its hosts over and keeps all delays. When
// the partition is over they continue together, and nothing is fetched twice.
func TestG01_aFullPartitionWithAQuorum(t *testing.T) {
	for i := range partitionSeeds() {
		seed := *testbed.FirstSeed + 800 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newSlowCluster(t, seed, 5, true)
				b.startAll(b.names)
				time.Sleep(40 * time.Second)
				large, small, cut := b.names[:3], b.names[3:], time.Now()
				b.split(large, small, 90*time.Second, min(detectionTime, time.Duration(1+4*i)*time.Second))
				healed := time.Now().Add(-3 * time.Second)
				b.wait()
				had := b.requests(small, time.Time{}, cut.Add(10*time.Second)) // the others do not know what they have
				v := b.wantSound(had)
				fromSmall := b.requests(small, cut.Add(10*time.Second), healed)
				fromLarge := b.requests(large, cut.Add(30*time.Second), healed)
				fromSmallAfter := b.requests(small, healed, time.Now())
				took := b.takeoverTime(large, small, cut)
				t.Logf("%d pages, %d fetched again; the larger side took over after %v", v.Fetched, v.Repeated, took)
				t.Logf("requests of the larger side: %d, of the smaller one: %d, and %d after the end",
					fromLarge, fromSmall, fromSmallAfter)
				// 12 s for the leases and 10 s for the hosts, after the view without the smaller side
				if took < 22*time.Second || took > 40*time.Second {
					t.Errorf("hosts were taken over after %v", took)
				}
				if fromSmall > 0 || fromLarge < 20 || fromSmallAfter == 0 {
					t.Errorf("requests of the larger side: %d, of the smaller one: %d, and %d after the end",
						fromLarge, fromSmall, fromSmallAfter)
				}
				if n := b.repeatedAfter(healed.Add(5 * time.Second)); n > 0 {
					t.Errorf("%d pages were fetched again after the end", n)
				}
			})
		})
	}
}

// Without a quorum both sides continue. Each keeps all delays by itself. Each fetches a page at most once, and no page
// is fetched again when the partition is over.
func TestG01_aFullPartitionWithoutAQuorum(t *testing.T) {
	for i := range partitionSeeds() {
		seed := *testbed.FirstSeed + 820 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newSlowCluster(t, seed, 4, false)
				b.startAll(b.names)
				time.Sleep(40 * time.Second)
				left, right, cut := b.names[:2], b.names[2:], time.Now()
				b.split(left, right, 60*time.Second, detectionTime)
				healed := time.Now().Add(-3 * time.Second)
				b.wait()
				v := b.judge()
				breaches := b.countImpolite(func(agent string) string { return fmt.Sprint(slices.Contains(left, agent)) })
				repeatedAfter := b.repeatedAfter(healed.Add(20 * time.Second))
				one := b.requests(left, cut.Add(20*time.Second), healed)
				other := b.requests(right, cut.Add(20*time.Second), healed)
				t.Logf("%d pages, %d fetched again, %d of them after the end", v.Fetched, v.Repeated, repeatedAfter)
				t.Logf("%d and %d requests of the sides; %d violations of delays between them",
					one, other, v.HostGapViolations+v.HostConcurrency)
				if breaches > 0 || repeatedAfter > 0 || one == 0 || other == 0 {
					t.Errorf("%d violations within a side, %d pages fetched again after the end", breaches, repeatedAfter)
				}
				if v.Coverage != 1 || v.Missing > 0 || v.Repeated == 0 || v.Repeated > one+other {
					testbed.FailVerdict(t, v)
				}
			})
		})
	}
}

// Of two halves none is a majority. Both stop, and continue when the partition is over.
func TestG01_twoHalvesBothStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSlowCluster(t, *testbed.FirstSeed+840, 4, true)
		b.startAll(b.names)
		time.Sleep(30 * time.Second)
		cut := time.Now()
		b.split(b.names[:2], b.names[2:], 60*time.Second, detectionTime)
		healed := time.Now().Add(-3 * time.Second)
		b.wait()
		b.wantSound(2 * b.config("").Workers.Fetchers)
		if n := b.requests(b.names, cut.Add(10*time.Second), healed); n > 0 {
			t.Errorf("%d requests of the halves", n)
		}
	})
}

// Connections that are broken in one direction only, whatever membership makes of it. An agent without answers does not
// fetch, and no agent takes over hosts of an agent that may still fetch.
func TestG01_connectionsBreakInOneDirection(t *testing.T) {
	for i, seen := range []struct {
		name               string
		senders, receivers bool // are seen by the others as members
	}{
		{"all are seen", true, true},
		{"only senders are seen", true, false},
		{"only receivers are seen", false, true},
		{"none is seen", false, false},
	} {
		for _, outward := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, outward %t", seen.name, outward), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newSlowCluster(t, *testbed.FirstSeed+850+uint64(i), 5, true)
					b.startAll(b.names)
					time.Sleep(30 * time.Second)
					large, small, cut := b.names[:3], b.names[3:], time.Now()
					from, to := small, large
					if outward {
						from, to = large, small
					}
					b.hub.setBroken(from, to, true)
					time.Sleep(detectionTime)
					b.hub.setSeen(to, from, seen.senders)
					b.hub.setSeen(from, to, seen.receivers)
					time.Sleep(50 * time.Second)
					healed := time.Now()
					b.repair()
					b.wait()
					b.wantSound(3 * b.config("").Workers.Fetchers)
					if n := b.requests(small, cut.Add(10*time.Second), healed); n > 0 {
						t.Errorf("%d requests of the agents without answers", n)
					}
					if n := b.requests(large, cut.Add(10*time.Second), healed); n == 0 {
						t.Errorf("the larger side stopped as well")
					}
				})
			})
		}
	}
}

// Connections break and recover at random, messages take up to some seconds, and membership is wrong half of the time.
// No host is contacted too soon, and when all connections work again the crawl ends.
func TestG01_partitionsThatFlap(t *testing.T) {
	for i := range 3 * partitionSeeds() {
		seed := *testbed.FirstSeed + 870 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			synctest.Test(t, func(t *testing.T) {
				b := newSlowCluster(t, seed, 3+i%3, true)
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

// After an agent is lost permanently, a majority of the others continues and agrees on a view without it. So the crawl
// continues with fewer and fewer agents, down to two.
func TestQuorum_agentsAreLostOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSlowCluster(t, *testbed.FirstSeed+890, 4, true)
		running := b.startAll(b.names)
		for _, name := range b.names[2:] {
			time.Sleep(40 * time.Second)
			b.loseAgent(running[name])
		}
		b.wait()
		b.names = b.names[:2]
		v := b.judge()
		if v.Coverage != 1 || v.Missing > 0 || impolite(v) {
			testbed.FailVerdict(t, v)
		}
		for _, name := range b.names {
			r := b.reports[name]
			if q := r.Cluster.Quorum; r.State != lifecycle.Finished || q == nil || len(q.Voters) != 2 {
				t.Errorf("%s: %s (%s); %+v", name, r.State, r.Reason, q)
			}
		}
	})
}

// An agent that stops in order is removed from the configuration, so that even one of two agents continues by itself.
// When it returns, it is added again.
func TestQuorum_aStoppedAgentIsNotCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newSlowCluster(t, *testbed.FirstSeed+895, 2, true)
		running := b.startAll(b.names)
		time.Sleep(30 * time.Second)
		one := b.names[1]
		running[one].stop()
		<-running[one].done
		left := time.Now()
		time.Sleep(40 * time.Second)
		if n := b.requests(b.names[:1], left.Add(15*time.Second), time.Now()); n == 0 {
			t.Error("the remaining agent stopped as well")
		}
		b.start(t.Context(), one)
		b.wait()
		b.wantSound(b.config("").Workers.Fetchers)
	})
}

// An agent that returns without its directory is a new agent, without a vote in what was agreed on. It makes no
// difference whether the others had taken it for dead.
func TestQuorum_anAgentWithoutItsDirectoryIsNew(t *testing.T) {
	for _, isDead := range []bool{true, false} {
		t.Run(fmt.Sprintf("dead %t", isDead), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newSlowCluster(t, *testbed.FirstSeed+893, 3, true)
				running := b.startAll(b.names)
				time.Sleep(40 * time.Second)
				one := running[b.names[1]]
				if isDead {
					b.loseAgent(one)
					time.Sleep(30 * time.Second)
				} else {
					one.kill(testbed.Sigkill)
					time.Sleep(time.Second)
				}
				b.disks[one.name] = vfs.NewMem(99)
				b.start(t.Context(), one.name)
				b.wait()
				v := b.judge()
				if v.Coverage != 1 || v.Missing > 0 || impolite(v) {
					testbed.FailVerdict(t, v)
				}
				for _, name := range b.names {
					if r := b.reports[name]; r.State != lifecycle.Finished || len(r.Cluster.Quorum.Voters) != 3 {
						t.Errorf("%s: %s (%s); %+v", name, r.State, r.Reason, r.Cluster.Quorum)
					}
				}
			})
		})
	}
}

// Agents that were all killed continue when they are started again. A majority of them is enough, also if they began
// without a quorum.
func TestQuorum_allAreKilledAndStartAgain(t *testing.T) {
	for _, c := range []struct {
		back   int
		before bool
	}{{3, true}, {2, true}, {2, false}} {
		t.Run(fmt.Sprintf("%d, before that %t", c.back, c.before), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newSlowCluster(t, *testbed.FirstSeed+897, 3, c.before)
				running := b.startAll(b.names)
				time.Sleep(50 * time.Second)
				for _, name := range b.names {
					running[name].kill(func(disk *vfs.Mem) *vfs.Mem { return disk.LostClone(1) })
					b.hub.remove(running[name].endpoint)
				}
				b.least, b.quorum = 1, true // the default of --agents, as in a resume without it
				b.names = b.names[:c.back]
				b.startAll(b.names)
				b.wait()
				v := b.judge()
				if v.Coverage != 1 || v.Missing > 0 || impolite(v) {
					testbed.FailVerdict(t, v)
				}
			})
		})
	}
}
