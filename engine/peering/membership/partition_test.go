package membership_test

import (
	"flag"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/peering/membership"
)

// expectSides checks that agents 0 to split-1 see only each other, and the agents behind them too.
func (c *testCluster) expectSides(t *testing.T, split, agents int) {
	t.Helper()
	for n := range agents {
		want := split
		if n >= split {
			want = agents - split
		}
		if v := c.agents[agentID(n)].View(); len(v.Agents) != want {
			t.Errorf("%s sees %v, want %d agents", agentID(n), ids(v), want)
		}
	}
}

// expectNoSuspicion checks that each agent reaches all others.
func (c *testCluster) expectNoSuspicion(t *testing.T) {
	t.Helper()
	for id, a := range c.agents {
		if suspected := a.View().Suspected; len(suspected) > 0 {
			t.Errorf("%s suspects %v", id, suspected)
		}
	}
}

func TestG01_partitionsHeal(t *testing.T) {
	for _, c := range []struct {
		name  string
		split int
		lasts time.Duration
		fault func(cluster *testCluster)
		check func(t *testing.T, cluster *testCluster)
	}{
		{
			"full, even", 4, 5 * time.Minute,
			func(cluster *testCluster) { cluster.net.Split(addrs(0, 4), addrs(4, 8)) },
			func(t *testing.T, cluster *testCluster) { cluster.expectSides(t, 4, 8) },
		},
		{
			"full, 1 and 7", 1, 5 * time.Minute,
			func(cluster *testCluster) { cluster.net.Split(addrs(0, 1), addrs(1, 8)) },
			func(t *testing.T, cluster *testCluster) { cluster.expectSides(t, 1, 8) },
		},
		{"short", 4, 5 * time.Second, func(cluster *testCluster) { cluster.net.Split(addrs(0, 4), addrs(4, 8)) }, nil},
		{
			"agent 0 cannot send", 1, 5 * time.Minute,
			func(cluster *testCluster) { cluster.net.Cut(addrs(0, 1), addrs(1, 8)) }, nil,
		},
		{
			"agent 0 cannot receive", 1, 5 * time.Minute,
			func(cluster *testCluster) { cluster.net.Cut(addrs(1, 8), addrs(0, 1)) }, nil,
		},
		{
			"one direction between halves", 4, 5 * time.Minute,
			func(cluster *testCluster) { cluster.net.Cut(addrs(0, 4), addrs(4, 8)) }, nil,
		},
		{
			"between two agents", 4, 5 * time.Minute,
			func(cluster *testCluster) { cluster.net.Split(addrs(2, 3), addrs(3, 4)) },
			func(t *testing.T, cluster *testCluster) {
				if !cluster.agree() {
					t.Errorf("an agent is dead that other agents reach: %s", cluster.views())
				}
				if v := cluster.agents[agentID(2)].View(); len(v.Suspected) != 1 || v.Suspected[0] != agentID(3) {
					t.Errorf("agent 2 suspects %v, want agent 3", v.Suspected)
				}
			},
		},
		{"flapping", 4, 0, func(cluster *testCluster) {
			for range 40 {
				cluster.net.Split(addrs(0, 4), addrs(4, 8))
				time.Sleep(9 * time.Second)
				cluster.net.Heal()
				time.Sleep(4 * time.Second)
			}
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := newTestCluster(t, 1)
				defer cluster.close()
				cluster.populate(8)
				c.fault(cluster)
				time.Sleep(c.lasts)
				if c.check != nil {
					c.check(t, cluster)
				}
				cluster.net.Heal()
				took, ok := cluster.agreeWithin(time.Minute)
				if !ok {
					t.Fatalf("no equal Views %v after the partition: %s", took, cluster.views())
				}
				t.Logf("equal Views after %v", took)
				time.Sleep(5 * time.Minute)
				if !cluster.agree() {
					t.Errorf("5 minutes later: %s", cluster.views())
				}
				cluster.expectNoSuspicion(t)
			})
		})
	}
}

func TestM4_aSideWithoutALivingSeedRejoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := newTestCluster(t, 1)
		defer cluster.close()
		cluster.populate(5) // agent 0 is the only seed
		cluster.kill(agentID(0))
		cluster.agreeWithin(20 * time.Second)
		cluster.net.Split(addrs(1, 3), addrs(3, 5))
		time.Sleep(10 * time.Minute)
		cluster.net.Heal()
		if took, ok := cluster.agreeWithin(time.Minute); !ok {
			t.Errorf("no equal Views %v after the partition: %s", took, cluster.views())
		}
	})
}

// stalled is the duration of the test. The goal is an hour (-stalled 1h); each run has a part of it.
var stalled = flag.Duration("stalled", 3*time.Minute, "for how long agents are stalled in turn")

// Each agent is stalled for 2 s out of 10 s, at its own time.
func TestM2_aStalledAgentIsNotDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := newTestCluster(t, 1)
		defer cluster.close()
		cluster.populate(8)
		serials := cluster.serials()
		for i := range int(*stalled/time.Second) * 8 / 10 {
			cluster.agents[agentID(i%8)].transport.Freeze(2 * time.Second)
			time.Sleep(1250 * time.Millisecond)
		}
		for id, a := range cluster.agents {
			if v := a.View(); v.Serial != serials[id] {
				t.Errorf("%s saw a change: serial %d, before %d, past members %v", id, v.Serial, serials[id], v.Past)
			}
			if s := a.Stats(); s != (membership.Stats{}) {
				t.Errorf("%s: %+v", id, s)
			}
		}
	})
}
