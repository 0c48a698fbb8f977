package membership_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/internal/invariants"
)

func TestM2_aKilledAgentIsMissingWithinTenSeconds(t *testing.T) {
	var took []time.Duration
	seeds := uint64(200)
	if !scenarios || invariants.Race {
		seeds = 20
	}
	for seed := range seeds {
		synctest.Test(t, func(t *testing.T) {
			cluster := newTestCluster(t, seed)
			defer cluster.close()
			cluster.populate(8)
			time.Sleep(time.Duration(seed) * 97 * time.Millisecond)
			cluster.kill(agentID(3))
			d, ok := cluster.agreeWithin(30 * time.Second)
			if !ok {
				t.Errorf("seed %d: no equal Views after %v: %s", seed, d, cluster.views())
			}
			took = append(took, d)
		})
	}
	slices.Sort(took)
	t.Logf("median %v, p99 %v, worst %v", took[len(took)/2], took[len(took)*99/100], took[len(took)-1])
	if p99 := took[len(took)*99/100]; p99 > 10*time.Second {
		t.Errorf("p99 %v", p99)
	}
}

// With the tag scenario there are 100 agents and 10 failures.
func TestM2_manyAgents(t *testing.T) {
	agents, failures := 100, 10
	if !scenarios || invariants.Race {
		agents, failures = 30, 3
	}
	synctest.Test(t, func(t *testing.T) {
		cluster := newTestCluster(t, 1)
		defer cluster.close()
		cluster.populate(agents)
		for n := range failures {
			cluster.kill(agentID(10 + n))
			d, ok := cluster.agreeWithin(30 * time.Second)
			if t.Logf("equal Views after %v", d); !ok || d > 10*time.Second {
				t.Errorf("failure %d: %v", n, d)
			}
		}
	})
}
