package peering

import (
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/membership"
	"orbweaver/engine/cluster/ownership"
)

// forge joins membership beside an agent with what is said of another. The process has the gossip key and no
// certificate.
func forge(t *testing.T, beside *Seat, id string, capacity int, letters netip.AddrPort) {
	t.Helper()
	g, err := membership.Join(t.Context(), membership.Options{
		Self:  membership.Agent{ID: id, Capacity: capacity, GossipAddr: netip.MustParseAddrPort("127.0.0.1:0"), MessageAddr: letters, Store: 99, Crawl: "crawl", MessageVersion: version},
		Seeds: []string{beside.group.Load().Self().GossipAddr.String()}, Key: beside.o.Identity.GossipKeys[0].Key, Timings: beside.o.Timings, Log: slog.New(slog.DiscardHandler),
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

// A process with the gossip key tells membership of an agent of capacity 1,000 that was never issued, with the address
// for letters of an honest agent, of no process, or of a process of its own; or of one that was issued and is not
// there. None of them counts: together they took 99.9 % of the hosts.
func TestHostilePeer_P4_aNameWithoutACertificateIsNotCounted(t *testing.T) {
	by := authority(t)
	a := open(t, "a", by)
	join(t, a, 1)
	b := open(t, "b", by, a)
	join(t, b, 2)
	own := open(t, "evil", by) // its certificate is in order, and its name
	for id, letters := range map[string]netip.AddrPort{
		"ghost-1": b.transport.Addr(), "ghost-2": netip.MustParseAddrPort("127.0.0.1:1"), "ghost-3": own.transport.Addr(), "c": own.transport.Addr(),
	} {
		forge(t, a, id, 1000, letters)
	}
	names := func(s *Seat) (ids []string) {
		for _, p := range s.Agents() {
			ids = append(ids, p.ID)
		}
		return ids
	}
	for _, s := range []*Seat{a, b} {
		until(t, "membership has heard of all", s, func() bool { return len(s.group.Load().View().Agents) == 6 })
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

// The capacity that counts is what the certificate allows, whatever an agent tells membership and confirms: one of
// 1,000 beside two of 2 has 67 % of the hosts by its certificate and had 99.6 %. An honest agent is told at its start.
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
	o := Options{ID: "large", Capacity: 20, Gossip: netip.MustParseAddrPort("127.0.0.1:0"), Post: netip.MustParseAddrPort("127.0.0.1:0"), Identity: large}
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
	if o.Capacity++; o.Validate() == nil || !strings.Contains(o.Validate().Error(), "ca issue large --capacity 21") {
		t.Errorf("more than the certificate allows: %v", o.Validate())
	}
}

// An agent that is there is not taken for another one by what another process tells of it: its data and its capacity
// are what it says itself.
func TestHostilePeer_P4_anAgentConfirmsItsCard(t *testing.T) {
	by := authority(t)
	a := open(t, "a", by)
	join(t, a, 1)
	b := open(t, "b", by)
	b.server.Store(new(cluster.Handler)) // it has not joined: membership hears of it from another process
	forge(t, a, "b", 8, b.transport.Addr())
	until(t, "it is known", a, func() bool { return len(a.KnownAgents()) == 2 })
	until(t, "it was asked", a, func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.proofs["b"] != nil && a.proofs["b"].tries > 0
	})
	if len(a.Agents()) != 1 {
		t.Errorf("counted: %+v", a.Agents())
	}
}
