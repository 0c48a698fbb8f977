package schedule

import (
	"context"
	"testing"
	"time"

	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/state/queued"
	"orbweaver/internal/vfs"
)

// A crawl is complete when all admitted URLs are finished and none can come: all seeds are admitted, and the sieve has
// none.
func TestEndCheck_completeWhenNoURLCanCome(t *testing.T) {
	r, now := newRig(t, vfs.NewMem(1), "crawl", 1<<20, -1), time.Now()
	d := r.distributor()
	next := func(want string) {
		t.Helper()
		if wait, got := d.end.next(now); got != want || got == "" && (wait <= 0 || wait > controlPeriod) {
			t.Errorf("the end is %q, want %q; the wait is %v", got, want, wait)
		}
	}
	next("") // the seeds are not admitted
	r.seeded.Store(true)
	next(lifecycle.ReasonComplete)
	r.flushes.pending = 1
	next("")
	if r.flushes.pending = 0; r.flushes.requested != 0 {
		t.Error("a flush was requested for a front that is large enough")
	}
	r.Progress.Counters.URLsAdmitted.Add(1)
	r.pagesOut.Store(1)
	next("")
	r.Progress.Counters.Finished.Add(1)
	next(lifecycle.ReasonComplete)
	if err := r.OnDisk.AppendOfDelayedSite(url("http://a.test/")); err != nil {
		t.Fatal(err)
	}
	next("")
}

// Without ready URLs a small front requests a flush, at the pace of the Flusher.
func TestEndCheck_requestsFlushes(t *testing.T) {
	r, now := newRig(t, vfs.NewMem(1), "crawl", 1<<20, -1), time.Now()
	d := r.distributor()
	r.flushes.pending, r.flushes.wait = 1, time.Second
	if d.end.next(now); !r.Front.nextCount.IsZero() {
		t.Error("the front was counted, though no flush may be requested yet")
	}
	r.Front = NewFront(r.Workbench, 10, noneWaiting)
	d = r.distributor()
	r.flushes.wait = time.Millisecond
	if wait, reason := d.end.next(now); wait != time.Millisecond || reason != "" || r.flushes.requested != 0 {
		t.Errorf("wait %v, end %q, %d requests; a flush ended just now", wait, reason, r.flushes.requested)
	}
	r.flushes.wait = -1
	if wait, reason := d.end.next(now); wait != controlPeriod || reason != "" || r.flushes.requested != 1 {
		t.Errorf("wait %v, end %q, %d requests", wait, reason, r.flushes.requested)
	}
}

// A crawl with queued URLs does not stall while a URL is on its way between the components.
func TestEndCheck_nothingMoves(t *testing.T) {
	r := newRig(t, vfs.NewMem(1), "crawl", 1<<20, -1)
	d := r.distributor()
	check := func(where string, want bool) {
		t.Helper()
		if got := d.end.nothingMoves(); got != want {
			t.Errorf("%s: nothing moves: %v", where, got)
		}
	}
	check("no URL", true)
	r.pagesOut.Store(1)
	check("a Page", false)
	r.pagesOut.Store(0)
	r.flushes.pending = 1
	check("a URL in the sieve", false)
	r.flushes.pending = 0
	vs, _ := r.Workbench.GetOrAdd([]byte("http://a.test"))
	r.Unresolved.Put(r.Workbench.Site(vs).AppendKey(nil))
	check("a site that waits for an address", false)
	r.Progress.NameServers.Down.Store(true)
	check("the same, while no name server answers", true)
	if err := r.Ready.Append([]byte("x")); err != nil {
		t.Fatal(err)
	}
	check("a ready URL", false)
}

// At the limit of pages, only requisites are still wanted: ready pages keep the crawl from ending no more, and what is
// in the sieve comes out at once.
func TestEndCheck_atTheLimitOfPagesReadyPagesAreNotWanted(t *testing.T) {
	r, now := newRig(t, vfs.NewMem(1), "crawl", 1<<20, -1), time.Now()
	r.Progress.IsClosing = func() bool { return true }
	d := r.distributor()
	image := queued.Append(nil, &queued.URL{Embeds: 1, Rest: []byte("http://a.test/image")})
	for _, item := range [][]byte{url("http://a.test/page"), image} {
		if err := r.Ready.Append(item); err != nil {
			t.Fatal(err)
		}
	}
	if d.end.isClosed(now) {
		t.Error("closed, and a requisite is ready")
	}
	if _, _, err := r.Ready.Urgent.Read(nil); err != nil {
		t.Fatal(err)
	}
	r.flushes.pending = 1
	if d.end.isClosed(now) {
		t.Error("closed, and a URL is in the sieve")
	}
	if d.end.next(now); r.flushes.requested != 1 {
		t.Error("no flush was requested")
	}
	if r.flushes.pending = 0; d.end.isClosed(now) {
		t.Error("closed, and the sites were not searched for surplus requisites")
	}
	for d.end.scanSurplus() {
	}
	if !d.end.isClosed(now) || r.Ready.Len() != 1 {
		t.Error("not closed, though only a page is left")
	}
}

// A crawl whose last page is that of its limit has ended at the limit, though no URL is left.
func TestEndCheck_theLastPageIsThatOfTheLimit(t *testing.T) {
	for closing, want := range map[bool]string{false: lifecycle.ReasonComplete, true: lifecycle.ReasonMaxPages} {
		r := newRig(t, vfs.NewMem(1), "crawl", 1<<20, -1)
		r.Progress.IsClosing = func() bool { return closing }
		r.seeded.Store(true)
		d := r.distributor()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if done := d.wait(ctx); !done || r.ended != want {
			t.Errorf("at the limit %v: ended %v with %q", closing, done, r.ended)
		}
	}
}
