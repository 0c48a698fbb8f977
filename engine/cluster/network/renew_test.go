package network

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/peering/identity"
	"orbweaver/engine/peering/membership"
	"orbweaver/engine/peering/transport"
)

// The file of agent b is stolen. It gets a new one, and the gossip key is changed in three steps, while both agents
// run; a message arrives after each. Then an agent with the old key is refused by membership, the stolen certificate by
// the agents, and a new agent with a new file comes in.
func TestHostilePeer_P5_aStolenFileIsReplacedWhileAgentsRun(t *testing.T) {
	by := authority(t)
	a := open(t, "a", by)
	atA := join(t, a, 1)
	b := open(t, "b", by, a)
	join(t, b, 2)
	until(t, "both know each other", a, func() bool { return len(a.Agents()) == 2 && len(b.Agents()) == 2 })
	stolen := b.o.Identity
	renew := func(step string, change func() error, ids map[*Network]*identity.Identity) {
		t.Helper()
		if err := change(); err != nil {
			t.Fatal(err)
		}
		for s, id := range ids {
			if err := s.Renew(id.WithGossipKeys(by)); err != nil {
				t.Fatalf("%s: %s: %v", step, s.Self(), err)
			}
		}
		before := len(atA.received())
		until(t, step+": a message arrives", b, func() bool {
			return b.Send(t.Context(), "a", 0, []byte(step)) == nil && len(atA.received()) > before
		})
		if len(a.Agents()) != 2 || len(b.Agents()) != 2 {
			t.Errorf("%s: %+v, %+v", step, a.KnownAgents(), b.KnownAgents())
		}
	}
	fresh, err := by.Issue("b", time.Now(), time.Hour, identity.Generation(stolen.Certificate.Leaf))
	if err != nil {
		t.Fatal(err)
	}
	ids := map[*Network]*identity.Identity{a: a.o.Identity, b: fresh}
	renew("new certificate", func() error { return nil }, ids)
	renew("add", by.AddGossipKey, ids)
	renew("use", by.UseGossipKey, ids)
	renew("remove", by.RemoveGossipKey, ids)

	_, err = membership.Join(t.Context(), membership.Options{
		Self: membership.Agent{
			ID: "b", Capacity: 1, GossipAddr: freePort, MessageAddr: b.transport.Addr(), Store: 9, Crawl: "crawl",
			MessageVersion: version,
		},
		Seeds: []string{gossipAddr(a)}, Key: stolen.GossipKeys[0].Key, Timings: a.o.Timings,
		Log: slog.New(slog.DiscardHandler),
	})
	if !errors.Is(err, membership.ErrOtherKey) {
		t.Errorf("a process with the old key joins: %v", err)
	}
	thief, err := transport.Open(t.Context(), transport.Options{
		Addr: freePort, Identity: stolen, Receive: b.receive, Patience: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	to := transport.Peer{ID: "a", Addr: a.transport.Addr()}
	if err := thief.Send(t.Context(), to, 0, []byte("stolen")); err == nil {
		t.Error("a message with the stolen certificate is taken")
	}
	if err := thief.Close(); err != nil {
		t.Error(err)
	}
	c := open(t, "c", by, a)
	join(t, c, 3)
	until(t, "an agent with a new file is counted", a, func() bool { return len(a.Agents()) == 3 })
	err = a.Renew(ids[b])
	if !errors.Is(err, transport.ErrIdentity) || !strings.Contains(err.Error(), "that of agent b") {
		t.Errorf("the file of another agent: %v", err)
	}
}

// An agent that was renewed before it joins has the keys that it was given last.
func TestRenew_beforeJoin(t *testing.T) {
	by := authority(t)
	a := open(t, "a", by)
	err := errors.Join(by.AddGossipKey(), by.UseGossipKey(), by.RemoveGossipKey())
	if err = errors.Join(err, a.Renew(a.o.Identity.WithGossipKeys(by))); err != nil {
		t.Fatal(err)
	}
	join(t, a, 1)
	b := open(t, "b", by, a)
	join(t, b, 2)
	until(t, "both know each other", a, func() bool { return len(a.Agents()) == 2 })
}
