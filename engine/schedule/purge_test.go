package schedule

import (
	"fmt"
	"log/slog"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/counters"
	"orbweaver/engine/crawllog"
	"orbweaver/engine/journal"
	"orbweaver/engine/limits"
	"orbweaver/engine/outcome"
	"orbweaver/engine/politeness"
	"orbweaver/engine/queued"
	"orbweaver/engine/settings"
	"orbweaver/engine/site"
	"orbweaver/engine/sites"
	"orbweaver/engine/traps"
	"orbweaver/engine/visit"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize"
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

// purgeRig is what the purge needs of a frontier, on a real disk: hosts, some of them below opt.test, with so many URLs
// each, of which two are in memory.
func purgeRig(tb testing.TB, hostCount, out, urls int) *Distributor {
	tb.Helper()
	dir := tb.TempDir()
	virt, err := virtualize.Open(vfs.Disk(), virtualize.Options{Dir: dir + "/queues"}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	store, err := cold.Open(vfs.Disk(), cold.Options{Dir: dir + "/cold"}, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := virt.Close(); err != nil {
			tb.Error(err)
		}
		if err := store.Close(); err != nil {
			tb.Error(err)
		}
	})
	b := workbench.New[site.State](workbench.Options{MemoryMax: 1 << 40})
	n := new(counters.Live)
	rules := &settings.HostRules{Fs: vfs.Disk(), Dir: dir, Say: slog.New(slog.DiscardHandler)}
	log, err := crawllog.Open(vfs.Disk(), dir+"/logs", func(string, ...any) {})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := log.Close(); err != nil {
			tb.Error(err)
		}
	})
	under := &DeadSites{Log: log, Workbench: b, Counters: n, Finished: journal.NewFinishedURLs(), Wake: func() {}}
	d := &Distributor{
		Cluster: cluster.Alone{},
		Journal: &journal.Store{}, Workbench: b, Queues: sites.NewDiskQueues(virt), FrontWanted: new(atomic.Int64),
		Unresolved: sites.NewUnresolvedQueue(), Dead: under,
		Wake: make(chan struct{}, 1), WakeFeeder: func() {}, Traps: traps.New(-1, 0, 1, nil),
		Sites: &sites.Table{
			Workbench: b, Cold: store, Rules: site.NewRulesPool(0), Unresolved: sites.NewUnresolvedQueue(),
			Live: settings.NewLive(politeness.Default(), rules), Quotas: new(limits.Quotas),
			Traps: traps.New(-1, 0, 1, nil),
		},
	}
	under.Counters = &d.Journal.Count
	d.Purge = &Purge{Workbench: b, Queues: d.Queues, Dead: under, Rules: rules, Wake: func() {}}
	now := time.Now()
	var item []byte
	for i := range hostCount {
		name := fmt.Sprintf("http://www.host%d.example", i)
		if i < out {
			name = fmt.Sprintf("http://www.host%d.opt.test", i)
		}
		vs, _ := b.GetOrAdd([]byte(name))
		b.Place(vs, netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), now)
	}
	for k := range urls { // round robin, as URLs come
		b.Each(func(vs *visit.State, _ workbench.State) bool {
			path := fmt.Appendf(nil, "/archive/section-%d/page-%d.html", k%7, k)
			item = queued.Append(item[:0], &queued.URL{Depth: 3, Rest: path})
			if k < 2 {
				b.Push(vs, item)
			} else if err := d.Queues.Append(vs, item); err != nil {
				tb.Fatal(err)
			}
			return true
		})
	}
	b.Each(func(vs *visit.State, _ workbench.State) bool {
		b.SetOnDisk(vs, d.Queues.Len(vs))
		return true
	})
	return d
}

// runPurge excludes all below opt.test, and says how long it takes until all that was queued there has its outcome, and
// how long the longest hold of the cut's lock was.
func runPurge(tb testing.TB, d *Distributor) (took, longest time.Duration) {
	tb.Helper()
	began := time.Now()
	if _, err := d.Purge.Rules.Add([]string{".opt.test exclude"}); err != nil {
		tb.Fatal(err)
	}
	d.Purge.Start()
	for more := true; more; {
		step := time.Now()
		var err error
		if more, err = d.Purge.Step(step); err != nil {
			tb.Fatal(err)
		}
		longest = max(longest, time.Since(step))
		if !d.Dead.Log.HasRoom() {
			d.Dead.Log.Flush()
		}
	}
	return time.Since(began), longest
}

func TestPurge_onlyWhatIsExcludedGoes(t *testing.T) {
	d := purgeRig(t, 3000, 1000, 9)
	runPurge(t, d)
	n := d.Journal.Count.Outcomes[outcome.Blocked].Load()
	left := int64(d.Workbench.Counts().Queued) + itemsOnDisk(d.Workbench)
	if n != 9000 || left != 18000 || d.Journal.Count.Finished.Load() != n {
		t.Errorf("%d purged, %d left", n, left)
	}
	if err := d.Workbench.Check(); err != nil {
		t.Error(err)
	}
}

// A rule that excludes hosts with a part of 10^7 queued URLs: one host with half of them, a hundredth of a million
// hosts, half of a million hosts.
func BenchmarkPurge(b *testing.B) {
	for _, c := range []struct{ hosts, out, urls int }{{2, 1, 5_000_000}, {1_000_000, 10_000, 10},
		{1_000_000, 500_000, 10}} {
		b.Run(fmt.Sprintf("hosts=%d/out=%d/urls=%d", c.hosts, c.out, c.hosts*c.urls), func(b *testing.B) {
			var took, longest time.Duration
			for range b.N {
				b.StopTimer()
				d := purgeRig(b, c.hosts, c.out, c.urls)
				b.StartTimer()
				t, l := runPurge(b, d)
				took, longest = max(took, t), max(longest, l)
				if n := d.Journal.Count.Outcomes[outcome.Blocked].Load(); n != int64(c.out)*int64(c.urls) {
					b.Fatalf("%d purged", n)
				}
			}
			b.ReportMetric(float64(took.Milliseconds()), "ms/purge")
			b.ReportMetric(float64(longest.Microseconds())/1000, "ms/step-max")
		})
	}
}

// itemsOnDisk counts the items of all sites on disk.
func itemsOnDisk(b *visit.Workbench) (n int64) {
	b.Each(func(vs *visit.State, _ workbench.State) bool {
		n += int64(b.OnDisk(vs))
		return true
	})
	return n
}
