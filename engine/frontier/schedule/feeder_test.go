package schedule

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/net/bandwidth"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/internal/handoff"
	"orbweaver/internal/notify"
	"orbweaver/internal/vfs"
	"orbweaver/workbench"
)

// feederRig is a Feeder that runs, and sites of one address each: site i is due i seconds from the start.
type feederRig struct {
	*rig
	feeder *Feeder
	woken  int        // calls of WakeDistributor
	mu     sync.Mutex // of what the functions of work use
}

func newFeederRig(t *testing.T, siteCount int, change func(f *Feeder)) *feederRig {
	t.Helper()
	g := &feederRig{rig: newRig(t, vfs.NewMem(1), "crawl", 1<<20, -1)}
	g.Front = NewFront(g.Workbench, 8, noneWaiting)
	now := time.Now()
	for i := range siteCount {
		vs, _ := g.Workbench.GetOrAdd([]byte{'h', 't', 't', 'p', ':', '/', '/', byte('a' + i)})
		g.Workbench.Place(vs, netip.AddrFrom4([4]byte{240, 0, 0, byte(i)}), now)
		g.Workbench.Site(vs).Update(func(s *site.State) { s.Stored = 1 })
		g.Workbench.Push(vs, path("/1"))
		g.Workbench.Push(vs, path("/2"))
		g.Workbench.Site(vs).Postpone(now.Add(time.Duration(i)*time.Second), time.Time{})
	}
	wake := make(chan struct{}, 1)
	g.Gate = outage.NewGate(func() { notify.Send(wake) })
	g.feeder = &Feeder{
		IsClosing: func() bool { return false }, Bandwidth: bandwidth.Unlimited(),
		Shares: visit.NewShares(filter.Domain),
		Steps:  g.Steps, Workbench: g.Workbench, Todo: handoff.New[visit.Result](16),
		Results: visit.NewResultQueue(), MaxLeased: 32, Workers: 16,
		Network: outage.NewNetwork(16, func(string, ...any) {}), Gate: g.Gate,
		Wake: wake, Ready: g.Ready, Front: g.Front, WakeDistributor: func() { g.woken++ },
		Backlog: &Backlog{Pages: &g.pagesOut, WakeFeeder: func() { notify.Send(wake) }},
	}
	if change != nil {
		change(g.feeder)
	}
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error)
	go func() { over <- g.feeder.FeedVisits(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-over; err != nil {
			t.Error(err)
		}
	})
	return g
}

// work starts the fetch workers, whose exchanges take a time. begin is called by one at a time with each Visit, and end
// returns what the Visit has become.
func (g *feederRig) work(
	exchange time.Duration, begin func(v *visit.Visit), end func(v *visit.Visit) workbench.Release,
) (workers *sync.WaitGroup) {
	workers = new(sync.WaitGroup)
	for range g.feeder.Workers {
		taker := g.feeder.Todo.NewTaker()
		workers.Go(func() {
			for r, ok := taker.Next(); ok; r, ok = taker.Next() {
				v := &r.Visit
				g.mu.Lock()
				begin(v)
				g.mu.Unlock()
				time.Sleep(exchange)
				g.mu.Lock()
				release := end(v)
				g.mu.Unlock()
				g.Workbench.Release(v, release, time.Now())
				g.feeder.Shares.GiveBack(v.Class)
				g.feeder.Results.Recycle(r)
				notify.Send(g.feeder.Wake)
			}
		})
	}
	return workers
}

// setActive changes the number of active fetch workers.
func (g *feederRig) setActive(workers int) {
	g.feeder.Network.SetWorkers(workers)
	notify.Send(g.feeder.Wake)
	synctest.Wait()
}

// take returns the Visits that the Feeder has moved.
func (g *feederRig) take() (visits []visit.Visit) {
	synctest.Wait()
	for {
		r := g.feeder.Todo.TakeBack()
		if r == nil {
			return visits
		}
		visits = append(visits, r.Visit)
	}
}

// A Visit reaches the fetch workers when it is due, not before, and the Feeder needs no signal for that.
func TestFeeder_movesVisitsWhenTheyAreDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, start := newFeederRig(t, 4, nil), time.Now()
		for i := range 4 {
			got := g.take()
			if len(got) != 1 || string(got[0].Key) != "http://"+string(rune('a'+i)) {
				t.Fatalf("after %v: %d Visits", time.Since(start), len(got))
			}
			time.Sleep(999 * time.Millisecond)
			if got := g.take(); len(got) > 0 {
				t.Fatalf("after %v: a Visit that is not due", time.Since(start))
			}
			time.Sleep(time.Millisecond)
		}
	})
}

// A site that becomes due earlier than the Feeder knew is moved at the signal.
func TestFeeder_wakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newFeederRig(t, 0, nil)
		g.take()
		vs, _ := g.Workbench.GetOrAdd([]byte("http://new.test"))
		g.Workbench.Place(vs, netip.AddrFrom4([4]byte{240, 0, 1, 0}), time.Now())
		g.Workbench.Push(vs, path("/"))
		if got := g.take(); len(got) > 0 {
			t.Fatal("moved without a signal: the test shows nothing")
		}
		g.feeder.Wake <- struct{}{}
		if got := g.take(); len(got) != 1 {
			t.Errorf("%d Visits after the signal", len(got))
		}
	})
}

// After a kill nothing is fetched before NotBefore, also what is due.
func TestFeeder_waitsAfterAKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newFeederRig(t, 1, func(f *Feeder) { f.NotBefore = time.Now().Add(4 * time.Second) })
		time.Sleep(4*time.Second - time.Nanosecond)
		if got := g.take(); len(got) > 0 {
			t.Error("a Visit before NotBefore")
		}
		time.Sleep(time.Nanosecond)
		if got := g.take(); len(got) != 1 {
			t.Errorf("%d Visits at NotBefore", len(got))
		}
	})
}

// No Visit is moved while the gate is shut.
func TestFeeder_stopsAtTheGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newFeederRig(t, 3, nil)
		g.take()
		g.Gate.Shut("pause")
		time.Sleep(time.Minute)
		if got := g.take(); len(got) > 0 {
			t.Errorf("%d Visits while the gate is shut", len(got))
		}
		g.Gate.Open("pause")
		if got := g.take(); len(got) != 2 {
			t.Errorf("%d Visits when it is open again", len(got))
		}
	})
}

// Visits that wait for a fetch worker return to the workbench when the gate shuts, and are moved again when it opens.
func TestFeeder_takesVisitsBackAtTheGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newFeederRig(t, 4, nil)
		time.Sleep(time.Minute)
		g.Gate.Shut("pause")
		if got := g.take(); len(got) > 0 || g.Workbench.Counts().Leased != 0 || g.Workbench.Counts().Queued != 8 {
			t.Errorf("%d Visits while the gate is shut: %+v", len(got), g.Workbench.Counts())
		}
		g.Gate.Open("pause")
		got := g.take()
		for i := range got {
			if it := queued.MustDecode(got[i].Items[0]); string(it.Rest) != "/1" {
				t.Errorf("the first item of %s is %s", got[i].Key, it.Rest)
			}
		}
		if len(got) != 4 {
			t.Errorf("%d Visits when it is open again", len(got))
		}
	})
}

// A Visit that is taken back needs no bandwidth: after many pauses the Visits come as soon as after the first one.
func TestFeeder_aVisitThatIsTakenBackNeedsNoBandwidth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newFeederRig(t, 4, func(f *Feeder) { f.Bandwidth = bandwidth.New(bandwidth.Options{Total: 64 << 10}) })
		time.Sleep(time.Minute)
		for range 100 {
			g.Gate.Shut("pause")
			time.Sleep(10 * time.Millisecond)
			g.Gate.Open("pause")
			time.Sleep(10 * time.Millisecond)
			if n := g.feeder.Todo.Len(); n != 4 {
				t.Fatalf("%d Visits soon after a pause", n)
			}
		}
	})
}

// When fewer fetch workers may be active, Visits that none has taken return to the workbench at once. While the limit
// holds Visits back that are due, the Feeder waits: it does not look again and again.
func TestFeeder_takesVisitsBackWhenTheLimitFalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newFeederRig(t, 12, nil)
		time.Sleep(time.Minute)
		if g.feeder.Todo.Len() != 12 {
			t.Fatalf("%d Visits wait: the test shows nothing", g.feeder.Todo.Len())
		}
		g.setActive(3)
		if out := g.take(); len(out) != 3 || g.Workbench.Counts().Leased != 3 {
			t.Errorf("%d Visits wait, %d are out, want 3", len(out), g.Workbench.Counts().Leased)
		}
		woken := g.woken
		time.Sleep(time.Minute)
		if g.woken != woken {
			t.Errorf("the Feeder looked %d times while nothing changed", g.woken-woken)
		}
		g.setActive(16)
		if got := g.take(); len(got) != 9 {
			t.Errorf("%d more Visits when all workers are active, want 9", len(got))
		}
	})
}

// While workers fetch, the limit falls and rises many times. No more Visits are out than there may be, and the items of
// each site come once and in their order.
func TestFeeder_theLimitChangesWhileWorkersFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const sites, items, exchange = 24, 40, 500 * time.Millisecond
		g := newFeederRig(t, 0, nil)
		for i := range sites {
			vs, _ := g.Workbench.GetOrAdd(fmt.Appendf(nil, "http://%d", i))
			g.Workbench.Place(vs, netip.AddrFrom4([4]byte{240, 0, 1, byte(i)}), time.Now())
			g.Workbench.Site(vs).Update(func(s *site.State) { s.Stored = int32(i % 2) }) // half of them are new
			for n := range items {
				g.Workbench.Push(vs, path("/%d", n))
			}
		}
		var busy, peak, fetched int
		next := map[string]int{}
		workers := g.work(exchange, func(v *visit.Visit) {
			busy, fetched = busy+1, fetched+1
			peak = max(peak, busy)
			if it := queued.MustDecode(v.Items[0]); string(it.Rest) != fmt.Sprintf("/%d", next[string(v.Key)]) {
				t.Errorf("%s: %s instead of /%d", v.Key, it.Rest, next[string(v.Key)])
			}
			next[string(v.Key)]++
		}, func(v *visit.Visit) workbench.Release {
			busy--
			return workbench.Release{Unused: v.Items[1:], SiteDue: time.Now().Add(exchange)}
		})
		for _, limit := range []int{16, 5, 16, 1, 12, 2, 7, 16, 1, 3, 16} {
			g.setActive(limit)
			time.Sleep(exchange + time.Millisecond) // exchanges that began before have ended
			g.mu.Lock()
			peak = 0
			g.mu.Unlock()
			time.Sleep(4 * exchange)
			synctest.Wait()
			g.mu.Lock()
			if peak > limit || peak < min(limit, sites/2) { // a site has an exchange in half of the time
				t.Errorf("%d exchanges at a time, want %d", peak, limit)
			}
			g.mu.Unlock()
		}
		time.Sleep(time.Minute)
		g.feeder.Todo.Close()
		workers.Wait()
		if fetched != sites*items || g.Workbench.Counts().Queued != 0 {
			t.Errorf("%d items of %d were fetched", fetched, sites*items)
		}
	})
}

// As many Visits are out as may be, and more when some are back.
func TestFeeder_leasesNoMoreThanItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newFeederRig(t, 5, func(f *Feeder) { f.MaxLeased = 2 })
		time.Sleep(time.Minute)
		out := g.take()
		if g.Workbench.Counts().Leased != 2 || len(out) != 2 {
			t.Fatalf("%d Visits are out, %d were moved", g.Workbench.Counts().Leased, len(out))
		}
		g.Workbench.Release(&out[0], workbench.Release{}, time.Now())
		g.feeder.Wake <- struct{}{}
		if got := g.take(); len(got) != 1 || g.Workbench.Counts().Leased != 2 {
			t.Errorf("%d Visits after one is back", len(got))
		}
	})
}

// When fetch workers find nothing due the front that is wanted grows, up to a limit, if ready URLs could make it
// larger; else it shrinks to where it began. Each time the Distributor is woken.
func TestFeeder_widensTheFront(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newFeederRig(t, 0, nil)
		g.take()
		if g.Front.Required() != 16 || g.woken != 1 {
			t.Fatalf("%d addresses are required at the start, %d signals", g.Front.Required(), g.woken)
		}
		if err := g.Ready.Append([]byte("x")); err != nil {
			t.Fatal(err)
		}
		starve := func() {
			g.feeder.Wake <- struct{}{}
			g.take()
		}
		if starve(); g.Front.Required() != 19 || g.woken != 2 {
			t.Errorf("%d addresses are required, want 19", g.Front.Required())
		}
		for range 1000 {
			starve()
		}
		if g.Front.Required() != 64*8 {
			t.Errorf("%d addresses are required at most, want 512", g.Front.Required())
		}
		if _, _, err := g.Ready.Read(nil); err != nil {
			t.Fatal(err)
		}
		for range 1000 {
			starve()
		}
		if n := g.Front.Required(); n > 17 || n < 16 {
			t.Errorf("%d addresses are required at least, want 16", n)
		}
	})
}

// Thousands of new sites that are due at once, as at the start of a crawl, are all asked as soon as workers are free
// for them. Meanwhile their share leaves workers for other sites.
func TestFeeder_asksManyNewSitesWithoutIdleWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const sites, exchange = 3000, 10 * time.Millisecond
		g, begin, last := newFeederRig(t, 0, nil), time.Now(), time.Now()
		for i := range sites {
			vs, _ := g.Workbench.GetOrAdd(fmt.Appendf(nil, "http://new%d.test", i))
			g.Workbench.Place(vs, netip.AddrFrom4([4]byte{240, 1, byte(i >> 8), byte(i)}), time.Now())
			g.Workbench.Push(vs, path("/"))
		}
		var fetched, busy, peak int
		workers := g.work(exchange, func(*visit.Visit) {
			busy, fetched = busy+1, fetched+1
			peak = max(peak, busy)
		}, func(*visit.Visit) workbench.Release {
			busy, last = busy-1, time.Now()
			return workbench.Release{}
		})
		notify.Send(g.feeder.Wake)
		time.Sleep(10 * time.Minute)
		g.feeder.Todo.Close()
		workers.Wait()
		// 14 of 16 workers are for new sites
		if took, least := last.Sub(begin), sites/14*exchange; fetched != sites || peak != 14 || took > least*11/10 {
			t.Errorf("%d sites of %d with %d workers in %v, want %v", fetched, sites, peak, took, least)
		}
	})
}
