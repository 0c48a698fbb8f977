package schedule

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeebo/xxh3"

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
		f := NewFlusher(r.Journal, filter, r.Ready, func() { woken++ })
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
		n := &r.Journal.Count
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
