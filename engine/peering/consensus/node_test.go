package consensus

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/internal/invariants"
)

// in plays a story in virtual time.
func in(t *testing.T, seed uint64, agents int, story func(c *testCluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := newTestCluster(t, seed, agents)
		stop := c.watch()
		story(c)
		stop()
		c.endAll()
	})
}

// CS3: agents that begin together have leases soon.
func TestCS3_agentsBegin(t *testing.T) {
	for _, agents := range []int{1, 2, 3, 5} {
		t.Run(fmt.Sprint(agents), func(t *testing.T) {
			in(t, 1, agents, func(c *testCluster) {
				c.startAll()
				t.Logf("leases after %v", c.within(20*time.Second, c.names...))
			})
		})
	}
}

// CS2, CS3: the smaller side of a partition has no lease after Lease, the larger one goes on, if need be with a new
// leader; afterwards all have leases again.
func TestCS2_theSmallerSideStops(t *testing.T) {
	for _, small := range [][]string{{"a0", "a1"}, {"a3", "a4"}} { // with the first leader, and without
		for _, notice := range []bool{true, false} {
			in(t, 2, 5, func(c *testCluster) {
				c.startAll()
				c.within(20*time.Second, c.names...)
				large := slices.DeleteFunc(slices.Clone(c.names), func(name string) bool { return slices.Contains(small, name) })
				c.split(small, large, false)
				time.Sleep(6 * time.Second)
				c.split(small, large, notice)
				time.Sleep(Lease - 6*time.Second)
				idle := 0 // moments at which not all of the larger side have leases
				for range 600 {
					time.Sleep(100 * time.Millisecond)
					if has := c.holders(); !slices.Equal(has, large) {
						idle++
						if slices.ContainsFunc(has, func(name string) bool { return slices.Contains(small, name) }) {
							t.Fatalf("these have leases: %v", has)
						}
					}
				}
				t.Logf("the larger side was without leases for %v", time.Duration(idle)*100*time.Millisecond)
				if idle > 100 {
					t.Error("that is long")
				}
				c.mend()
				t.Logf("together after %v", c.within(20*time.Second, c.names...))
			})
		}
	}
}

// CS2: of two halves neither has leases.
func TestCS2_twoHalvesBothStop(t *testing.T) {
	in(t, 3, 4, func(c *testCluster) {
		c.startAll()
		c.within(20*time.Second, c.names...)
		c.split(c.names[:2], c.names[2:], false)
		time.Sleep(8 * time.Second)
		c.split(c.names[:2], c.names[2:], true)
		time.Sleep(Lease - 8*time.Second)
		c.within(time.Second)
		time.Sleep(time.Minute)
		c.within(0)
		c.mend()
		c.within(30*time.Second, c.names...)
	})
}

// CS5: agents are lost one after the other, return without their disks, and leave down to one.
func TestCS5_votersFailReturnAndLeave(t *testing.T) {
	in(t, 4, 4, func(c *testCluster) {
		c.startAll()
		c.within(20*time.Second, c.names...)
		time.Sleep(5 * time.Second)
		c.lose("a0")
		time.Sleep(20 * time.Second)
		c.within(time.Second, "a1", "a2", "a3")
		c.lose("a1")
		time.Sleep(20 * time.Second)
		c.within(time.Second, "a2", "a3")
		c.start("a0")
		c.within(10*time.Second, "a0", "a2", "a3")
		c.end("a2", true)
		time.Sleep(15 * time.Second)
		c.end("a0", true)
		time.Sleep(15 * time.Second)
		c.within(time.Second, "a3")
		c.start("a2")
		c.within(15*time.Second, "a2", "a3")
		c.end("a3", false) // of two neither goes on without the other
		time.Sleep(15 * time.Second)
		c.within(time.Second)
		c.start("a3")
		c.within(20*time.Second, "a2", "a3")
	})
}

// CS4: all are killed and started again.
func TestCS4_allAreKilledAndStartAgain(t *testing.T) {
	in(t, 5, 3, func(c *testCluster) {
		c.startAll()
		c.within(20*time.Second, c.names...)
		time.Sleep(5 * time.Minute) // the log is compacted meanwhile
		c.endAll()
		time.Sleep(time.Minute)
		c.startAll()
		t.Logf("leases after %v", c.within(20*time.Second, c.names...))
	})
}

// CS1: whatever becomes of ways, membership, processes and disks, no thing is ever used by two agents; and when all is
// well again all have leases.
func TestCS1_noThingHasTwoUsers(t *testing.T) {
	if invariants.Race {
		disturbed(t, 1) // a world takes ten times as long, and has all goroutines
		return
	}
	disturbed(t, 3)
}

func disturbed(t *testing.T, seeds int) {
	t.Helper()
	for i := range seeds {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newTestCluster(t, uint64(1000+i), 3+i%4)
				c.latency = []time.Duration{time.Millisecond, 100 * time.Millisecond, 300 * time.Millisecond}[i%3]
				stop := c.watch()
				c.startAll()
				time.Sleep(30 * time.Second)
				events := 0
				for end := time.Now().Add(10 * time.Minute); time.Now().Before(end) && !t.Failed(); events++ {
					c.disturb()
				}
				c.mend()
				for _, name := range c.names {
					if c.running[name] == nil {
						c.start(name)
					}
				}
				if !t.Failed() {
					t.Logf("all have leases after %v", c.within(40*time.Second, c.names...))
				}
				used, moments := stop()
				t.Logf("%d agents, %d events; something was used in %d of 100 moments", len(c.names), events, 100*used/moments)
				c.endAll()
			})
		})
	}
}

// disturb does something to an agent or to the network, and waits.
func (c *testCluster) disturb() {
	name := c.names[c.rng.IntN(len(c.names))]
	part := c.rng.IntN(1 << len(c.names))
	in := func(i int) bool { return part>>i&1 == 1 }
	switch c.rng.IntN(8) {
	case 0, 1: // in two, and membership knows at once, or does not
		known := c.rng.IntN(3) > 0
		for i, a := range c.names {
			for j, b := range c.names {
				c.link(a, b, in(i) != in(j), in(i) != in(j) && known)
			}
		}
	case 2: // one way
		c.link(name, c.names[c.rng.IntN(len(c.names))], true, c.rng.IntN(2) == 0)
	case 3: // membership is wrong
		c.link(name, c.names[c.rng.IntN(len(c.names))], false, true)
	case 4, 5:
		c.mend()
	default:
		switch {
		case c.running[name] == nil:
			c.start(name)
		case c.rng.IntN(2) == 0:
			c.end(name, c.rng.IntN(2) == 0)
		}
	}
	time.Sleep(time.Duration(c.rng.ExpFloat64() * float64(12*time.Second)))
}

// CS2: an agent whose disk is full promises nothing and has no lease; when there is room again it has.
func TestCS2_aFullDisk(t *testing.T) {
	in(t, 6, 3, func(c *testCluster) {
		c.startAll()
		c.within(20*time.Second, c.names...)
		time.Sleep(5 * time.Second)
		c.disks["a0"].SetLimit(1)
		time.Sleep(20 * time.Second)
		c.within(time.Second, "a1", "a2")
		c.disks["a0"].SetLimit(-1)
		c.within(20*time.Second, c.names...)
	})
}

// Agents that see different others while they begin agree on one log; a founder that ends does not bind them for ever.
func TestNode_agentsBeginOnce(t *testing.T) {
	in(t, 7, 4, func(c *testCluster) {
		c.members = c.names[:2]
		for i, name := range c.names {
			c.start(name)
			for _, other := range c.names {
				c.link(name, other, i%2 == 0 && other == "a0", false)
			}
			time.Sleep(300 * time.Millisecond)
		}
		c.end("a0", false)
		c.mend()
		time.Sleep(20 * time.Second)
		c.within(0)
		c.start("a0")
		c.within(30*time.Second, c.names...)
	})
}

// CS3: a leader that stops while no other voter answers does not keep them from going on later.
func TestCS3_aLeaderStopsAlone(t *testing.T) {
	in(t, 8, 2, func(c *testCluster) {
		c.startAll()
		c.within(20*time.Second, c.names...)
		time.Sleep(5 * time.Second)
		c.split(c.names[:1], c.names[1:], false)
		c.end("a0", true)
		c.end("a1", true)
		c.mend()
		c.startAll()
		c.within(20*time.Second, c.names...)
	})
}
