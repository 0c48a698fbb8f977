package leasing

import (
	"context"
	"log/slog"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/peering/ownership"
)

// grace is how long agents may act by an earlier view.
const grace = 10 * time.Second

// member is an agent that asks another one for leases, and does nothing else.
type member struct {
	leases        *Leases
	granter       *member // is asked
	cautiousUntil time.Time
	unauthorised  int
	delays        map[netip.Addr]time.Duration // of some addresses
}

// newMember is an agent with a view.
func newMember(t *testing.T, self ownership.Agent, all []ownership.Agent) *member {
	t.Helper()
	m := &member{cautiousUntil: time.Unix(0, 0)}
	m.leases = New(Options{
		Self: self.ID, Instance: self.Instance(), Log: slog.New(slog.DiscardHandler),
		Delay:         func(a netip.Addr) time.Duration { return max(m.delays[a], 100*time.Millisecond) },
		Grace:         func() time.Duration { return grace },
		CautiousUntil: func() time.Time { return m.cautiousUntil },
		MayGrant:      func() bool { return true },
		Unauthorised:  func(string, string) { m.unauthorised++ },
		Ask: func(_ context.Context, _ string, question []byte) ([]byte, error) {
			return m.granter.leases.HandleQuestion(self.ID, question[1:])
		},
	})
	m.use(t, self.ID, all)
	return m
}

// use gives an agent another view.
func (m *member) use(t *testing.T, self string, all []ownership.Agent) {
	t.Helper()
	c, err := ownership.NewView(ownership.Consistent, all, nil, 0, self)
	if err != nil {
		t.Fatal(err)
	}
	m.leases.UseView(c, nil, time.Now())
}

// A granter that was taken for dead, and was only out of reach, answers the first question: it remembers the former
// questions, and the new ones have higher numbers.
func TestRequester_aGranterThatWasLostAnswersAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		both := []ownership.Agent{{ID: "a", Capacity: 1, Store: 1}, {ID: "b", Capacity: 1, Store: 2}}
		a, b := newMember(t, both[0], both), newMember(t, both[1], both)
		a.granter = b
		time.Sleep(time.Minute) // the granters did not change recently
		g := a.leases.granters.Load()
		addr := netip.MustParseAddr("10.0.0.1")
		for g.isSelf(Addr(addr.As16())) {
			addr = addr.Next()
		}
		for life := range 3 {
			ctx, stop := context.WithCancel(t.Context())
			requester := a.leases.AddRequester("b", both[1].Instance())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				requester.SendRequests(ctx)
			}()
			for range 5 {
				granted, _ := a.leases.Acquire(t.Context(), nil, addr, func() {})
				if !granted {
					t.Fatalf("life %d: the address is not granted; %d of %d questions were not answered", life,
						a.leases.counts.unanswered.Load(), a.leases.counts.questions.Load())
				}
				a.leases.Release(addr, time.Now(), false)
				time.Sleep(10 * time.Second) // the lease ends, and is asked for again
			}
			stop()
			<-ended
			a.leases.RemoveRequester(both[1].Instance())
		}
		if asked, not := a.leases.counts.questions.Load(), a.leases.counts.unanswered.Load(); asked < 15 || not > 0 {
			t.Errorf("%d of %d questions were not answered", not, asked)
		}
	})
}

// A granter that some agents took for dead may not know that, and grants its addresses when they see it again. An agent
// that went by another granter meanwhile waits until the leases of its granter have ended.
func TestLeases_ofAFormerGranterEndFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := []ownership.Agent{{ID: "a", Capacity: 1, Store: 1}, {ID: "b", Capacity: 1, Store: 2},
			{ID: "c", Capacity: 1, Store: 3}}
		a, b := newMember(t, all[0], all), newMember(t, all[1], all)
		a.granter = b
		time.Sleep(time.Minute) // the granters did not change recently
		leases := a.leases
		addr := netip.MustParseAddr("10.0.0.1")
		for leases.granters.Load().of(Addr(addr.As16())) != all[1].Instance() {
			addr = addr.Next()
		}
		requester := leases.AddRequester("b", all[1].Instance())
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { requester.SendRequests(ctx) })
		for _, there := range [][]ownership.Agent{{all[0], all[2]}, all} {
			a.use(t, "a", there)
			time.Sleep(5 * time.Second)
		}
		granted, retryAt := leases.Acquire(t.Context(), nil, addr, func() {})
		if wait := time.Until(retryAt); granted || wait < 4*time.Second || wait > grace {
			t.Fatalf("granted %v, retry in %v", granted, wait)
		}
		time.Sleep(time.Until(retryAt))
		if granted, _ := leases.Acquire(t.Context(), nil, addr, func() {}); !granted {
			t.Error("the address is not granted when it is time")
		}
		stop()
		running.Wait()
	})
}

// Messages that take a second each way delay leases, and do not prevent them. A granter that never answers is reported.
func TestRequester_aSlowConnectionHasLeases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		both := []ownership.Agent{{ID: "a", Capacity: 1, Store: 1}, {ID: "b", Capacity: 1, Store: 2}}
		a, b := newMember(t, both[0], both), newMember(t, both[1], both)
		isLost := false
		a.leases.options.Ask = func(ctx context.Context, _ string, question []byte) ([]byte, error) {
			for range 2 {
				time.Sleep(time.Second)
				if isLost {
					<-ctx.Done()
				}
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
			}
			return b.leases.HandleQuestion("a", question[1:])
		}
		time.Sleep(time.Minute) // the granters did not change recently
		addr := netip.MustParseAddr("10.0.0.1")
		for a.leases.granters.Load().isSelf(Addr(addr.As16())) {
			addr = addr.Next()
		}
		requester := a.leases.AddRequester("b", both[1].Instance())
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { requester.SendRequests(ctx) })
		acquire := func() (granted bool) {
			for try := 0; try < 5 && !granted; try++ {
				var retryAt time.Time
				granted, retryAt = a.leases.Acquire(t.Context(), nil, addr, func() {})
				time.Sleep(time.Until(retryAt))
			}
			return granted
		}
		isSilent := func() bool { return a.leases.IsSilent(both[1].Instance()) }
		for life := range 3 {
			if !acquire() {
				t.Fatalf("life %d: the address is not granted", life)
			}
			a.leases.Release(addr, time.Now(), false)
			time.Sleep(10 * time.Second) // the lease ends
		}
		if unanswered := a.leases.counts.unanswered.Load(); unanswered > 2 || isSilent() {
			t.Errorf("%d questions had no answer; silent: %v", unanswered, isSilent())
		}
		isLost = true
		if acquire() || !isSilent() {
			t.Error("a granter that never answers is not reported")
		}
		stop()
		running.Wait()
	})
}
