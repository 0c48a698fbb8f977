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
	"orbweaver/bench/simweb"
	"orbweaver/bench/simweb/arrivals"
	"orbweaver/bench/simweb/judge"
	"orbweaver/engine/lifecycle"
	"orbweaver/internal/vfs"
)

// noticed is how long membership takes to find out who is there: engine/members has less than 10 s.
const noticed = 9 * time.Second

// G01: a partition, full, one-way or flapping, and its end. The web's own log is the judge.

// partitions is how many seeds of a kind of partition are played.
func partitions() int {
	if testbed.Reduced {
		return 1
	}
	return (*testbed.SeedCount + 1) / 2
}

// slowWorld has answers that take some seconds, so that exchanges are under way whenever something happens.
func slowWorld(seed uint64) simweb.Config {
	c := testbed.SmallWorld(seed, simweb.Plain())
	c.Hosts, c.IPs, c.PagesPerHostMean, c.PagesPerHostMax, c.Think = 40, 40, 12, 30, 2*time.Second
	return c
}

// newParted makes agents of which at most one side goes on, or both.
func newParted(t *testing.T, seed uint64, agents int, quorum bool) *band {
	t.Helper()
	b := newBand(t, slowWorld(seed), agents)
	b.quorum = quorum
	return b
}

// split cuts the agents in two for a while, which membership notices after a time, and heals that.
func (b *band) split(left, right []string, lasts, noticed time.Duration) {
	b.hub.sever(left, right, true)
	b.hub.sever(right, left, true)
	time.Sleep(noticed)
	b.hub.notice(b.names)
	time.Sleep(lasts - noticed)
	b.heal()
}

// takeover is how long after a moment some agents first ask a host that until then only others had asked.
func (b *band) takeover(by, from []string, since time.Time) time.Duration {
	theirs := map[string]bool{}
	for a := range b.rig.Log.All() {
		if a.Time.Before(since) {
			only, known := theirs[a.Site]
			theirs[a.Site] = (only || !known) && slices.Contains(from, agentOf(&a))
		}
	}
	first := time.Duration(math.MaxInt64)
	for a := range b.rig.Log.All() {
		if theirs[a.Site] && a.Time.After(since) && slices.Contains(by, agentOf(&a)) {
			first = min(first, a.Time.Sub(since))
		}
	}
	return first
}

// heal mends all ways, and lets everybody find everybody.
func (b *band) heal() {
	b.hub.mend()
	time.Sleep(3 * time.Second)
	b.hub.notice(b.names)
}

// requests counts those of some agents between two moments.
func (b *band) requests(names []string, from, to time.Time) (n int) {
	for a := range b.rig.Log.All() {
		if slices.Contains(names, agentOf(&a)) && a.Time.After(from) && a.Time.Before(to) {
			n++
		}
	}
	return n
}

// agentOf is the name that an agent gives in its User-Agent.
func agentOf(a *arrivals.Arrival) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(a.Agent, "orbweaver/"), " ")
	return name
}

// impolite counts the requests to a host or an address that come too soon after another one of the same group of
// agents.
func (b *band) impolite(group func(agent string) string) (n int) {
	var all []arrivals.Arrival
	for a := range b.rig.Log.All() {
		all = append(all, a)
	}
	slices.SortStableFunc(all, func(a, c arrivals.Arrival) int { return a.Time.Compare(c.Time) })
	type visitor struct{ group, visited string }
	last := map[visitor]time.Time{}
	visit := func(a *arrivals.Arrival, visited string, delay time.Duration) {
		v := visitor{group(agentOf(a)), visited}
		if was, some := last[v]; some && a.Time.Sub(was) < delay-50*time.Millisecond {
			n++
		}
		if a.End.After(last[v]) {
			last[v] = a.End
		}
	}
	for i := range all {
		visit(&all[i], all[i].Site, b.rig.Config().Politeness.HostDelay)
		visit(&all[i], all[i].Addr.String(), b.rig.Config().Politeness.IPDelay)
	}
	return n
}

// again counts the requests after a moment for what had been answered whole before.
func (b *band) again(after time.Time) (n int) {
	answered := map[string]bool{}
	for a := range b.rig.Log.All() {
		if answered[a.URL] && a.Time.After(after) && a.Path != "/robots.txt" {
			b.t.Logf("%s is asked for again by %s, %v after that", a.URL, agentOf(&a), a.Time.Sub(after))
			n++
		}
		answered[a.URL] = answered[a.URL] || a.Whole
	}
	return n
}

// sound judges agents of which one side at most went on.
func (b *band) sound(again int) judge.Verdict {
	b.t.Helper()
	v := b.judge()
	for _, name := range b.names {
		if r := b.reports[name]; r.State != lifecycle.Finished {
			b.t.Errorf("%s: %s (%s)", name, r.State, r.Reason)
		}
	}
	if impolite(v) || v.RobotsViolations > 0 || v.Coverage != 1 || v.Missing > 0 || v.Repeated > again {
		v.Print(b.t.Output())
		b.t.Errorf("the oracle complains: %d pages repeated, %d may be", v.Repeated, again)
	}
	return v
}

// With a quorum the smaller side stops within 10 s and the larger one takes its hosts over, politely; when the
// partition is over they go on together, and nothing is fetched twice.
func TestG01_aFullPartitionWithAQuorum(t *testing.T) {
	for i := range partitions() {
		seed := *testbed.FirstSeed + 800 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newParted(t, seed, 5, true)
				b.startAll(b.names)
				time.Sleep(40 * time.Second)
				large, small, cut := b.names[:3], b.names[3:], time.Now()
				b.split(large, small, 90*time.Second, min(noticed, time.Duration(1+4*i)*time.Second))
				healed := time.Now().Add(-3 * time.Second)
				b.wait()
				had := b.requests(small, time.Time{}, cut.Add(10*time.Second)) // nobody knows what they had
				v := b.sound(had)
				stopped, went := b.requests(small, cut.Add(10*time.Second), healed), b.requests(large, cut.Add(30*time.Second), healed)
				back := b.requests(small, healed, time.Now())
				took := b.takeover(large, small, cut)
				t.Logf("%d pages, %d asked for again; the larger side took over after %v and asked %d times, the smaller one %d, and %d times after that", v.Fetched, v.Repeated, took,
					went, stopped, back)
				if took < 22*time.Second || took > 40*time.Second { // 12 s for the leases and 10 s for the hosts, after the view that says so
					t.Errorf("hosts were taken over after %v", took)
				}
				if again := b.again(healed.Add(5 * time.Second)); stopped > 0 || went < 20 || back == 0 || again > 0 {
					t.Errorf("the larger side asked %d times, the smaller one %d, and %d times after that; %d times for what somebody had", went, stopped, back, again)
				}
			})
		})
	}
}

// Without one both go on: each is polite by itself, no page is fetched by both sides more than once each, and none
// again when it is over.
func TestG01_aFullPartitionWithoutOne(t *testing.T) {
	for i := range partitions() {
		seed := *testbed.FirstSeed + 820 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newParted(t, seed, 4, false)
				b.startAll(b.names)
				time.Sleep(40 * time.Second)
				left, right, cut := b.names[:2], b.names[2:], time.Now()
				b.split(left, right, 60*time.Second, noticed)
				healed := time.Now().Add(-3 * time.Second)
				b.wait()
				v := b.judge()
				breaches := b.impolite(func(agent string) string { return fmt.Sprint(slices.Contains(left, agent)) })
				again := b.again(healed.Add(20 * time.Second))
				one, other := b.requests(left, cut.Add(20*time.Second), healed), b.requests(right, cut.Add(20*time.Second), healed)
				t.Logf("%d pages, %d asked for again, %d of them after the end; %d and %d requests apart; %d breaches between the sides", v.Fetched, v.Repeated, again, one, other,
					v.HostGapViolations+v.HostConcurrency)
				if v.Coverage != 1 || v.Missing > 0 || breaches > 0 || again > 0 || one == 0 || other == 0 || v.Repeated == 0 || v.Repeated > one+other {
					v.Print(t.Output())
					t.Errorf("the oracle complains: %d breaches within a side, %d pages fetched again after the end", breaches, again)
				}
			})
		})
	}
}

// Of two halves none is a majority: both stop, and go on when they are one again.
func TestG01_twoHalvesBothStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newParted(t, *testbed.FirstSeed+840, 4, true)
		b.startAll(b.names)
		time.Sleep(30 * time.Second)
		cut := time.Now()
		b.split(b.names[:2], b.names[2:], 60*time.Second, noticed)
		healed := time.Now().Add(-3 * time.Second)
		b.wait()
		b.sound(2 * b.config("").Workers.Fetchers)
		if n := b.requests(b.names, cut.Add(10*time.Second), healed); n > 0 {
			t.Errorf("%d requests by halves", n)
		}
	})
}

// A way that is cut in one direction only, whatever membership makes of it: nobody fetches who is not answered, and
// nobody takes over who may still be fetching.
func TestG01_aWayThatIsCutInOneDirection(t *testing.T) {
	for i, kind := range []string{"all are seen", "who is heard is seen", "who hears is seen", "nobody is seen"} {
		for _, outward := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, outward %t", kind, outward), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newParted(t, *testbed.FirstSeed+850+uint64(i), 5, true)
					b.startAll(b.names)
					time.Sleep(30 * time.Second)
					large, small, cut := b.names[:3], b.names[3:], time.Now()
					from, to := small, large
					if outward {
						from, to = large, small
					}
					b.hub.sever(from, to, true)
					time.Sleep(noticed)
					b.hub.see(to, from, kind != "who hears is seen" && kind != "nobody is seen")
					b.hub.see(from, to, kind != "who is heard is seen" && kind != "nobody is seen")
					time.Sleep(50 * time.Second)
					healed := time.Now()
					b.heal()
					b.wait()
					b.sound(3 * b.config("").Workers.Fetchers)
					if n := b.requests(small, cut.Add(10*time.Second), healed); n > 0 {
						t.Errorf("%d requests of those whom nobody answers", n)
					}
					if n := b.requests(large, cut.Add(10*time.Second), healed); n == 0 {
						t.Errorf("the larger side stopped as well")
					}
				})
			})
		}
	}
}

// Ways that are cut and mended at random, on a network on which messages take up to some seconds, among agents whose
// membership is wrong half of the time: no host is ever asked too soon, and when all is well again the crawl comes to
// its end.
func TestG01_partitionsThatFlap(t *testing.T) {
	for i := range 3 * partitions() {
		seed := *testbed.FirstSeed + 870 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			synctest.Test(t, func(t *testing.T) {
				b := newParted(t, seed, 3+i%3, true)
				late := rand.New(rand.NewPCG(seed, 8))
				b.hub.latency = func() time.Duration { return time.Duration(late.ExpFloat64() * float64(200*time.Millisecond)) }
				b.startAll(b.names)
				time.Sleep(20 * time.Second)
				began, calm := time.Now(), time.Duration(5+5*(i%4))*time.Second
				events := b.shake(rng, 4*time.Minute, calm)
				b.heal()
				healed := time.Now()
				b.wait()
				v := b.sound(math.MaxInt)
				t.Logf("%d agents, an event each %v: %d events, %d requests meanwhile, %d after; %d pages, %d asked for again", len(b.names), calm, events,
					b.requests(b.names, began, healed), b.requests(b.names, healed, time.Now()), v.Fetched, v.Repeated)
				if again := b.again(healed.Add(20 * time.Second)); again > 0 { // who found the others a moment ago may have been asking
					t.Errorf("%d times for what somebody had", again)
				}
			})
		})
	}
}

// shake cuts and mends ways at random, and lets agents see or not see each other.
func (b *band) shake(rng *rand.Rand, lasts, calm time.Duration) (events int) {
	some := func() (names []string) {
		for _, name := range b.names {
			if rng.IntN(2) == 0 {
				names = append(names, name)
			}
		}
		return names
	}
	for end := time.Now().Add(lasts); time.Now().Before(end); events++ {
		time.Sleep(time.Duration(rng.ExpFloat64() * float64(calm)))
		switch rng.IntN(8) {
		case 0, 1:
			one, other := some(), some()
			b.hub.sever(one, other, true)
			if rng.IntN(2) == 0 {
				b.hub.sever(other, one, true)
			}
		case 2:
			b.hub.see(some(), some(), false)
		case 3:
			b.hub.notice(b.names)
		case 4:
			b.hub.sever(some(), some(), false)
		case 5:
			b.heal()
		default: // in two, and membership finds out
			one := some()
			other := slices.DeleteFunc(slices.Clone(b.names), func(name string) bool { return slices.Contains(one, name) })
			b.hub.mend()
			b.hub.sever(one, other, true)
			b.hub.sever(other, one, rng.IntN(4) > 0)
			time.Sleep(time.Duration(rng.Int64N(int64(noticed))))
			b.hub.notice(b.names)
			time.Sleep(time.Duration(rng.Int64N(int64(40 * time.Second))))
		}
	}
	return events
}

// After an agent is lost permanently, a majority of the others goes on, and agrees on a view without it. So the crawl
// goes on with ever fewer agents, down to two.
func TestQuorum_agentsAreLostOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newParted(t, *testbed.FirstSeed+890, 4, true)
		running := b.startAll(b.names)
		for _, name := range b.names[2:] {
			time.Sleep(40 * time.Second)
			b.bury(running[name])
		}
		b.wait()
		b.names = b.names[:2]
		v := b.judge()
		if v.Coverage != 1 || v.Missing > 0 || impolite(v) {
			testbed.FailVerdict(t, v)
		}
		for _, name := range b.names {
			if r := b.reports[name]; r.State != lifecycle.Finished || r.Peers.Quorum == nil || len(r.Peers.Quorum.Agreed) != 2 {
				t.Errorf("%s: %s (%s); %+v", name, r.State, r.Reason, r.Peers.Quorum)
			}
		}
	})
}

// An agent that stops in good order is agreed to be none of them any more, so that even one of two goes on alone; when
// it comes back, it is again.
func TestQuorum_whoLeavesIsNotMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newParted(t, *testbed.FirstSeed+895, 2, true)
		running := b.startAll(b.names)
		time.Sleep(30 * time.Second)
		one := b.names[1]
		running[one].stop()
		<-running[one].done
		left := time.Now()
		time.Sleep(40 * time.Second)
		if n := b.requests(b.names[:1], left.Add(15*time.Second), time.Now()); n == 0 {
			t.Error("the one that stayed stopped as well")
		}
		b.start(t.Context(), one)
		b.wait()
		b.sound(b.config("").Workers.Fetchers)
	})
}

// An agent that comes back without its directory is a newcomer, who has nothing to say in what was agreed on, whether
// it was missed or not.
func TestQuorum_whoLosesItsDirectoryIsANewcomer(t *testing.T) {
	for _, missed := range []bool{true, false} {
		t.Run(fmt.Sprintf("missed %t", missed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newParted(t, *testbed.FirstSeed+893, 3, true)
				running := b.startAll(b.names)
				time.Sleep(40 * time.Second)
				one := running[b.names[1]]
				if missed {
					b.bury(one)
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
					if r := b.reports[name]; r.State != lifecycle.Finished || len(r.Peers.Quorum.Agreed) != 3 {
						t.Errorf("%s: %s (%s); %+v", name, r.State, r.Reason, r.Peers.Quorum)
					}
				}
			})
		})
	}
}

// Agents that were all killed go on when all are started again, and the one that is missing then does not keep a
// majority from it. So it is if they began without a quorum.
func TestQuorum_allAreKilledAndStartAgain(t *testing.T) {
	for _, c := range []struct {
		back   int
		before bool
	}{{3, true}, {2, true}, {2, false}} {
		t.Run(fmt.Sprintf("%d, before that %t", c.back, c.before), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newParted(t, *testbed.FirstSeed+897, 3, c.before)
				running := b.startAll(b.names)
				time.Sleep(50 * time.Second)
				for _, name := range b.names {
					running[name].kill(func(disk *vfs.Mem) *vfs.Mem { return disk.LostClone(1) })
					b.hub.leave(running[name].desk)
				}
				b.least, b.quorum = 1, true // as after a resume that is told nothing
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
