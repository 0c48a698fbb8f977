package crawl

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/dnsres"
	"orbweaver/engine"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simnet"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/origin"
)

// atlas is a resolver that knows the world by heart.
type atlas struct{ world *origin.Web }

// Resolve implements engine.Resolver.
func (a atlas) Resolve(_ context.Context, name string) dnsres.Answer {
	return dnsres.Answer{Addrs: []netip.Addr{a.world.AddrOf(name)}}
}

// badWorld is the web of the crawls over a bad network.
func badWorld() simweb.Config { return testbed.SmallWorld(*testbed.FirstSeed+990, simweb.Plain()) }

// allRoots are the root pages of all its hosts.
func allRoots(t *testing.T) (roots testbed.Seeds) {
	t.Helper()
	m, err := simweb.NewModel(badWorld())
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Hosts() {
		roots = append(roots, m.Root(i))
	}
	return roots
}

// bad crawls a plain world over a bad network, whose names are known, and gives report and network when it has ended.
func bad(t *testing.T, o simnet.Options, change func(*engine.Config)) (*testbed.Rig, engine.Config, report.Report) {
	t.Helper()
	rig := testbed.MustRig(t, badWorld(), false)
	o.Seed, o.Serve.Log = *testbed.FirstSeed, rig.Log
	rig.Net = simnet.New(rig.World, o)
	cfg := rig.Config()
	cfg.Limits.StallWait = 24 * time.Hour
	change(&cfg)
	seams := rig.Seams(rig.FS)
	seams.Resolver = atlas{rig.World}
	e, err := engine.Open(cfg, seams)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Run(t.Context()); err != nil {
		t.Error(err)
	}
	r := e.Report()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if err := rig.Net.Close(); err != nil {
		t.Error(err)
	}
	testbed.CheckConservation(t, r)
	return rig, cfg, r
}

// With nine of ten packets lost, or with half a minute from a packet to its answer, the crawl gets what it can, and all
// that it waits for ends in its time. Every host is a seed, so there are some that never answer. A site that answered
// once and then fails is given up after twelve hours, which is before the crawl would stall.
func TestHostile_N02_lossAndLatencyEndInPagesOrTimeOuts(t *testing.T) {
	for name, c := range testbed.SampleMap(map[string]struct {
		o    simnet.Options
		want []string // outcomes that must be there
	}{
		"a third is lost": {simnet.Options{Latency: 50 * time.Millisecond, Packets: 0.33}, []string{"ok"}},
		"nine of ten are lost": {simnet.Options{Latency: 50 * time.Millisecond, Packets: 0.9},
			[]string{"connect-timeout"}},
		"half a minute there, back": {simnet.Options{Latency: 15 * time.Second}, []string{"connect-timeout"}},
		"eight seconds there, back": {simnet.Options{Latency: 4 * time.Second}, []string{"ok"}},
	}) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				_, _, r := bad(t, c.o, func(c *engine.Config) {
					c.Seeds, c.Limits.GiveUp = allRoots(t), 12*time.Hour
				})
				t.Logf("after %v: %v", time.Since(start).Round(time.Second), r.Outcomes)
				for _, o := range c.want {
					if r.Outcomes[o] == 0 {
						t.Errorf("no %s: %v", o, r.Outcomes)
					}
				}
				want := lifecycle.Finished
				if r.PagesStored == 0 { // no seed could be fetched
					want = lifecycle.Failed
				}
				if r.State != want || r.URLsQueued != 0 {
					t.Errorf("%s: %s, %d queued", r.State, r.Reason, r.URLsQueued)
				}
			})
		})
	}
}

// A path on which large packets vanish: questions arrive, and answers that are longer do not. Each exchange ends at its
// deadline, by the name of what it waited for: header-timeout, or truncated-time when a first packet with the head was
// small.
func TestHostile_N03_aPathThatSwallowsLargePacketsEndsInTimeOuts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, r := bad(t, simnet.Options{Latency: 10 * time.Millisecond, MTU: 600},
			func(c *engine.Config) { c.Limits.StallWait = time.Hour })
		if r.State == lifecycle.Stalled || r.URLsQueued != 0 ||
			r.Outcomes["ok"]+r.Outcomes["client-error"]+r.Outcomes["redirect"] == r.URLsAdmitted ||
			r.Outcomes["header-timeout"]+r.Outcomes["truncated-time"]+r.Outcomes["robots-unreachable"] == 0 {
			t.Errorf("%s: %s %v", r.State, r.Reason, r.Outcomes)
		}
	})
}

// deadEnd is a network on which one address cannot be reached, in some way, and notes when that was tried.
type deadEnd struct {
	*simnet.Net
	addr  netip.Addr
	fault error // nil: nothing ever comes back

	mu    sync.Mutex
	tries []time.Time
	ends  []time.Time
}

// DialContext implements fetch.Dialer.
func (d *deadEnd) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if at, err := netip.ParseAddrPort(addr); err != nil || at.Addr() != d.addr {
		return d.Net.DialContext(ctx, network, addr)
	}
	start, err := time.Now(), d.fault
	if err == nil {
		<-ctx.Done()
		err = ctx.Err()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.tries, d.ends = append(d.tries, start), append(d.ends, time.Now())
	return nil, err
}

// An address that cannot be reached is left alone for ten seconds, a minute, five, and half an hour, each up to a
// quarter longer; then its hosts are given up, and the others have not noticed.
func TestHostile_N01_anAddressThatCannotBeReachedIsLeftAloneForLongerAndLonger(t *testing.T) {
	for name, c := range map[string]struct {
		fault   error
		outcome string
		takes   time.Duration
	}{
		"black hole": {nil, "connect-timeout", 10 * time.Second}, "reset": {syscall.ECONNREFUSED, "refused", 0},
		"host unreachable":    {syscall.EHOSTUNREACH, "unreachable", 0},
		"network unreachable": {syscall.ENETUNREACH, "unreachable", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rig := testbed.MustRig(t, testbed.SmallWorld(*testbed.FirstSeed+995, simweb.Plain()), false)
				cfg := rig.Config()
				cfg.Limits.StallWait = 24 * time.Hour
				alone := netip.MustParseAddr("192.0.2.77")
				cfg.Seeds = testbed.Seeds(append(slices.Clone(rig.Seeds), "http://192.0.2.77/"))
				d := &deadEnd{Net: rig.Net, addr: alone, fault: c.fault}
				seams := rig.Seams(rig.FS)
				seams.Dialer = d
				e, err := engine.Open(cfg, seams)
				if err != nil {
					t.Fatal(err)
				}
				if err := e.Run(t.Context()); err != nil {
					t.Error(err)
				}
				r := e.Report()
				if err := errors.Join(e.Close(), rig.Net.Close()); err != nil {
					t.Error(err)
				}
				testbed.JudgeSound(t, rig, cfg, testbed.Promise(cfg))
				if r.Outcomes[c.outcome] != 1 || len(d.tries) != 5 {
					t.Fatalf("%d tries: %v", len(d.tries), r.Outcomes)
				}
				for i, wait := range []time.Duration{10 * time.Second, time.Minute, 5 * time.Minute, 15 * time.Minute} {
					if took := d.ends[i].Sub(d.tries[i]); took != c.takes {
						t.Errorf("try %d took %v", i+1, took)
					}
					if waited := d.tries[i+1].Sub(d.ends[i]); waited < wait || waited > wait+wait/4+10*time.Second {
						t.Errorf("after try %d it waited %v, want %v", i+1, waited, wait)
					}
				}
			})
		})
	}
}

// narrow is a street behind a table of connections, as a NAT or a firewall has one: each connection has a place in it
// until a while after it was made. A connection without a place gets no answer.
type narrow struct {
	street
	places int
	held   time.Duration

	mu      sync.Mutex
	until   []time.Time // of the places that are taken, the oldest first
	dropped []bool      // of each attempt, in order
}

// DialContext implements fetch.Dialer.
func (n *narrow) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	for wait := time.Second; ; wait *= 2 { // TCP asks again
		if n.take(time.Now()) {
			return n.street.DialContext(ctx, network, addr)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (n *narrow) take(now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(n.until) > 0 && !n.until[0].After(now) {
		n.until = n.until[1:]
	}
	full := len(n.until) >= n.places
	n.dropped = append(n.dropped, full)
	if !full {
		n.until = append(n.until, now.Add(n.held))
	}
	return !full
}

// Four hundred hosts that could be asked a hundred times a second, behind a table that lets twenty pass. Fewer and
// fewer workers go on, so that most of what is sent passes, and no host is given up.
func TestHostile_N19_aFullTableOfConnectionsSlowsTheCrawlAndIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, testbed.SmallWorld(*testbed.FirstSeed+997, simweb.Plain()), false)
		if err := rig.Net.Close(); err != nil {
			t.Error(err)
		}
		n := &narrow{street: street{pages: 30, most: 2 * time.Second}, places: 600, held: 30 * time.Second}
		var seeds testbed.Seeds
		for i := range 400 {
			seeds = append(seeds, fmt.Sprintf("http://11.0.%d.%d/", i/200, i%200))
		}
		cfg := rig.Config()
		cfg.Seeds, cfg.Workers.Fetchers, cfg.Limits.StallWait = seeds, 300, 24*time.Hour
		seams := rig.Seams(rig.FS)
		seams.Dialer = n
		e, err := engine.Open(cfg, seams)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- e.Run(t.Context()) }()
		testbed.Wait(2 * time.Minute)
		for range 20 {
			testbed.Wait(10 * time.Second)
			if r := e.Report(); r.ActiveFetches > int64(cfg.Workers.Fetchers/2) {
				t.Errorf("%d exchanges at a time, waiting for %s", r.ActiveFetches, r.Waiting)
			}
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		r := e.Report()
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		testbed.CheckConservation(t, r)
		if r.Outcomes["ok"] != 400*31 || len(r.Outcomes) != 1 {
			t.Errorf("%v", r.Outcomes)
		}
		if n := strings.Count(rig.EngineLog.String(), "connection table is probably full"); n == 0 || n > 3 {
			t.Errorf("it was said %d times:\n%s", n, rig.EngineLog.String())
		}
		tenth := len(n.dropped) / 10
		first, last := share(n.dropped[:tenth]), share(n.dropped[9*tenth:])
		t.Logf("of the first tenth of all tries %.2f were dropped, of the last %.2f", first, last)
		if last > 0.8*first {
			t.Error("as many are dropped as at the beginning")
		}
	})
}

// share is how many of these are true.
func share(tries []bool) float64 {
	n := 0
	for _, yes := range tries {
		if yes {
			n++
		}
	}
	return float64(n) / float64(max(len(tries), 1))
}
