package agent

import (
	"fmt"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/outbox"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/cluster/robotsrelay"
	"orbweaver/engine/journal"
	"orbweaver/engine/limits"
	"orbweaver/engine/outcome"
	"orbweaver/engine/politeness"
	"orbweaver/engine/queued"
	"orbweaver/engine/schedule"
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

// movingRig has the sites of an agent, on a real disk, and its cluster.
type movingRig struct {
	bench   *visit.Workbench
	ledger  *journal.Store
	cluster roles
}

// queuedSites makes an agent with sites: each has so many URLs, two of them in memory.
func queuedSites(tb testing.TB, hostCount, urls int) movingRig {
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
	ledger, queues := new(journal.Store), sites.NewDiskQueues(virt)
	dead := &schedule.DeadSites{
		Workbench: b, Counters: &ledger.Count, Finished: journal.NewFinishedURLs(), Wake: func() {},
	}
	table := &sites.Table{
		Workbench: b, Cold: store, Rules: site.NewRulesPool(0), Unresolved: sites.NewUnresolvedQueue(),
		Live: settings.NewLive(politeness.Default(), nil), Quotas: new(limits.Quotas),
		Traps: traps.New(-1, 0, 1, nil),
	}
	p := &agent{views: ownership.NewTimeline(peerGrace), journal: ledger, sites: table, log: slog.New(slog.DiscardHandler)}
	p.leases = newLeases(p, func() time.Duration { return time.Second })
	p.robots = robotsrelay.New(robotsrelay.Options{})
	p.moving = &moving{peers: p, queues: queues, dead: dead}
	now := time.Now()
	var item []byte
	for i := range hostCount {
		name := fmt.Sprintf("http://www.host%d.example", i)
		vs, _ := b.GetOrAdd([]byte(name))
		b.Place(vs, netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), now)
	}
	for k := range urls { // round robin, as URLs come
		b.Each(func(vs *visit.State, _ workbench.State) bool {
			path := fmt.Appendf(nil, "/archive/section-%d/page-%d.html", k%7, k)
			item = queued.Append(item[:0], &queued.URL{Depth: 3, Rest: path})
			if k < 2 {
				b.Push(vs, item)
			} else if err := queues.Append(vs, item); err != nil {
				tb.Fatal(err)
			}
			return true
		})
	}
	b.Each(func(vs *visit.State, _ workbench.State) bool {
		b.SetOnDisk(vs, queues.Len(vs))
		return true
	})
	return movingRig{b, ledger, roles{p}}
}

// newMovingRig returns queuedSites of an agent that was alone until another one came just now.
func newMovingRig(tb testing.TB, hostCount, urls int) movingRig {
	tb.Helper()
	d := queuedSites(tb, hostCount, urls)
	box, err := outbox.Open(vfs.Disk(), outbox.Options{Dir: tb.TempDir()}, nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := box.Close(); err != nil {
			tb.Error(err)
		}
	})
	one, two := ownership.Agent{ID: "one", Capacity: 1}, ownership.Agent{ID: "two", Capacity: 1}
	d.cluster.outbox = box
	for _, all := range [][]ownership.Agent{{one}, {one, two}} {
		c, err := ownership.NewView(all, all, 0, "one")
		if err == nil {
			err = d.cluster.turn(c)
		}
		if err != nil {
			tb.Fatal(err)
		}
	}
	return d
}

// runMoving gives away what is the other's, and says how long it takes and how long the longest hold of the cut's lock
// was.
func runMoving(tb testing.TB, d movingRig) (took, longest time.Duration) {
	tb.Helper()
	began := time.Now()
	for more := true; more; {
		step := time.Now()
		var err error
		if more, err = d.cluster.GiveSites(step); err != nil {
			tb.Fatal(err)
		}
		longest = max(longest, time.Since(step))
	}
	return time.Since(began), longest
}

// What the other agent is responsible for goes there whole and in order, those that are visited when they are back, and
// nothing else.
func TestMoving_whatIsAnothersGoesAndNothingElse(t *testing.T) {
	const hosts, urls = 3000, 9
	d := newMovingRig(t, hosts, urls)
	now := time.Now()
	visits := d.bench.Acquire(now, nil, hosts/2)
	runMoving(t, d)
	for i := range visits {
		d.bench.Release(&visits[i], workbench.Release{Unused: visits[i].Items}, now)
	}
	for again := now.Add(time.Minute); len(d.cluster.moving.late) > 0 ||
		d.cluster.moving.busy; again = again.Add(movingLate) {
		if _, err := d.cluster.moving.step(again); err != nil {
			t.Fatal(err)
		}
	}
	left := int64(d.bench.Counts().Queued) + onDisk(d.bench)
	gone := d.ledger.Count.Outcomes[outcome.HandedOver].Load()
	if gone+left != hosts*urls || gone < hosts*urls/3 || left < hosts*urls/3 || d.ledger.Count.Finished.Load() != gone {
		t.Errorf("%d URLs have gone, %d are left", gone, left)
	}
	line := ownership.Agent{ID: "two", Capacity: 1}.Instance()
	next := map[string]int{}
	for {
		batch, err := d.cluster.outbox.TakeBatch(line)
		if err != nil {
			t.Fatal(err)
		}
		if batch == nil {
			break
		}
		for item := range message.CheckedItems(batch.Bytes) {
			m, err := message.ReadSite(item)
			if err != nil {
				t.Fatal(err)
			}
			for it, err := range m.URLs() {
				if err != nil {
					t.Fatal(err)
				}
				k := next[string(m.Key)]
				if want := fmt.Sprintf("%s/archive/section-%d/page-%d.html", m.Key, k%7, k); string(it.Rest) != want ||
					d.cluster.Owns(m.Key) {
					t.Fatalf("%s, want %s", it.Rest, want)
				}
				next[string(m.Key)]++
			}
		}
		d.cluster.outbox.Acknowledge(batch)
	}
	if int64(len(next)*urls) != gone {
		t.Errorf("URLs of %d hosts have arrived, %d were sent", len(next), gone)
	}
	if err := d.bench.Check(); err != nil {
		t.Error(err)
	}
}

// A second agent comes when 10^7 URLs are queued: of one host, and of a million.
func BenchmarkMoving(b *testing.B) {
	for _, c := range []struct{ hosts, urls int }{{4, 2_500_000}, {1_000_000, 10}} {
		b.Run(fmt.Sprintf("hosts=%d/urls=%d", c.hosts, c.hosts*c.urls), func(b *testing.B) {
			var took, longest time.Duration
			var gone int64
			for range b.N {
				b.StopTimer()
				d := newMovingRig(b, c.hosts, c.urls)
				b.StartTimer()
				t, l := runMoving(b, d)
				took, longest = max(took, t), max(longest, l)
				gone = d.ledger.Count.Outcomes[outcome.HandedOver].Load()
			}
			b.ReportMetric(float64(took.Milliseconds()), "ms/move")
			b.ReportMetric(float64(longest.Microseconds())/1000, "ms/step-max")
			b.ReportMetric(float64(gone), "URLs")
		})
	}
}

// onDisk counts the items of all sites on disk.
func onDisk(b *visit.Workbench) (n int64) {
	b.Each(func(vs *visit.State, _ workbench.State) bool {
		n += int64(b.OnDisk(vs))
		return true
	})
	return n
}
