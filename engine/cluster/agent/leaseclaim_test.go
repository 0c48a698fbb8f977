package agent

import (
	"encoding/binary"
	"log/slog"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/cluster/addresslease"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/cluster/quota"
)

// claimTown is an agent that keeps an address, and how another one's wishes for it are answered.
func claimTown(t *testing.T) (keeper *tenant, addr addresslease.Addr,
	wish func(from string, k addresslease.Kind, d time.Duration) addresslease.Response) {
	t.Helper()
	all := []ownership.Agent{{ID: "a", Capacity: 1, Store: 1}, {ID: "b", Capacity: 1, Store: 2},
		{ID: "evil", Capacity: 1, Store: 3}}
	keeper = newTenant(t, all[0], all)
	keeper.peers.accounts = quota.NewAccounts(0, func() int64 { return 0 }, func() {}, slog.New(slog.DiscardHandler))
	for !keeper.peers.leases.keepers.Load().mine(addr) {
		addr[15]++
	}
	number := uint64(0)
	return keeper, addr, func(from string, kind addresslease.Kind, d time.Duration) addresslease.Response {
		t.Helper()
		number++
		question := binary.AppendUvarint(make([]byte, 8), number)
		raw, err := keeper.peers.leases.answer(from,
			addresslease.AppendRequest(question, addresslease.Request{Kind: kind, Addr: addr, Delay: d}))
		if err != nil {
			t.Fatal(err)
		}
		answers, err := addresslease.ParseResponses(raw, 1)
		if err != nil {
			t.Fatal(err)
		}
		return answers[0]
	}
}

// A member says of an address that it never had that an exchange goes on there, or that nobody may ask it for an hour.
// It has no authority for that: the next agent gets the address at once. Before, it had to wait for an hour.
func TestHostilePeer_anAddressIsNotSilencedWithoutALease(t *testing.T) {
	for name, kind := range map[string]addresslease.Kind{"the end of an exchange": addresslease.Release,
		"an exchange": addresslease.Renew} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				keeper, _, wish := claimTown(t)
				time.Sleep(2 * leaseClaim) // the keepers have been the same for long
				wish("evil", kind, time.Hour)
				if a := wish("b", addresslease.Acquire, time.Second); !a.Granted || a.StartsIn > 0 {
					t.Errorf("%+v", a)
				}
				if keeper.peers.counters.unauthorised.Load() != 1 {
					t.Errorf("counted: %d", keeper.peers.counters.unauthorised.Load())
				}
			})
		})
	}
}

// An exchange that began under another keeper is told to the next one: after a change of the keepers its end is
// believed, with the rest of the address.
func TestLeases_anExchangeOutlivesItsKeeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keeper, _, wish := claimTown(t)
		time.Sleep(2 * leaseClaim)
		// they were others until now
		keeper.peers.leases.former.Add(keeper.peers.leases.keepers.Load(), time.Now(), peerGrace)
		time.Sleep(leaseClaim / 2)
		wish("evil", addresslease.Release, 10*time.Minute)
		if a := wish("b", addresslease.Acquire, time.Second); a.Granted {
			t.Errorf("%+v", a)
		}
		keeper.peers.cautiousUntil.Store(math.MaxInt64) // this agent has not arrived yet: it knows nothing of what goes on
		if !keeper.peers.leases.mayClaim("evil", addresslease.Addr{1}, keeper.peers.leases.keepers.Load(), time.Now()) {
			t.Error("an agent that has just come does not believe those that were there")
		}
	})
}

// A member gets a lease and says that it leaves an hour between its exchanges. A minute is believed.
func TestHostilePeer_theDelayOfALeaseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, wish := claimTown(t)
		time.Sleep(2 * leaseClaim)
		if a := wish("evil", addresslease.Acquire, time.Hour); !a.Granted {
			t.Fatalf("%+v", a)
		}
		time.Sleep(addresslease.UncontestedTerm + leaseGapMost + time.Second)
		if a := wish("b", addresslease.Acquire, time.Second); !a.Granted {
			t.Errorf("after %v: %+v", addresslease.UncontestedTerm+leaseGapMost, a)
		}
	})
}
