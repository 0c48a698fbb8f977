package schedule

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/visit"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
	"orbweaver/workbench"
)

// purgeRig has sites on a real disk, some of them below opt.test, with so many URLs each, two of them in memory.
func purgeRig(tb testing.TB, siteCount, excluded, urls int) *rig {
	tb.Helper()
	r, now := newRig(tb, vfs.Disk(), tb.TempDir(), 1<<40, -1), time.Now()
	var item []byte
	for i := range siteCount {
		name := fmt.Sprintf("http://www.host%d.example", i)
		if i < excluded {
			name = fmt.Sprintf("http://www.host%d.opt.test", i)
		}
		vs, _ := r.Workbench.GetOrAdd([]byte(name))
		r.Workbench.Place(vs, netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), now)
	}
	for k := range urls { // round robin, as URLs come
		r.Workbench.Listing().Each(func(vs *visit.State, _ workbench.State) bool {
			rest := fmt.Appendf(nil, "/archive/section-%d/page-%d.html", k%7, k)
			item = queued.Append(item[:0], &queued.URL{Depth: 3, Rest: rest})
			if k < 2 {
				r.Workbench.Push(vs, item)
			} else if err := r.OnDisk.Append(vs, item); err != nil {
				tb.Fatal(err)
			}
			return true
		})
	}
	r.Workbench.Listing().Each(func(vs *visit.State, _ workbench.State) bool {
		r.Workbench.Site(vs).SetOnDisk(r.OnDisk.Len(vs))
		return true
	})
	return r
}

// runPurge excludes all below opt.test, and says how long it takes until all that was queued there has its outcome, and
// how long the longest step was.
func runPurge(tb testing.TB, r *rig, d *Distributor) (took, longest time.Duration) {
	tb.Helper()
	began := time.Now()
	if _, err := r.Live.Hosts.Add([]string{".opt.test exclude"}); err != nil {
		tb.Fatal(err)
	}
	d.Purge()
	longest = endPurge(tb, r, d, began)
	return time.Since(began), longest
}

// endPurge ends a scan that may begin now, and says how long the longest step was.
func endPurge(tb testing.TB, r *rig, d *Distributor, now time.Time) (longest time.Duration) {
	tb.Helper()
	for more := true; more; {
		step := time.Now()
		if _, err := d.emptier.step(); err != nil {
			tb.Fatal(err)
		}
		more = d.emptier.purgeExcluded(now) || !d.emptier.isDone()
		longest = max(longest, time.Since(step))
		if !r.Dead.hasRoom() {
			r.log.Flush()
		}
	}
	return longest
}

func TestPurge_onlyWhatIsExcludedGoes(t *testing.T) {
	r := purgeRig(t, 3000, 1000, 9)
	runPurge(t, r, r.distributor())
	n := r.Progress.Counters.Outcomes[outcome.Blocked].Load()
	left := int64(r.Workbench.Counts().Queued) + itemsOnDisk(r.Workbench)
	if n != 9000 || left != 18000 || r.Progress.Counters.Finished.Load() != n {
		t.Errorf("%d purged, %d left", n, left)
	}
	if err := r.Workbench.Check(); err != nil {
		t.Error(err)
	}
}

// Rules that come one by one, as those of a program do, neither begin a scan again nor have one scan follow the other.
func TestPurge_rulesOneByOne(t *testing.T) {
	r := purgeRig(t, 3000, 1000, 9)
	d := r.distributor()
	p, now := &d.emptier.purge, time.Unix(1e9, 0)
	d.Purge()
	for d.emptier.purgeExcluded(now) { // on a slow machine a scan has several steps
	}
	if d.emptier.requested.Load() || p.isActive || !p.next.After(now) {
		t.Fatalf("nothing is excluded, and yet: %+v", *p)
	}

	d.Purge()
	next := d.emptier.purgeIn(now, time.Hour)
	if d.emptier.purgeExcluded(now.Add(next - 1)); !d.emptier.requested.Load() || next <= 0 || next == time.Hour {
		t.Fatalf("a scan began at once, and the next would in %s", next)
	}

	// The last chunk of a scan is still to come when all of opt.test is excluded.
	now = now.Add(next)
	*p = purge{isActive: true, began: now, next: p.next, took: p.took}
	for r.Workbench.Listing().Keys(p.chunk+1, func(*visit.State, []byte, workbench.State, uint64) {}) {
		p.chunk++
	}
	if _, err := r.Live.Hosts.Add([]string{".opt.test exclude"}); err != nil {
		t.Fatal(err)
	}
	if wait := d.emptier.purgeIn(now, time.Hour); wait != time.Hour {
		t.Errorf("the next scan is to begin in %s, during one", wait)
	}
	endPurge(t, r, d, now)
	first := r.Progress.Counters.Outcomes[outcome.Blocked].Load()
	if first >= 9000 || !d.emptier.requested.Load() {
		t.Errorf("the last chunk had %d URLs of all 9,000; another scan: %v", first, d.emptier.requested.Load())
	}
	endPurge(t, r, d, p.next)
	if n := r.Progress.Counters.Outcomes[outcome.Blocked].Load(); n != 9000 {
		t.Errorf("%d URLs are purged, not all", n)
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
				r := purgeRig(b, c.hosts, c.out, c.urls)
				b.StartTimer()
				t, l := runPurge(b, r, r.distributor())
				took, longest = max(took, t), max(longest, l)
				if n := r.Progress.Counters.Outcomes[outcome.Blocked].Load(); n != int64(c.out)*int64(c.urls) {
					b.Fatalf("%d purged", n)
				}
			}
			b.ReportMetric(float64(took.Milliseconds()), "ms/purge")
			b.ReportMetric(float64(longest.Microseconds())/1000, "ms/step-max")
		})
	}
}
