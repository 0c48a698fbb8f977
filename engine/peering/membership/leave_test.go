package membership_test

import (
	"bytes"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/peering/membership/membershiptest"
)

// leave makes agents leave at the same moment. It returns how long the slowest one took.
func (c *testCluster) leave(agents ...string) (slowest time.Duration) {
	c.t.Helper()
	var group sync.WaitGroup
	var mu sync.Mutex
	for _, id := range agents {
		a := c.agents[id]
		delete(c.agents, id)
		group.Go(func() {
			began := time.Now()
			err := a.Leave(c.t.Context())
			mu.Lock()
			defer mu.Unlock()
			if slowest = max(slowest, time.Since(began)); err != nil {
				c.t.Errorf("%s: %v", id, err)
			}
		})
	}
	group.Wait()
	return slowest
}

func TestM7_anAgentThatLeavesIsNotDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := newTestCluster(t, 1)
		defer cluster.close()
		cluster.populate(8)
		if cluster.leave(agentID(5)); len(cluster.agents) != 7 {
			t.Fatalf("%d agents remain", len(cluster.agents))
		}
		if took, ok := cluster.agreeWithin(time.Second); !ok {
			t.Fatalf("no equal Views after %v: %s", took, cluster.views())
		}
		cluster.kill(agentID(6))
		cluster.agreeWithin(20 * time.Second)
		for id, a := range cluster.agents {
			past := a.View().Past
			if len(past) != 2 || past[0].Agent.ID != agentID(5) || !past[0].HasLeft ||
				past[1].Agent.ID != agentID(6) || past[1].HasLeft {
				t.Errorf("past members of %s: %+v", id, past)
			}
		}
		cluster.join(agentID(5), addr(5), 2, addr(0))
		if _, ok := cluster.agreeWithin(10 * time.Second); !ok {
			t.Errorf("the agent that left does not come back: %s", cluster.views())
		}
		if past := cluster.agents[agentID(0)].View().Past; len(past) != 1 {
			t.Errorf("past members: %+v, want only agent 6", past)
		}
	})
}

// This must hold for few agents, and while packets are lost. If no agent remains, a leave must not wait.
func TestM7_manyLeaveAtOnce(t *testing.T) {
	for _, c := range []struct {
		agents, leave int
		limit         time.Duration
	}{
		{5, 3, 4 * time.Second}, {5, 4, 5 * time.Second}, {2, 1, 6 * time.Second},
		{5, 5, 6 * time.Second}, {2, 2, 6 * time.Second}, {1, 1, time.Second},
	} {
		for seed := range uint64(10) {
			synctest.Test(t, func(t *testing.T) {
				cluster := newTestCluster(t, seed)
				defer cluster.close()
				cluster.populate(c.agents)
				time.Sleep(time.Duration(seed) * 97 * time.Millisecond)
				cluster.net.Lose(0.1)
				var leaving []string
				for n := range c.leave {
					leaving = append(leaving, agentID(c.agents-1-n))
				}
				if took := cluster.leave(leaving...); took > c.limit {
					t.Errorf("%d of %d leave: it took %v", c.leave, c.agents, took)
				}
				cluster.net.Lose(0)
				time.Sleep(10 * time.Second) // as long as a failure takes
				if !cluster.agree() {
					t.Errorf("%d of %d leave: no equal Views: %s", c.leave, c.agents, cluster.views())
				}
				for id, a := range cluster.agents {
					past := a.View().Past
					if len(past) != c.leave {
						t.Errorf("%s has %d past members, want %d", id, len(past), c.leave)
					}
					for _, p := range past {
						if !p.HasLeft {
							t.Errorf("for %s, %s is dead", id, p.Agent.ID)
						}
					}
				}
			})
		}
	}
}

// An agent announces that it will leave, and then that it has left, each as often as any change.
func TestLeave_isAnnouncedOftenEnough(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := newTestCluster(t, 1)
		defer cluster.close()
		cluster.populate(5)
		time.Sleep(20 * time.Second) // until no other changes are gossiped
		var n atomic.Int64
		cluster.net.Tap(func(d membershiptest.Datagram) {
			if d.From == addr(3) && bytes.Contains(d.Bytes, []byte(agentID(3)+"@")) {
				n.Add(1)
			}
		})
		if took := cluster.leave(agentID(3)); took > 3*time.Second || n.Load() < 2*12 {
			t.Errorf("%d datagrams in %v", n.Load(), took)
		}
	})
}

// The last agent must not wait for agents that have left a moment before.
func TestLeave_theLastAgentDoesNotWait(t *testing.T) {
	for quarters := range 12 {
		synctest.Test(t, func(t *testing.T) {
			cluster := newTestCluster(t, uint64(quarters))
			defer cluster.close()
			cluster.populate(3)
			last := cluster.agents[agentID(2)]
			delete(cluster.agents, agentID(2))
			var group sync.WaitGroup
			group.Go(func() {
				time.Sleep(time.Duration(quarters) * 250 * time.Millisecond)
				began := time.Now()
				if err := last.Leave(t.Context()); err != nil || time.Since(began) > 4*time.Second {
					t.Errorf("last agent, %d quarters of a second later: %v, %v", quarters, time.Since(began), err)
				}
			})
			if took := cluster.leave(agentID(0), agentID(1)); took > 4*time.Second {
				t.Errorf("first agents, %d quarters of a second before: %v", quarters, took)
			}
			group.Wait()
		})
	}
}
