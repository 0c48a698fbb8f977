package agent

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/addresslease"
	"orbweaver/engine/cluster/ownership"
)

// tenant is an agent that asks another for addresses, and does nothing else: the seam of its peers.
type tenant struct {
	cluster.Network
	self  string
	peers *agent
	to    *tenant
}

func (n *tenant) Self() string { return n.self }

func (n *tenant) Ask(_ context.Context, _ string, question []byte) ([]byte, error) {
	return n.to.peers.leases.answer(n.self, question[1:])
}

// newTenant is one of two agents, each with the same circle.
func newTenant(t *testing.T, self ownership.Agent, both []ownership.Agent) *tenant {
	t.Helper()
	n := &tenant{self: self.ID}
	n.peers = &agent{network: n, store: self.Store, instance: self.Instance(), log: slog.New(slog.DiscardHandler),
		grace: peerGrace}
	n.peers.leases.init(n.peers)
	n.peers.leases.gap = func() time.Duration { return 100 * time.Millisecond }
	c, err := ownership.NewView(both, nil, 0, self.ID)
	if err != nil {
		t.Fatal(err)
	}
	n.peers.leases.keep(c, nil, time.Now(), peerGrace)
	return n
}

// A keeper that was taken for dead, and had only been out of reach, answers from the first question on: it has not
// forgotten the questions of before, and those of now are later ones.
func TestAKeeperThatWasLostAnswersAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		both := []ownership.Agent{{ID: "a", Capacity: 1, Store: 1}, {ID: "b", Capacity: 1, Store: 2}}
		a, b := newTenant(t, both[0], both), newTenant(t, both[1], both)
		a.to = b
		time.Sleep(time.Minute) // nobody is a new keeper
		k := a.peers.leases.keepers.Load()
		addr := netip.MustParseAddr("10.0.0.1")
		for k.mine(addresslease.Addr(addr.As16())) {
			addr = addr.Next()
		}
		for life := range 3 {
			ctx, stop := context.WithCancel(t.Context())
			clerk := a.peers.leases.hire("b", both[1].Instance())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				clerk.run(ctx)
			}()
			for range 5 {
				lent, _ := a.peers.leases.borrow(t.Context(), nil, addr, func() {})
				if !lent {
					t.Fatalf("life %d: the address is not to be had; %d of %d questions were not answered", life,
						a.peers.counters.leaseUnanswered.Load(), a.peers.counters.leaseAsked.Load())
				}
				a.peers.leases.give(addr, time.Now(), false)
				time.Sleep(10 * time.Second) // the lease is over, and is asked for again
			}
			stop()
			<-ended
			a.peers.leases.fire(both[1].Instance())
		}
		if asked, not := a.peers.counters.leaseAsked.Load(), a.peers.counters.leaseUnanswered.Load(); asked < 15 || not > 0 {
			t.Errorf("%d of %d questions were not answered", not, asked)
		}
	})
}

// A keeper that some took for dead may know nothing of it, and so gives its addresses away when they see it again; who
// went by another keeper meanwhile waits, all the same, until what that one lent is over.
func TestWhoWentByAnotherKeeperWaitsUntilItsLeasesAreOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := []ownership.Agent{{ID: "a", Capacity: 1, Store: 1}, {ID: "b", Capacity: 1, Store: 2},
			{ID: "c", Capacity: 1, Store: 3}}
		a, b := newTenant(t, all[0], all), newTenant(t, all[1], all)
		a.to = b
		time.Sleep(time.Minute) // nobody is a new keeper
		book := &a.peers.leases
		addr := netip.MustParseAddr("10.0.0.1")
		for book.keepers.Load().of(addresslease.Addr(addr.As16())) != all[1].Instance() {
			addr = addr.Next()
		}
		clerk := book.hire("b", all[1].Instance())
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { clerk.run(ctx) })
		for _, there := range [][]ownership.Agent{{all[0], all[2]}, all} {
			c, err := ownership.NewView(there, nil, 0, "a")
			if err != nil {
				t.Fatal(err)
			}
			book.keep(c, nil, time.Now(), peerGrace)
			time.Sleep(5 * time.Second)
		}
		lent, again := book.borrow(t.Context(), nil, addr, func() {})
		if wait := time.Until(again); lent || wait < 4*time.Second || wait > peerGrace {
			t.Fatalf("lent %v, come again in %v", lent, wait)
		}
		time.Sleep(time.Until(again))
		if lent, _ := book.borrow(t.Context(), nil, addr, func() {}); !lent {
			t.Error("the address is not to be had when it is time")
		}
		stop()
		running.Wait()
	})
}
