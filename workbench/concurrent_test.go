package workbench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A small crawl in which feeder, workers, returner, distributor, resolver, killer and checkpointer run at the same
// time. Each item comes out once or counts as dropped. No two Visits of an IP or a site overlap, and each snapshot is
// complete.
func TestConcurrentUse(t *testing.T) { //nolint:funlen // all calls at once, with their bookkeeping
	const sites, perSite, ips = 300, 40, 60
	w := New[int](Options{PathsPerVisit: 3})
	var busy [ips]atomic.Bool
	var fetched, dropped, refused atomic.Int64
	var others sync.WaitGroup
	stop := make(chan struct{})
	newborn := make(chan *VisitState[int], sites*perSite)

	others.Go(func() { // distributor
		rng := rand.New(rand.NewPCG(1, 1))
		for n := range sites * perSite {
			vs, added := w.GetOrAdd(fmt.Appendf(nil, "http://%d", rng.IntN(sites)))
			if added {
				newborn <- vs
			}
			if !w.Push(vs, fmt.Appendf(nil, "/%d", n)) {
				refused.Add(1)
			}
		}
	})
	others.Go(func() { // resolver
		rng := rand.New(rand.NewPCG(2, 2))
		for {
			select {
			case vs := <-newborn:
				if rng.IntN(5) == 0 {
					w.Defer(vs, time.Now().Add(time.Millisecond))
				} else {
					w.Place(vs, ip(rng.IntN(ips)), time.Now())
				}
			case <-stop:
				return
			default:
				for _, vs := range w.DueDeferred(time.Now(), nil) {
					newborn <- vs
				}
				runtime.Gosched()
			}
		}
	})
	others.Go(func() { // kills sites, then revives them
		for n := range 20 {
			if vs := w.Get(fmt.Appendf(nil, "http://%d", n)); vs != nil {
				dropped.Add(int64(w.Kill(vs, nil)))
				runtime.Gosched()
				w.Revive(vs)
				newborn <- vs
			}
		}
	})
	others.Go(func() { // checkpointer
		for {
			select {
			case <-stop:
				return
			default:
			}
			var b bytes.Buffer
			if err := save(w, &b, appendInt); err != nil {
				t.Error(err)
			}
			if _, err := Load(Options{}, readInt, &b); err != nil {
				t.Error(err)
			}
			w.Listing().Each(func(vs *VisitState[int], st State) bool { return vs.ID() > 0 && st < stateCount })
		}
	})
	var workers sync.WaitGroup
	for k := range 4 {
		workers.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(k), 3))
			for fetched.Load()+dropped.Load()+refused.Load() < sites*perSite && !t.Failed() {
				for _, v := range w.Acquire(time.Now(), nil, 5) {
					n := v.Addr.As4()[3]
					if busy[n].Swap(true) {
						t.Error("W2: two Visits of one IP")
					}
					v.Site++
					used := 1 + rng.IntN(len(v.Items))
					fetched.Add(int64(used))
					r := Release{Unused: v.Items[used:], Unresolved: rng.IntN(20) == 0}
					if rng.IntN(10) == 0 {
						r.Replace = ip(rng.IntN(ips))
					}
					r.IPDue = time.Now().Add(time.Duration(rng.IntN(50)) * time.Microsecond)
					busy[n].Store(false)
					dropped.Add(int64(w.Release(&v, r, time.Now()).Dropped))
					if r.Unresolved {
						newborn <- v.VS
					}
				}
				runtime.Gosched()
			}
		})
	}
	workers.Wait()
	close(stop)
	others.Wait()
	check(t, w)
	if c := w.Counts(); c.Queued != 0 || c.Leased != 0 || c.Weight != 0 {
		t.Errorf("left: %+v", c)
	}
	if n := fetched.Load() + dropped.Load() + refused.Load(); n != sites*perSite {
		t.Errorf("%d items came out, %d went in", n, sites*perSite)
	}
}
