package leasing

import (
	"encoding/binary"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/cluster/addresslease"
	"orbweaver/engine/cluster/ownership"
)

// newGranter is an agent that grants the leases of an address, and how it answers the requests of other agents for it.
func newGranter(t *testing.T) (
	granter *member, request func(from string, k addresslease.Kind, d time.Duration) addresslease.Response,
) {
	t.Helper()
	all := []ownership.Agent{{ID: "a", Capacity: 1, Store: 1}, {ID: "b", Capacity: 1, Store: 2},
		{ID: "evil", Capacity: 1, Store: 3}}
	granter = newMember(t, all[0], all)
	var addr addresslease.Addr
	for !granter.leases.granters.Load().isSelf(addr) {
		addr[15]++
	}
	number := uint64(0)
	return granter, func(from string, kind addresslease.Kind, d time.Duration) addresslease.Response {
		t.Helper()
		number++
		question := binary.AppendUvarint(make([]byte, 8), number)
		raw, err := granter.leases.HandleQuestion(from,
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

// A member that never had the lease of an address says that an exchange goes on there, or that the address must rest
// for an hour. It has no authority for that: the next agent gets the lease at once.
func TestHostilePeer_anAddressIsNotSilencedWithoutALease(t *testing.T) {
	for name, kind := range map[string]addresslease.Kind{"the end of an exchange": addresslease.Release,
		"an exchange": addresslease.Renew} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				granter, request := newGranter(t)
				time.Sleep(2 * claimTime) // the granters did not change recently
				request("evil", kind, time.Hour)
				if a := request("b", addresslease.Acquire, time.Second); !a.Granted || a.StartsIn > 0 {
					t.Errorf("%+v", a)
				}
				if granter.unauthorised != 1 {
					t.Errorf("counted: %d", granter.unauthorised)
				}
			})
		})
	}
}

// An exchange that began under another granter is told to the next one: after a change of the granters its end is
// believed, and the address rests.
func TestLeases_anExchangeOutlivesItsGranter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		granter, request := newGranter(t)
		time.Sleep(2 * claimTime)
		// they change now
		granter.leases.earlier.Add(granter.leases.granters.Load(), time.Now(), grace)
		time.Sleep(claimTime / 2)
		request("evil", addresslease.Release, 10*time.Minute)
		if a := request("b", addresslease.Acquire, time.Second); a.Granted {
			t.Errorf("%+v", a)
		}
		granter.cautiousUntil = time.Unix(0, math.MaxInt64) // it has just joined, and does not know what goes on
		if !granter.leases.mayClaim("evil", addresslease.Addr{1}, granter.leases.granters.Load(), time.Now()) {
			t.Error("an agent that has just joined does not believe the others")
		}
	})
}

// A member gets a lease and states a delay of an hour between its exchanges. A minute is believed.
func TestHostilePeer_theDelayOfALeaseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, request := newGranter(t)
		time.Sleep(2 * claimTime)
		if a := request("evil", addresslease.Acquire, time.Hour); !a.Granted {
			t.Fatalf("%+v", a)
		}
		time.Sleep(addresslease.UncontestedTerm + delayMost + time.Second)
		if a := request("b", addresslease.Acquire, time.Second); !a.Granted {
			t.Errorf("after %v: %+v", addresslease.UncontestedTerm+delayMost, a)
		}
	})
}
