package fetchers

import (
	"context"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
)

// A crawl is stopped while the disk is full. The URL of an attempt that could not be written returns to its site, and
// stays what it is when the Page serves another site.
func TestSettlement_returnsTheItemOfTheVisitAndNotThatOfThePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newRig(t, map[string]string{})
		w, store := g.worker, g.crawl.Records.Store
		script := faultfs.NewScript()
		disk := faultfs.New(vfs.NewMem(1), script)
		file, err := journal.Create(disk, ".", 1)
		if err != nil {
			t.Fatal(err)
		}
		store.TurnTo(file)
		store.Disk = &outage.DiskGuard{
			Fs: disk, Dir: ".", Gate: outage.NewGate(func() {}), Most: func() int64 { return 0 }, Warn: func(string, ...any) {},
		}
		w.pool = fetch.NewPool(fetch.PoolOptions{Pages: 1})
		w.settlement.pool = w.pool
		w.exchange.fetcher = fetch.NewFetcher(g.crawl.Options.Fetch, g.server, w.pool)
		script.Add(faultfs.Rule{Op: faultfs.Space, Err: syscall.ENOSPC})
		script.SetFree(0)

		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, stop)
		v := visitOf(known())
		v.Visit.Items = [][]byte{queued.Append(nil, &queued.URL{Tries: 9, Depth: 1, Rest: []byte("/mine")})}
		if err := w.visit(ctx, v); err != nil {
			t.Fatal(err)
		}
		r := g.crawl.Queues.Results.TryTake()
		if len(r.Release.Front) != 1 {
			t.Fatalf("the Visit returned with %q in front", pathsOf(r.Release.Front))
		}
		page := w.pool.TryGet() // the next holder: another site
		theirs := queued.URL{Tries: 9, Depth: 1, Rest: []byte("/oops")}
		attempt.Of(page).Begin(queued.Append(nil, &theirs), []byte("http://b.test/oops"), &theirs)
		if got := pathsOf(r.Release.Front)[0]; got != "/mine" {
			t.Errorf("the URL of the site became %q", got)
		}
	})
}
