package leasing

import (
	"encoding/binary"
	"math"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/peering/ownership"
)

// newGranter is an agent that grants the leases of an address, and how it answers the requests of other agents for it.
func newGranter(t *testing.T) (
	granter *member, request func(from string, k Kind, d time.Duration) Response,
) {
	t.Helper()
	all := []ownership.Agent{{ID: "a", Capacity: 1, Store: 1}, {ID: "b", Capacity: 1, Store: 2},
		{ID: "evil", Capacity: 1, Store: 3}}
	granter = newMember(t, all[0], all)
	var addr Addr
	for !granter.leases.granters.Load().isSelf(addr) {
		addr[15]++
	}
	return granter, granter.asked(t, addr)
}

// asked says how an agent answers the requests of others for an address.
func (m *member) asked(
	t *testing.T, addr Addr,
) func(from string, k Kind, d time.Duration) Response {
	t.Helper()
	number := uint64(0)
	return func(from string, kind Kind, d time.Duration) Response {
		t.Helper()
		number++
		question := binary.AppendUvarint(make([]byte, 8), number)
		raw, err := m.leases.HandleQuestion(from,
			AppendRequest(question, Request{Kind: kind, Addr: addr, Delay: d}))
		if err != nil {
			t.Fatal(err)
		}
		answers, err := ParseResponses(raw, 1)
		if err != nil {
			t.Fatal(err)
		}
		return answers[0]
	}
}

// A member that never had the lease of an address says that an exchange goes on there, or that the address must rest
// for an hour. It has no authority for that: the next agent gets the lease at once.
func TestHostilePeer_anAddressIsNotSilencedWithoutALease(t *testing.T) {
	for name, kind := range map[string]Kind{"the end of an exchange": Release,
		"an exchange": Renew} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				granter, request := newGranter(t)
				time.Sleep(2 * claimTime) // the granters did not change recently
				request("evil", kind, time.Hour)
				if a := request("b", Acquire, time.Second); !a.Granted || a.StartsIn > 0 {
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
		request("evil", Release, 10*time.Minute)
		if a := request("b", Acquire, time.Second); a.Granted {
			t.Errorf("%+v", a)
		}
		granter.cautiousUntil = time.Unix(0, math.MaxInt64) // it has just joined, and does not know what goes on
		if !granter.leases.mayClaim("evil", Addr{1}, granter.leases.granters.Load(), time.Now()) {
			t.Error("an agent that has just joined does not believe the others")
		}
	})
}

// A member gets a lease and states a delay of an hour between its exchanges. A minute is believed.
func TestHostilePeer_theDelayOfALeaseIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, request := newGranter(t)
		time.Sleep(2 * claimTime)
		if a := request("evil", Acquire, time.Hour); !a.Granted {
			t.Fatalf("%+v", a)
		}
		time.Sleep(UncontestedTerm + delayMost + time.Second)
		if a := request("b", Acquire, time.Second); !a.Granted {
			t.Errorf("after %v: %+v", UncontestedTerm+delayMost, a)
		}
	})
}

// An agent has the lease of a group of hosts, and is lost in an exchange. The next agent waits for the delay of the
// group after the end of the lease, though that is longer than the delay of an address and than a minute.
func TestLeases_theDelayOfAGroupHoldsWhenItsAgentIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const delay = 5 * time.Minute
		granter, _ := newGranter(t)
		farm := Addr{0: 1}
		for !granter.leases.granters.Load().isSelf(farm) {
			farm[15]++
		}
		granter.delays = map[netip.Addr]time.Duration{netip.AddrFrom16(farm): delay}
		request := granter.asked(t, farm)
		time.Sleep(2 * delay) // the granters did not change recently
		if a := request("b", Acquire, delay); !a.Granted {
			t.Fatalf("%+v", a)
		}
		lost := time.Now()
		for !request("evil", Acquire, delay).Granted {
			time.Sleep(time.Second)
		}
		if waited := time.Since(lost); waited < UncontestedTerm+delay-time.Second {
			t.Errorf("the next agent has the lease after %v", waited)
		}
	})
}
