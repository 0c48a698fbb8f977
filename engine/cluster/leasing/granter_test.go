package leasing

import (
	"fmt"
	"testing"
	"time"
)

const delay = 500 * time.Millisecond

// singleAddress is a Granter that gets requests for one address.
type singleAddress struct {
	Granter
	now time.Time
}

func newSingleAddress() *singleAddress { return &singleAddress{now: time.Unix(1e9, 0)} }

func (s *singleAddress) request(agent string, kind Kind, d time.Duration) Response {
	return s.Handle(agent, Request{kind, Addr{1}, d}, time.Time{}, s.now)
}

func (s *singleAddress) wait(d time.Duration) { s.now = s.now.Add(d) }

func TestGranter_aSingleAgentGetsLongLeases(t *testing.T) {
	s := newSingleAddress()
	for range 3 {
		if r := s.request("a", Acquire, delay); r != (Response{Granted: true, EndsIn: UncontestedTerm}) {
			t.Fatalf("%+v", r)
		}
		if n := s.LeaseCount(s.now); n != 1 {
			t.Errorf("%d leases, want 1", n)
		}
		s.wait(UncontestedTerm)
	}
	if n := s.LeaseCount(s.now); n != 0 {
		t.Errorf("%d leases at the end, want 0", n)
	}
}

// Each agent that retries when it should gets a slot of eight delays, one agent after the other.
func TestF3_waitingAgentsTakeTurns(t *testing.T) {
	s := newSingleAddress()
	s.request("a", Acquire, delay)
	retryAt := map[string]time.Time{}
	for _, agent := range []string{"b", "c", "d"} {
		r := s.request(agent, Acquire, delay)
		if r.Granted {
			t.Fatalf("%s gets the lease of a", agent)
		}
		retryAt[agent] = s.now.Add(r.RetryIn)
	}
	retryAt["a"] = s.now.Add(UncontestedTerm)
	slots := map[string]int{}
	for granted := 0; granted < 12; {
		next := ""
		for agent, at := range retryAt {
			if next == "" || at.Before(retryAt[next]) || at.Equal(retryAt[next]) && agent < next {
				next = agent
			}
		}
		s.now = retryAt[next]
		r := s.request(next, Acquire, delay)
		if !r.Granted {
			retryAt[next] = s.now.Add(max(r.RetryIn, time.Millisecond))
			continue
		}
		if !r.Shared || r.EndsIn-r.StartsIn != slotDelays*delay {
			t.Errorf("%s gets %v while three agents wait: %+v", next, r.EndsIn-r.StartsIn, r)
		}
		retryAt[next] = s.now.Add(r.EndsIn)
		slots[next]++
		granted++
	}
	for agent, n := range slots {
		if n != 3 || len(slots) != 4 {
			t.Errorf("%s gets %d of 12 slots, want 3: %v", agent, n, slots)
		}
	}
}

func TestF3_anAgentThatDoesNotRetryLosesItsTurn(t *testing.T) {
	s := newSingleAddress()
	s.request("a", Acquire, delay)
	s.request("b", Acquire, delay)
	s.wait(UncontestedTerm + delay)
	if r := s.request("c", Acquire, delay); r.Granted {
		t.Error("c gets the lease before b, which waited")
	}
	s.wait(turnTimeout + time.Millisecond)
	if r := s.request("c", Acquire, delay); !r.Granted {
		t.Errorf("c still waits for b: %+v", r)
	}
}

// Leases are shared while two agents want the address, and for contestedPeriod after that. The lease after a Release
// begins after the delay.
func TestGranter_leasesAreSharedWhileAgentsCompete(t *testing.T) {
	s := newSingleAddress()
	s.request("a", Acquire, delay)
	s.request("b", Acquire, delay)
	s.wait(UncontestedTerm + delay)
	if r := s.request("b", Acquire, delay); !r.Granted || !r.Shared || r.StartsIn != 0 {
		t.Errorf("%+v", r)
	}
	s.wait(200 * time.Millisecond)
	s.request("b", Release, delay)
	if r := s.request("a", Acquire, delay); !r.Granted || !r.Shared || r.StartsIn != delay {
		t.Errorf("%+v", r)
	}
	s.wait(contestedPeriod)
	if r := s.request("a", Acquire, delay); !r.Granted || r.Shared || r.EndsIn != UncontestedTerm {
		t.Errorf("without a competitor: %+v", r)
	}
}

func TestF2_aLongExchangeIsRenewed(t *testing.T) {
	s := newSingleAddress()
	s.request("a", Acquire, delay)
	s.request("b", Acquire, delay)
	for range 4 {
		s.wait(UncontestedTerm / 3)
		if r := s.request("a", Renew, delay); !r.Granted || r.EndsIn < RenewTerm {
			t.Fatalf("%+v", r)
		}
		if r := s.request("b", Acquire, delay); r.Granted {
			t.Fatal("b gets the lease of a")
		}
		if r := s.request("b", Renew, delay); r.Granted {
			t.Fatal("b renews a lease that it does not have")
		}
	}
	s.request("b", Release, 0) // of a lease that it does not have
	s.request("a", Release, 7*time.Second)
	if r := s.request("b", Acquire, delay); r != (Response{RetryIn: 6500 * time.Millisecond}) {
		t.Errorf("after Release with a pause of 7s: %+v", r)
	}
	s.wait(7 * time.Second)
	if r := s.request("b", Acquire, delay); !r.Granted {
		t.Errorf("%+v", r)
	}
	s.wait(2 * maxExchange)
	s.request("b", Acquire, delay)
	s.wait(maxExchange + time.Second)
	if r := s.request("b", Renew, delay); r.Granted {
		t.Error("an exchange of more than an hour is renewed")
	}
}

func TestGranter_beforeNotBeforeItOnlyRenews(t *testing.T) {
	var g Granter
	now := time.Unix(1e9, 0)
	notBefore := now.Add(10 * time.Second)
	request := func(agent string, kind Kind) Response {
		return g.Handle(agent, Request{kind, Addr{2}, delay}, notBefore, now)
	}
	if r := request("b", Acquire); r != (Response{RetryIn: 10 * time.Second}) {
		t.Errorf("%+v", r)
	}
	if r := request("a", Renew); !r.Granted {
		t.Errorf("%+v", r)
	}
	if r := request("a", Acquire); r.Granted {
		t.Error("a gets a new lease")
	}
	now = notBefore
	if r := request("b", Acquire); !r.Granted {
		t.Errorf("%+v", r)
	}
}

func TestF4_expiredEntriesAreForgotten(t *testing.T) {
	var g Granter
	now := time.Unix(1e9, 0)
	for i := range 1000 {
		g.Handle("a", Request{Acquire, Addr{1, byte(i), byte(i >> 8)}, delay}, time.Time{}, now)
	}
	for range 3 {
		now = now.Add(minAge)
		g.Handle("a", Request{Acquire, Addr{2}, delay}, time.Time{}, now)
	}
	if n := g.entries.size(); n != 1 {
		t.Errorf("%d entries, want 1: 1,000 have expired", n)
	}
}

// One agent requests more addresses than the limit. Other agents still get leases, and so does this one when its own
// have expired.
func TestHostilePeer_oneAgentCannotFillTheGranter(t *testing.T) {
	var g Granter
	now := time.Unix(1e9, 0)
	acquire := func(agent string, i int) bool {
		r := Request{Acquire, Addr{1, byte(i), byte(i >> 8), byte(i >> 16)}, delay}
		return g.Handle(agent, r, time.Time{}, now).Granted
	}
	granted := 0
	for i := range maxAddresses + 1 {
		if acquire("hostile", i) {
			granted++
		}
	}
	if granted != maxAddressesOfAgent || !acquire("b", maxAddresses+2) {
		t.Errorf("granted %d addresses, want %d; or another agent gets none", granted, maxAddressesOfAgent)
	}
	for range 3 {
		now = now.Add(minAge)
		acquire("b", maxAddresses+2)
	}
	if !acquire("hostile", 1) || g.counts["hostile"] != 1 {
		t.Errorf("after expiry it gets no lease, or %d addresses are counted", g.counts["hostile"])
	}
}

func BenchmarkAcquire(b *testing.B) {
	var g Granter
	now := time.Unix(1e9, 0)
	agents := make([]string, 8)
	for i := range agents {
		agents[i] = fmt.Sprint("agent-", i)
	}
	b.ReportAllocs()
	for i := range b.N {
		now = now.Add(time.Millisecond)
		g.Handle(agents[i%8], Request{Acquire, Addr{byte(i), byte(i >> 8)}, delay}, time.Time{}, now)
	}
}
