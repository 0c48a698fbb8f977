package membership_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/peering/membership"
	"orbweaver/engine/peering/membership/membershiptest"
)

// The gossip key of a running cluster is changed, agent by agent. No agent fails and no message is refused. Afterwards
// an agent with the old key is refused, and so are recorded messages with the old key.
func TestHostilePeer_P5_theKeyOfARunningClusterIsChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := newTestCluster(t, 1)
		defer cluster.close()
		cluster.options = func(o *membership.Options) { o.Key = gossipKey(1) }
		cluster.populate(5)
		stopRecording := cluster.recordDatagrams()
		time.Sleep(5 * time.Second)
		record := stopRecording()
		serials := cluster.serials()
		steps := []struct {
			key      []byte
			accepted [][]byte
		}{
			{gossipKey(1), [][]byte{gossipKey(2)}},
			{gossipKey(2), [][]byte{gossipKey(1)}},
			{gossipKey(2), nil},
		}
		for i, step := range steps {
			for n := range 5 {
				if err := cluster.agents[agentID(n)].SetKeys(step.key, step.accepted); err != nil {
					t.Fatal(err)
				}
				time.Sleep(15 * time.Second) // longer than a failure takes
			}
			for id, a := range cluster.agents {
				if s := a.Stats(); s != (membership.Stats{}) {
					t.Errorf("step %d: %s refused messages: %+v", i, id, s)
				}
				if a.View().Serial != serials[id] {
					t.Errorf("step %d: the View of %s changed: %v", i, id, ids(a.View()))
				}
			}
		}
		o, _ := cluster.agentOptions("outsider", addr(7), 1, addr(0))
		if _, err := membership.Join(t.Context(), o); !errors.Is(err, membership.ErrOtherKey) {
			t.Errorf("an agent with the old key joins: %v", err)
		}
		before := cluster.agents[agentID(1)].Stats().OtherKey
		for _, d := range record {
			cluster.net.Inject(membershiptest.Datagram{From: d.From, To: addr(1), Bytes: d.Bytes})
		}
		time.Sleep(time.Second)
		refused := cluster.agents[agentID(1)].Stats().OtherKey - before
		if len(record) == 0 || refused != int64(len(record)) {
			t.Errorf("%d of %d old datagrams were refused", refused, len(record))
		}
		cluster.options = func(o *membership.Options) { o.Key = gossipKey(2) }
		cluster.join("newcomer", addr(8), 1, addr(2))
		if took, ok := cluster.agreeWithin(15 * time.Second); !ok {
			t.Errorf("an agent with the new key is no member after %v: %s", took, cluster.views())
		}
	})
}

// Keys are changed while other goroutines use them: run it with the race detector. The keys that were set last hold.
func TestSetKeys_inAnyOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := newTestCluster(t, 1)
		defer cluster.close()
		cluster.options = func(o *membership.Options) {
			o.Key, o.AcceptedKeys = gossipKey(1), [][]byte{gossipKey(2), gossipKey(3)}
		}
		cluster.populate(3)
		for i := range 20 {
			for n := range 3 {
				first, second := byte(1+(i+n)%4), byte(1+(i+n+1)%4)
				err := cluster.agents[agentID(n)].SetKeys(gossipKey(first), [][]byte{gossipKey(second), gossipKey(9)})
				if err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(200 * time.Millisecond)
		}
		for n := range 3 {
			if err := cluster.agents[agentID(n)].SetKeys(gossipKey(9), nil); err != nil {
				t.Fatal(err)
			}
		}
		if took, ok := cluster.agreeWithin(time.Minute); !ok {
			t.Errorf("no equal Views after %v: %s", took, cluster.views())
		}
		o, _ := cluster.agentOptions("outsider", addr(7), 1, addr(0))
		if _, err := membership.Join(t.Context(), o); !errors.Is(err, membership.ErrOtherKey) {
			t.Errorf("an agent with a removed key joins: %v", err)
		}
	})
}

func TestSetKeys_refusesInvalidKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cluster := newTestCluster(t, 1)
		defer cluster.close()
		plain := cluster.join(agentID(0), addr(0), 1)
		cluster.options = func(o *membership.Options) { o.Key = gossipKey(1) }
		encrypted := cluster.join(agentID(1), addr(1), 1)
		delete(cluster.agents, agentID(1))
		cluster.outsiders = append(cluster.outsiders, encrypted.Service)
		for name, c := range map[string]struct {
			s        *membership.Service
			key      []byte
			accepted [][]byte
			want     error
		}{
			"a key for an agent without encryption":  {plain.Service, gossipKey(1), nil, membership.ErrNoKey},
			"no key for an agent with encryption":    {encrypted.Service, nil, nil, membership.ErrNoKey},
			"a short key":                            {encrypted.Service, gossipKey(1)[:16], nil, membership.ErrOptions},
			"an empty accepted key":                  {encrypted.Service, gossipKey(1), [][]byte{{}}, membership.ErrOptions},
			"no key for an agent without encryption": {plain.Service, nil, nil, nil},
		} {
			if err := c.s.SetKeys(c.key, c.accepted); !errors.Is(err, c.want) {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
