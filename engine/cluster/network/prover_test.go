package network

import (
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/peering/membership"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
)

// forge joins membership beside an agent, with what another agent would say. The process has the gossip key and no
// certificate.
func forge(t *testing.T, beside *Network, id string, capacity int, messages netip.AddrPort) {
	t.Helper()
	g, err := membership.Join(t.Context(), membership.Options{
		Self: membership.Agent{
			ID: id, Capacity: capacity, GossipAddr: freePort, MessageAddr: messages, Store: 99, Crawl: "crawl",
			MessageVersion: version,
		},
		Seeds: []string{gossipAddr(beside)}, Key: beside.o.Identity.GossipKeys[0].Key, Timings: beside.o.Timings,
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A process with the gossip key announces an agent of capacity 1,000 that has no certificate. The announced address for
// messages is that of an honest agent, of no process, or of a process of its own. It also announces an agent that has a
// certificate and is not there. None of them counts: together they took 99.9 % of the hosts.
func TestHostilePeer_P4_aNameWithoutACertificateIsNotCounted(t *testing.T) {
	by := authority(t)
	a := open(t, "a", by)
	join(t, a, 1)
	b := open(t, "b", by, a)
	join(t, b, 2)
	own := open(t, "evil", by) // its certificate is in order, and its name
	for id, messages := range map[string]netip.AddrPort{
		"ghost-1": b.transport.Addr(), "ghost-2": netip.MustParseAddrPort("127.0.0.1:1"),
		"ghost-3": own.transport.Addr(), "c": own.transport.Addr(),
	} {
		forge(t, a, id, 1000, messages)
	}
	names := func(s *Network) (ids []string) {
		for _, p := range s.Agents() {
			ids = append(ids, p.ID)
		}
		return ids
	}
	for _, s := range []*Network{a, b} {
		until(t, "membership has heard of all", s, func() bool { return len(s.members.Load().View().Agents) == 6 })
		until(t, "all were asked for a proof", s, func() bool {
			n := 0
			for _, k := range s.KnownAgents() {
				if k.State == cluster.AgentUnproven {
					n++
				}
			}
			return n == 4 && slices.Equal(names(s), []string{"a", "b"})
		})
		taken, sum := 0, 0 // shares are in proportion to capacities
		for _, p := range s.Agents() {
			if sum += p.Capacity; p.ID != "a" && p.ID != "b" {
				taken += p.Capacity
			}
		}
		if taken > 0 {
			t.Errorf("%s: %.1f %% of the hosts are taken", s.Self(), 100*float64(taken)/float64(sum))
		}
	}
}

// The capacity that counts is what the certificate allows, whatever an agent tells membership and confirms. An agent of
// capacity 1,000 beside two of 2 has 67 % of the hosts by its certificate, and had 99.6 %. An honest agent gets an
// error at its start.
func TestHostilePeer_P4_theCertificateBoundsTheCapacity(t *testing.T) {
	by := authority(t)
	a := open(t, "a", by)
	join(t, a, 1)
	evil := open(t, "evil", by, a)
	evil.o.Capacity = 1000
	join(t, evil, 2)
	until(t, "it is counted", a, func() bool { return len(a.Agents()) == 2 })
	if p := a.Agents()[1]; p != (ownership.Agent{ID: "evil", Capacity: 8, Store: 2}) {
		t.Errorf("%+v", p)
	}
	large, err := by.IssueFor("large", 20, time.Now(), time.Hour, 0)
	if err != nil {
		t.Fatal(err)
	}
	o := Options{ID: "large", Capacity: 20, GossipAddr: freePort, MessageAddr: freePort, Identity: large}
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
	if o.Capacity++; o.Validate() == nil || !strings.Contains(o.Validate().Error(), "ca issue large --capacity 21") {
		t.Errorf("more than the certificate allows: %v", o.Validate())
	}
}

// What another process announces about an agent does not count: its data and its capacity are what it says itself.
func TestHostilePeer_P4_anAgentConfirmsItsDescription(t *testing.T) {
	by := authority(t)
	a := open(t, "a", by)
	join(t, a, 1)
	b := open(t, "b", by)
	b.handler.Store(new(cluster.Handler)) // it has not joined: membership hears of it from another process
	forge(t, a, "b", 8, b.transport.Addr())
	until(t, "it is known", a, func() bool { return len(a.KnownAgents()) == 2 })
	until(t, "it was asked", a, func() bool {
		a.prover.mu.Lock()
		defer a.prover.mu.Unlock()
		return a.prover.proofs["b"] != nil && a.prover.proofs["b"].tries > 0
	})
	if len(a.Agents()) != 1 {
		t.Errorf("counted: %+v", a.Agents())
	}
}
