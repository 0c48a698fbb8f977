package membership_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/peering/membership"
)

func TestG03_anAgentRestartsAtOnce(t *testing.T) {
	for _, c := range []struct {
		name string
		at   int
	}{{"at its address", 3}, {"at another address", 9}} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cluster := newTestCluster(t, 1)
				defer cluster.close()
				cluster.populate(5)
				cluster.kill(agentID(3))
				began := time.Now()
				cluster.join(agentID(3), addr(c.at), 2, addr(1))
				took, ok := cluster.agreeWithin(20 * time.Second)
				if !ok {
					t.Fatalf("no equal Views: %s", cluster.views())
				}
				t.Logf("joined, with equal Views, after %v", time.Since(began))
				if c.at == 3 && took > time.Second {
					t.Errorf("equal Views after %v", took)
				}
				time.Sleep(time.Minute)
				if !cluster.agree() {
					t.Errorf("a minute later: %s", cluster.views())
				}
			})
		})
	}
}

func TestM3_aSecondProcessOfANameIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := newTestCluster(t, 1)
		defer cluster.close()
		cluster.populate(4)
		serial := cluster.agents[agentID(2)].View().Serial
		for _, store := range []uint64{0, 1, 99} {
			o, _ := cluster.agentOptions(agentID(1), addr(7), store, addr(0))
			s, err := membership.Join(t.Context(), o)
			if !errors.Is(err, membership.ErrNameInUse) || s != nil {
				t.Fatalf("the second %s: %v", agentID(1), err)
			}
		}
		time.Sleep(30 * time.Second)
		if !cluster.agree() || cluster.agents[agentID(2)].View().Serial != serial {
			t.Errorf("Views have changed: %s", cluster.views())
		}
	})
}

func TestG04_twoProcessesOfANameMeetLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := newTestCluster(t, 1)
		defer cluster.close()
		cluster.populate(3)
		// The second process starts while it cannot reach the cluster.
		cluster.net.Split(addrs(0, 3), addrs(7, 8))
		o, _ := cluster.agentOptions(agentID(1), addr(7), 5, addr(0))
		second := cluster.joinOutsider(o)
		cluster.net.Heal()
		select {
		case <-second.Lost():
		case <-time.After(time.Minute):
			t.Fatal("both processes continue")
		}
		if !errors.Is(second.Err(), membership.ErrNameInUse) {
			t.Errorf("Err: %v", second.Err())
		}
		time.Sleep(30 * time.Second)
		if !cluster.agree() {
			t.Errorf("the first process does not continue: %s", cluster.views())
		}
	})
}

func TestJoin_inAnyOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := newTestCluster(t, 1)
		defer cluster.close()
		cluster.join("b", addr(1), 1, addr(0))
		cluster.join("c", addr(2), 1, addr(1))
		time.Sleep(10 * time.Second)
		if v := cluster.agents["b"].View(); len(v.Agents) != 2 {
			t.Errorf("b sees %v, want b and c", ids(v))
		}
		cluster.join("a", addr(0), 1)
		if took, ok := cluster.agreeWithin(10 * time.Second); !ok {
			t.Errorf("no equal Views after %v: %s", took, cluster.views())
		}
	})
}

func TestM1_serialAndChangedFollowTheMembers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := newTestCluster(t, 1)
		defer cluster.close()
		a := cluster.join("a", addr(0), 1)
		if v := a.View(); v.Serial != 1 || len(v.Agents) != 1 || v.Agents[0] != v.Self || v.Self != a.Self() {
			t.Fatalf("a single agent: %+v", v)
		}
		cluster.join("b", addr(1), 1, addr(0))
		<-a.Changed()
		synctest.Wait()
		if v := a.View(); v.Serial != 2 || len(v.Agents) != 2 {
			t.Errorf("two agents: %+v", v)
		}
		cluster.kill("b")
		<-a.Changed()
		if v := a.View(); v.Serial != 3 || len(v.Agents) != 1 {
			t.Errorf("after the failure: %+v", v)
		}
		select {
		case <-a.Changed():
			t.Error("a value in Changed without a change")
		case <-time.After(time.Minute):
		}
	})
}

func TestJoin_endsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := newTestCluster(t, 1)
		defer cluster.close()
		cluster.populate(3)
		// The old process cannot answer the new one, but the other agents reach it. So the conflict stays open.
		cluster.net.Split(addrs(1, 2), addrs(7, 8))
		o, _ := cluster.agentOptions(agentID(1), addr(7), 2, addr(0))
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		if _, err := membership.Join(ctx, o); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Join: %v", err)
		}
		if !cluster.agree() {
			t.Errorf("Views have changed: %s", cluster.views())
		}
	})
}
