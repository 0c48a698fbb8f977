package schedule

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/dnsres"
	"orbweaver/engine/net/fetch/addrguard"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
)

// fakeNames answers with one answer, and notes when it was asked.
type fakeNames struct {
	answer dnsres.Answer
	down   bool
	asked  []time.Time
}

// Resolve implements dnsrecords.Source.
func (f *fakeNames) Resolve(context.Context, string, func() bool) (dnsres.Answer, error) {
	f.asked = append(f.asked, time.Now())
	return f.answer, nil
}

// Outage says that no name server answers.
func (f *fakeNames) Health() dnsres.Health     { return dnsres.Health{Down: f.down} }
func (*fakeNames) Stats() dnsres.Stats         { return dnsres.Stats{} }
func (*fakeNames) CheckHijack(context.Context) {}

// resolveRig is a ResolveLoop that runs, with a Distributor that sends sites to it whose wait is over.
type resolveRig struct {
	*rig
	loop  *ResolveLoop
	names *fakeNames
	site  *visit.State
	start time.Time
}

func newResolveRig(t *testing.T, answer dnsres.Answer) *resolveRig {
	t.Helper()
	g := &resolveRig{names: &fakeNames{answer: answer}, start: time.Now()}
	g.rig = newRig(t, vfs.NewMem(1), "crawl", 1<<20, -1)
	warn := func(string, ...any) {}
	g.loop = &ResolveLoop{
		Steps: g.Steps, Workbench: g.Workbench, Sites: g.Sites, Unresolved: g.Unresolved, Dead: g.Dead,
		Quotas:   g.Sites.Quotas,
		AddrKeys: politeness.AddrKeys(64), Names: g.names, NameServers: outage.NewNameServers(g.names, warn),
		Shortage: &outage.Shortage{Warn: warn}, Choose: FirstAddr, WakeFeeder: g.WakeFeeder, Live: g.Live,
		WakeDistributor: func() {},
	}
	g.Live.ChangeBounds(func(b *settings.Bounds) { b.GiveUp = 24 * time.Hour })
	g.site, _ = g.Workbench.GetOrAdd([]byte("http://a.test:8080"))
	g.Workbench.Push(g.site, path("/"))
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error)
	go func() { over <- g.loop.ResolveNames(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	return g
}

// resolve sends the site to the loop, and again when its wait is over, until it has an address, is dead, or was asked
// for most times.
func (g *resolveRig) resolve(most int) {
	g.Unresolved.Put(g.Workbench.Site(g.site).AppendKey(nil))
	for {
		synctest.Wait()
		due, ok := g.Workbench.DueTimes().NextDeferred()
		if !ok || len(g.names.asked) == most {
			return
		}
		time.Sleep(time.Until(due))
		for _, vs := range g.Workbench.DueDeferred(time.Now(), nil) {
			g.Unresolved.Put(g.Workbench.Site(vs).AppendKey(nil))
		}
	}
}

// outcomes returns how many URLs have an outcome.
func (g *resolveRig) outcomes(o outcome.Outcome) int64 { return g.Progress.Counters.Outcomes[o].Load() }

func address(s string) dnsres.Answer {
	return dnsres.Answer{Addrs: []netip.Addr{netip.MustParseAddr(s)}, Expires: time.Now().Add(time.Hour)}
}

func TestResolveLoop_placesASite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newResolveRig(t, address("240.0.0.1"))
		g.resolve(1)
		if v := g.Workbench.Acquire(time.Now(), nil, 1); len(v) != 1 || g.fed != 1 || g.Unresolved.Len() != 0 {
			t.Errorf("%d Visits, %d signals to the feeder, %d sites wait", len(v), g.fed, g.Unresolved.Len())
		}
	})
}

// A name that does not exist, or has no address, is no fault of the name servers: a site that never answered is given
// up at once.
func TestResolveLoop_givesUpASiteWithoutAName(t *testing.T) {
	for _, err := range []error{nil, dnsres.ErrNotFound} {
		synctest.Test(t, func(t *testing.T) {
			g := newResolveRig(t, dnsres.Answer{Err: err})
			g.resolve(100)
			if len(g.names.asked) != 1 || !g.Workbench.Site(g.site).IsDead() || g.outcomes(outcome.NameNotFound) != 1 {
				t.Errorf("%v: asked %d times", err, len(g.names.asked))
			}
		})
	}
}

// Name servers that fail say nothing about the name: it is asked for again, nameTries times, not before the answer
// expires and at least nameWaitMin later.
func TestResolveLoop_triesAgainWhenNameServersFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fault := errors.New("SERVFAIL")
		g := newResolveRig(t, dnsres.Answer{Err: fault, Expires: time.Now().Add(time.Minute)})
		g.resolve(100)
		if len(g.names.asked) != nameTries || !g.Workbench.Site(g.site).IsDead() || g.outcomes(outcome.NameFault) != 1 {
			t.Fatalf("asked %d times, %d outcomes", len(g.names.asked), g.outcomes(outcome.NameFault))
		}
		for i, at := range g.names.asked[1:] {
			want := time.Minute + time.Duration(i)*nameWaitMin
			if got := at.Sub(g.start); got != want {
				t.Errorf("try %d after %v, want %v", i+2, got, want)
			}
		}
	})
}

// With --tries a site that never answered is given up sooner.
func TestResolveLoop_obeysTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newResolveRig(t, dnsres.Answer{Err: errors.New("SERVFAIL")})
		g.loop.Live.ChangePolicy(func(p *politeness.Policy) { p.Tries = 2 })
		g.resolve(100)
		if len(g.names.asked) != 2 || !g.Workbench.Site(g.site).IsDead() || g.outcomes(outcome.NameFault) != 1 {
			t.Errorf("asked %d times, %d outcomes", len(g.names.asked), g.outcomes(outcome.NameFault))
		}
	})
}

// A site that has answered waits longer each time, for an hour and a quarter at most, and is given up after --give-up.
func TestResolveLoop_waitsForASiteThatHasAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newResolveRig(t, dnsres.Answer{Err: dnsres.ErrNotFound})
		g.Workbench.Site(g.site).Update(func(s *site.State) { s.HasAnswered = true })
		g.resolve(1000)
		asked := g.names.asked
		if g.outcomes(outcome.GivenUp) != 1 || asked[len(asked)-1].Sub(g.start) < g.loop.Live.Bounds().GiveUp {
			t.Fatalf("given up after %v", asked[len(asked)-1].Sub(g.start))
		}
		wait := nameWaitMin
		for i := 1; i < len(asked); i++ {
			if got := asked[i].Sub(asked[i-1]); got < wait || got > wait+wait/4 {
				t.Errorf("wait %d is %v, want %v and up to a quarter more", i, got, wait)
			}
			wait = min(2*wait, nameWaitMost)
		}
	})
}

// While no name server answers, sites wait and are not given up.
func TestResolveLoop_blamesNoSiteForAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newResolveRig(t, dnsres.Answer{Err: errors.New("no answer")})
		g.names.down = true
		g.resolve(5 * nameTries)
		if g.Workbench.Site(g.site).IsDead() || time.Since(g.start) != (5*nameTries-1)*nameWaitOutage {
			t.Errorf("dead: %v, after %v", g.Workbench.Site(g.site).IsDead(), time.Since(g.start))
		}
	})
}

// A query that failed on this machine is repeated soon, and is no failure of the site.
func TestResolveLoop_blamesNoSiteForAShortage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newResolveRig(t, dnsres.Answer{Err: fmt.Errorf("socket: %w", dnsres.ErrLocal)})
		g.resolve(5 * nameTries)
		if g.Workbench.Site(g.site).IsDead() || time.Since(g.start) != (5*nameTries-1)*outage.ShortageWait {
			t.Errorf("dead: %v, after %v", g.Workbench.Site(g.site).IsDead(), time.Since(g.start))
		}
	})
}

// A site is visited at addresses that are allowed for its port only. Without one it is given up with the reason.
func TestResolveLoop_keepsAllowedAddresses(t *testing.T) {
	good, bad := netip.MustParseAddr("240.0.0.1"), netip.MustParseAddr("10.0.0.1")
	check := func(at netip.AddrPort) error {
		switch {
		case at.Port() != 8080:
			return fmt.Errorf("port: %w", addrguard.ErrBlockedPort)
		case at.Addr() == bad:
			return fmt.Errorf("address: %w", addrguard.ErrBlockedAddress)
		}
		return nil
	}
	closed := func(at netip.AddrPort) error { return check(netip.AddrPortFrom(at.Addr(), 22)) }
	for _, c := range []struct {
		check func(netip.AddrPort) error
		addrs []netip.Addr
		want  outcome.Outcome
	}{
		{check, []netip.Addr{bad, good}, outcome.None},
		{check, []netip.Addr{bad}, outcome.BlockedAddress},
		{closed, []netip.Addr{good}, outcome.BlockedPort},
	} {
		synctest.Test(t, func(t *testing.T) {
			g := newResolveRig(t, dnsres.Answer{Addrs: c.addrs, Expires: time.Now().Add(time.Hour)})
			g.loop.Choose = AllowedAddrs(c.check)
			g.resolve(1)
			if c.want == outcome.None {
				if got := g.Workbench.Site(g.site).Addr(); got != good {
					t.Errorf("%v: the site is at %v", c.addrs, got)
				}
			} else if !g.Workbench.Site(g.site).IsDead() || g.outcomes(c.want) != 1 {
				t.Errorf("%v: the URL has not the outcome %v", c.addrs, c.want)
			}
		})
	}
}
