package schedule

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/ending"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/crawllog"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/traps"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize"
	"orbweaver/virtualize/diskq"
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

// rig has the components around a Distributor, on one disk.
type rig struct {
	Parts
	virt     *virtualize.Virtualizer // of OnDisk
	flushes  *fakeFlushes
	pagesOut atomic.Int64
	seeded   atomic.Bool
	ended    string // the reason that Finish was given
	fed      int    // calls of WakeFeeder
	log      *crawllog.Log
	finished *journal.FinishedURLs
}

// newRig makes the components of a crawl without URLs. Its workbench has room for memory bytes. trapFloor is that of
// traps.New; -1 turns traps off.
func newRig(tb testing.TB, disk vfs.FS, dir string, memory int64, trapFloor int) *rig {
	tb.Helper()
	check := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	closeLater := func(c io.Closer) {
		tb.Cleanup(func() {
			if err := c.Close(); err != nil {
				tb.Error(err)
			}
		})
	}
	log, err := crawllog.Open(disk, dir+"/logs", func(string, ...any) {})
	check(err)
	closeLater(log)
	o := virtualize.Options{Dir: dir + "/queues", ReadAheadFrom: 1}
	if _, isMem := disk.(*vfs.Mem); isMem {
		o.BufferBytes = 4 << 10 // so that a full disk is an error soon
	}
	virt, err := virtualize.Open(disk, o, nil)
	check(err)
	closeLater(virt)
	ready, err := queued.OpenReady(disk, diskq.Options{}, dir, nil)
	check(err)
	closeLater(ready)
	list, err := traps.OpenSkipped(disk, dir, nil, traps.SkipSettings{})
	check(err)
	closeLater(list.Queue)
	store, err := cold.Open(disk, cold.Options{Dir: dir + "/cold"}, nil)
	check(err)
	closeLater(store)

	r := &rig{flushes: new(fakeFlushes), virt: virt}
	w := workbench.New[site.State](workbench.Options{MemoryMax: memory})
	rules := &settings.HostRules{Fs: disk, Dir: dir, Say: slog.New(slog.DiscardHandler)}
	live := settings.NewLive(politeness.Default(), rules)
	look := traps.Options{TrapFloor: trapFloor}
	if trapFloor < 0 {
		look.Novelty, look.TrapFloor = traps.NoveltyOff, 0
	}
	detector, unresolved := traps.New(&look, 1, nil), sites.NewUnresolvedQueue()
	table := &sites.Table{
		Workbench: w, Cold: store, Rules: site.NewRulesPool(0), Unresolved: unresolved, Live: live,
		Quotas: new(limits.Quotas), Traps: detector,
	}
	gate := outage.NewGate(func() {})
	ledger := &journal.Store{Disk: &outage.DiskGuard{
		Fs: disk, Dir: dir, Gate: gate, Most: func() int64 { return 0 }, Warn: func(string, ...any) {},
	}}
	r.log, r.finished = log, journal.NewFinishedURLs()
	dead := NewDeadSites(DeadSitesParts{
		Log: log, Workbench: w, Counters: &ledger.Count, Finished: r.finished, Wake: func() {},
	})
	wakeFeeder := func() { r.fed++ }
	r.Parts = Parts{
		Queues: Queues{
			Workbench: w, Sites: table, Ready: ready, OnDisk: sites.NewDiskQueues(virt), Unresolved: unresolved,
		},
		Progress: Progress{
			Counters:  &ledger.Count,
			IsClosing: func() bool { return false },
			PagesOut:  &r.pagesOut, IsSeeded: r.seeded.Load, NameServers: outage.NewNameServers(nil, func(string, ...any) {}),
			Stall: ending.NewStallDetector(w, live, &ledger.Count, wakeFeeder),
		},
		Signals: Signals{
			Wake: make(chan struct{}, 1), WakeFeeder: wakeFeeder, Finish: func(reason string) { r.ended = reason },
		},
		Options: Options{SiteItems: 64}, Steps: &ledger.Steps, Disk: ledger.Disk, Dead: dead,
		Front:   NewFront(w, 0, noneWaiting),
		Flushes: r.flushes, Gate: gate, Cluster: cluster.Alone{}, Traps: detector, Admission: discard{},
		Skipped: list, Live: live, Order: order.NewCurrent(order.Options{}, 1, nil),
		RequestTargets: func(time.Time, func([]byte) bool) error { return nil },
	}
	return r
}

// distributor makes the Distributor of the components.
func (r *rig) distributor() *Distributor { return NewDistributor(&r.Parts) }

// fakeFlushes is a sieve with so many URLs in its buckets.
type fakeFlushes struct {
	pending   int
	requested int
	wait      time.Duration
}

func (f *fakeFlushes) Pending() int                      { return f.pending }
func (f *fakeFlushes) Request()                          { f.requested++ }
func (f *fakeFlushes) RequestIn(time.Time) time.Duration { return f.wait }

// discard is an admission that drops all URLs.
type discard struct{}

func (discard) Add(*admission.Scratch, []byte, queued.URL) admission.Refusal {
	return admission.Belongs
}

// itemsOnDisk counts the items of all sites on disk.
func itemsOnDisk(w *visit.Workbench) (n int64) {
	w.Listing().Each(func(vs *visit.State, _ workbench.State) bool {
		n += int64(w.Site(vs).OnDisk())
		return true
	})
	return n
}

// long makes the items of a test so large that few fit in the buffers of the disk queues.
var long = strings.Repeat("x", 1000)

// path returns an item of a site.
func path(format string, args ...any) []byte {
	return queued.Append(nil, &queued.URL{Rest: fmt.Appendf(nil, format, args...)})
}

// lenOnDisk returns the number of items that a site has on disk.
func lenOnDisk(queues sites.DiskQueues, vs *visit.State) uint64 {
	n, _ := queues.Len(vs)
	return n
}

func noneWaiting() int { return 0 }
