package schedule

import (
	"context"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/dnsres"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
	"orbweaver/workbench"
)

// evictAll evicts what may leave the workbench, and returns how many sites have left.
func evictAll(w *visit.Workbench, now time.Time) (n int) {
	var out workbench.Evicted
	for range 2 { // the first time it only notes that they were used
		w.Memory().Evict(now, 100, site.Append, &out)
		n += out.Len()
	}
	return n
}

// A site whose delayed URLs wait for new links dies and leaves the workbench, and another site gets its place. When the
// wait is over, nothing happens to that.
func TestDelayedURLs_aSiteLeavesWhileItsURLsWait(t *testing.T) {
	r, d, vs, now := newDelaysRig(t)
	r.flushes.pending = 1
	delayItems(t, d, vs, 1)
	d.Workbench.Push(vs, path("/1"))
	visitAll(d, now)
	if n, err := d.delayer.refill(now); n != 0 || err != nil || len(d.delayer.waiting) != 1 {
		t.Fatalf("%d refilled, %d wait for links: %v", n, len(d.delayer.waiting), err)
	}
	d.dead.GiveUp(vs, outcome.SiteGone)
	if _, err := d.emptier.step(); err != nil {
		t.Fatal(err)
	}
	if n := evictAll(d.Workbench, now); n != 1 {
		t.Fatalf("%d sites have left: the test shows nothing", n)
	}
	other, _ := d.Workbench.GetOrAdd([]byte("http://b.test"))
	delayItems(t, d, other, 1)
	if err := d.delayer.takeWaiting(now.Add(time.Hour)); err != nil || d.Workbench.Site(other).Queued() != 0 {
		t.Errorf("%d items of another site were taken: %v", d.Workbench.Site(other).Queued(), err)
	}
}

// A dead site leaves the workbench before it is given up a second time, and another site gets its place.
func TestDeadSites_aSiteLeavesBeforeItIsEmptied(t *testing.T) {
	r, now := newRig(t, vfs.NewMem(1), "crawl", 1<<20, -1), time.Now()
	d := r.distributor()
	vs, _ := r.Workbench.GetOrAdd([]byte("http://a.test"))
	r.Workbench.Place(vs, netip.AddrFrom4([4]byte{240, 0, 0, 1}), now)
	for range distributeBatch {
		if err := r.OnDisk.Append(vs, path("/")); err != nil {
			t.Fatal(err)
		}
	}
	r.Workbench.Site(vs).SetOnDisk(r.OnDisk.Len(vs))
	r.Dead.GiveUp(vs, outcome.SiteGone)
	if _, err := d.emptier.step(); err != nil || r.Progress.Counters.Outcomes[outcome.SiteGone].Load() != distributeBatch {
		t.Fatal(err)
	}
	if _, err := d.delayer.refill(now); err != nil { // it was on the list of sites to be refilled
		t.Fatal(err)
	}
	if n := evictAll(d.Workbench, now); n != 1 {
		t.Fatalf("%d sites have left: the test shows nothing", n)
	}
	other, _ := r.Workbench.GetOrAdd([]byte("http://b.test"))
	if err := r.OnDisk.Append(other, path("/")); err != nil {
		t.Fatal(err)
	}
	r.Dead.EmptyQueue([]byte("http://a.test"))
	if _, err := d.emptier.step(); err != nil || !d.emptier.isDone() || lenOnDisk(r.OnDisk, other) != 1 {
		t.Errorf("%d URLs of another site are left: %v", lenOnDisk(r.OnDisk, other), err)
	}
}

// slowNames answers when a test says so.
type slowNames struct {
	fakeNames
	answers chan dnsres.Answer
}

// Resolve implements dnsrecords.Source.
func (s *slowNames) Resolve(ctx context.Context, _ string, isFirst func() bool) (dnsres.Answer, error) {
	isFirst()
	select {
	case a := <-s.answers:
		return a, nil
	case <-ctx.Done():
		return dnsres.Answer{}, ctx.Err()
	}
}

// While the name of a site is looked up, the site is blocked and leaves the workbench. Another site gets its place, but
// not its address.
func TestResolveLoop_aSiteLeavesWhileItsNameIsLookedUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newResolveRig(t, dnsres.Answer{})
		d, names := g.distributor(), &slowNames{answers: make(chan dnsres.Answer)}
		g.loop.Names = names
		g.Unresolved.Put([]byte("http://a.test:8080"))
		synctest.Wait()
		g.Dead.GiveUp(g.site, outcome.Blocked)
		if _, err := d.emptier.step(); err != nil {
			t.Fatal(err)
		}
		if n := evictAll(g.Workbench, time.Now()); n != 1 {
			t.Fatalf("%d sites have left: the test shows nothing", n)
		}
		other, _ := g.Workbench.GetOrAdd([]byte("http://b.test"))
		g.Workbench.Push(other, queued.Append(nil, &queued.URL{Rest: []byte("/")}))
		names.answers <- address("240.0.0.1")
		synctest.Wait()
		if a := g.Workbench.Site(other).Addr(); a.IsValid() || g.Unresolved.Len() != 0 {
			t.Errorf("another site has the address %v; %d sites wait", a, g.Unresolved.Len())
		}
	})
}
