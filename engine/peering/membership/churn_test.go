package membership_test

import (
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/peering/membership"
	"orbweaver/internal/invariants"
)

// Agents restart one after the other, faster than a failure is detected, half of them at another address.
func TestJoin_allAgentsRestart(t *testing.T) {
	seeds := uint64(3)
	if !scenarios || invariants.Race {
		seeds = 1
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			cluster := newTestCluster(t, seed)
			defer cluster.close()
			cluster.populate(20)
			time.Sleep(time.Minute) // memberlist's incarnation numbers grow
			for round := range uint64(2) {
				for n := range 20 {
					cluster.kill(agentID(n))
					at := addr(n)
					if n%2 == 1 {
						at = addr(100*int(round+1) + n)
					}
					seed := cluster.agents[agentID((n+7)%20)].at
					o, transport := cluster.agentOptions(agentID(n), at, round+2, seed)
					s, err := membership.Join(t.Context(), o) // at another address this waits until the old process is dead
					if err != nil {
						t.Fatalf("%s: %v", agentID(n), err)
					}
					cluster.agents[agentID(n)] = &testAgent{s, transport, at}
				}
				if took, ok := cluster.agreeWithin(time.Minute); !ok {
					t.Fatalf("round %d: no equal Views after %v: %s", round, took, cluster.views())
				}
			}
		})
	}
}

func TestJoin_allAgentsStopAndStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := newTestCluster(t, 1)
		defer cluster.close()
		cluster.populate(12)
		time.Sleep(time.Minute)
		for n := range 12 {
			cluster.kill(agentID(n))
		}
		for n := range 12 { // the seed of each is the next one, so the first one finds no agent
			cluster.join(agentID(n), addr(n), 2, addr((n+1)%12))
		}
		if took, ok := cluster.agreeWithin(time.Minute); !ok {
			t.Errorf("no equal Views after %v: %s", took, cluster.views())
		}
	})
}

// churn kills, stops or starts a random agent each second.
type churn struct {
	cluster  *testCluster
	rng      *rand.Rand
	mu       sync.Mutex
	changing map[string]bool // by ID: an action has not ended
	running  map[string]*testAgent
	actions  sync.WaitGroup
	lastAddr int // number of the latest address
}

func TestG10_churn(t *testing.T) {
	seconds := 3600
	if !scenarios || invariants.Race {
		seconds = 300
	}
	synctest.Test(t, func(t *testing.T) {
		cluster := newTestCluster(t, 1)
		defer cluster.close()
		cluster.net.Lose(0.01)
		cluster.populate(10)
		c := &churn{
			cluster: cluster, rng: rand.New(rand.NewPCG(1, 1)), changing: map[string]bool{}, running: cluster.agents,
			lastAddr: 100,
		}
		for range seconds {
			c.step(t)
			time.Sleep(time.Second)
		}
		c.actions.Wait()
		if took, ok := cluster.agreeWithin(time.Minute); !ok {
			t.Fatalf("no equal Views after %v: %s", took, cluster.views())
		}
		for id, a := range cluster.agents {
			if s := a.Stats(); s.Malformed+s.OtherKey+s.OtherCrawl > 0 {
				t.Errorf("%s: %+v", id, s)
			}
		}
	})
}

func (c *churn) step(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	id := agentID(1 + c.rng.IntN(11)) // agent 0 remains, since it is the seed
	a, choice := c.running[id], c.rng.IntN(3)
	if c.changing[id] || a != nil && len(c.running) < 4 {
		return
	}
	c.changing[id] = true
	action := func() {
		switch choice {
		case 0:
			if err := a.Leave(t.Context()); err != nil {
				t.Errorf("%s leaves: %v", id, err)
			}
		default:
			if err := a.Close(); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
	}
	if a == nil {
		c.lastAddr++
		at, store := addr(c.lastAddr), uint64(c.lastAddr)
		action = func() {
			o, transport := c.cluster.agentOptions(id, at, store, addr(0))
			s, err := membership.Join(t.Context(), o)
			if err != nil {
				t.Errorf("%s joins: %v", id, err)
				return
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.running[id] = &testAgent{s, transport, at}
		}
	} else {
		delete(c.running, id)
	}
	c.actions.Go(func() {
		action()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.changing[id] = false
	})
}
