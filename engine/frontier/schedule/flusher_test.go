package schedule

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/state/queued"
	"orbweaver/internal/notify"
	"orbweaver/internal/vfs"
	"orbweaver/sieve"
)

// A request brings new URLs to the ready queue; the next one waits for flushPause. A flush waits for a checkpoint that
// holds the turn.
func TestFlusher_flushesAtItsPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := vfs.NewMem(1)
		r := newRig(t, disk, "crawl", 1<<20, -1)
		filter, err := sieve.Open(disk, sieve.Options{Dir: "sieve", BucketBytes: 1 << 20}, nil)
		if err != nil {
			t.Fatal(err)
		}
		woken := 0
		f := NewFlusher(r.Progress.Counters, r.Disk, filter, r.Ready, func() { woken++ })
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan error)
		go func() { over <- f.FlushSieve(ctx) }()
		for _, n := range []uint64{1, 2, 2} {
			filter.Add(xxh3.Uint128{Hi: n, Lo: n}, []byte{byte(n)})
		}
		f.Turn() <- struct{}{}
		if wait := f.RequestIn(time.Now()); wait > 0 {
			t.Errorf("the first request is to wait for %v", wait)
		}
		f.Request()
		if synctest.Wait(); r.Ready.Len() != 0 || f.Pending() == 0 {
			t.Error("a flush while a checkpoint has the turn")
		}
		<-f.Turn()
		synctest.Wait()
		n := r.Progress.Counters
		if r.Ready.Len() != 2 || n.URLsAdmitted.Load() != 2 || n.Known.Load() != 1 || f.Pending() != 0 || woken != 1 {
			t.Errorf("%d ready, %d admitted, %d known, %d pending, %d signals", r.Ready.Len(), n.URLsAdmitted.Load(),
				n.Known.Load(), f.Pending(), woken)
		}
		if wait := f.RequestIn(time.Now()); wait != flushPause {
			t.Errorf("the next request is to wait for %v, want %v", wait, flushPause)
		}
		cancel()
		if err := <-over; err != nil {
			t.Error(err)
		}
		if err := filter.Close(); err != nil {
			t.Error(err)
		}
	})
}

// An urgent URL leaves the sieve soon, though no bucket is full and no flush is requested. So does what an earlier run
// has left there.
func TestFlusher_doesNotLetUrgentURLsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := vfs.NewMem(1)
		r := newRig(t, disk, "crawl", 1<<20, -1)
		filter, err := sieve.Open(disk, sieve.Options{Dir: "sieve", BucketBytes: 1 << 20}, nil)
		if err != nil {
			t.Fatal(err)
		}
		f := NewFlusher(r.Progress.Counters, r.Disk, filter, r.Ready, func() {})
		filter.Add(xxh3.Uint128{Hi: 1}, url("http://a.test/left"))
		ctx, cancel := context.WithCancel(t.Context())
		over := make(chan error)
		go func() { over <- f.FlushSieve(ctx) }()
		<-time.After(urgentPause)
		if synctest.Wait(); r.Ready.Len() != 1 {
			t.Errorf("%d ready, want what was left", r.Ready.Len())
		}
		filter.Add(xxh3.Uint128{Hi: 2}, url("http://a.test/page"))
		<-time.After(time.Hour)
		if r.Ready.Len() != 1 {
			t.Errorf("%d ready, and no URL was urgent", r.Ready.Len())
		}
		filter.Add(xxh3.Uint128{Hi: 3}, queued.Append(nil, &queued.URL{Embeds: 1, Rest: []byte("http://a.test/image")}))
		notify.Send(f.UrgentAdded)
		<-time.After(urgentPause)
		if synctest.Wait(); r.Ready.Urgent.Len() != 1 || r.Ready.Others.Len() != 2 {
			t.Errorf("%d urgent URLs and %d others ready", r.Ready.Urgent.Len(), r.Ready.Others.Len())
		}
		cancel()
		if err := errors.Join(<-over, filter.Close()); err != nil {
			t.Error(err)
		}
	})
}
