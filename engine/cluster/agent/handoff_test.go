package agent

import (
	"fmt"
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/frontier/schedule"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/traps"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize"
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

// rig has the sites of an agent, on a real disk.
type rig struct {
	bench  *visit.Workbench
	ledger *journal.Store
	outbox *outbox.Outbox
	giver  *giver
}

// queuedSites makes an agent with sites: each has so many URLs, two of them in memory.
func queuedSites(tb testing.TB, hostCount, urls int) rig {
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
	dead := schedule.NewDeadSites(schedule.DeadSitesParts{
		Workbench: b, Counters: &ledger.Count, Finished: journal.NewFinishedURLs(), Wake: func() {},
	})
	table := &sites.Table{
		Workbench: b, Cold: store, Rules: site.NewRulesPool(0), Unresolved: sites.NewUnresolvedQueue(),
		Live: settings.NewLive(politeness.Default(), new(settings.HostRules)), Quotas: new(limits.Quotas),
		Traps: traps.New(&traps.Options{Novelty: traps.NoveltyOff}, 1, nil),
	}
	box, err := outbox.Open(vfs.Disk(), outbox.Options{Dir: tb.TempDir()}, nil, nil)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := box.Close(); err != nil {
			tb.Error(err)
		}
	})
	giver := &giver{
		views: ownership.NewTimeline(10 * time.Second), outbox: box, sites: table, queues: queues, dead: dead,
		counters: &ledger.Count, log: slog.New(slog.DiscardHandler), forget: func([]byte) {}, order: perHost(1),
	}
	now := time.Now()
	var item []byte
	for i := range hostCount {
		name := fmt.Sprintf("http://www.host%d.example", i)
		vs, _ := b.GetOrAdd([]byte(name))
		b.Place(vs, netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), now)
	}
	for k := range urls { // round robin, as URLs come
		b.Listing().Each(func(vs *visit.State, _ workbench.State) bool {
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
	b.Listing().Each(func(vs *visit.State, _ workbench.State) bool {
		b.Site(vs).SetOnDisk(queues.Len(vs))
		return true
	})
	return rig{b, ledger, box, giver}
}

// perHost is an order that counts depths from the first URL of a host.
func perHost(seed uint64) *order.Current {
	return order.NewCurrent(order.Options{Visit: order.Visit{Mode: order.ModePerHost, Depth: 3}}, seed, nil)
}

// newRig returns queuedSites of an agent that was alone until another one came just now.
func newRig(tb testing.TB, hostCount, urls int) rig {
	tb.Helper()
	d := queuedSites(tb, hostCount, urls)
	one, two := ownership.Agent{ID: "one", Capacity: 1}, ownership.Agent{ID: "two", Capacity: 1}
	if _, err := d.outbox.EnsureAgent(two.Instance()); err != nil {
		tb.Fatal(err)
	}
	for _, all := range [][]ownership.Agent{{one}, {one, two}} {
		v, err := ownership.NewView(ownership.Consistent, all, all, 0, "one")
		if err != nil {
			tb.Fatal(err)
		}
		was := d.giver.views.Load()
		d.giver.views.Replace(v, time.Now())
		d.giver.NoteView(was)
	}
	return d
}

// giveAll gives the other agent its sites, and says how long that takes, and the longest step.
func giveAll(tb testing.TB, d rig) (took, longest time.Duration) {
	tb.Helper()
	began := time.Now()
	for more := true; more; {
		step := time.Now()
		var err error
		if more, err = d.giver.Step(step); err != nil {
			tb.Fatal(err)
		}
		longest = max(longest, time.Since(step))
	}
	return time.Since(began), longest
}

// Sites of the other agent go there whole and in order, those with a Visit that is out when it is back; no other site
// goes.
func TestGiver_sitesOfTheOtherAgentGoAndNoOthers(t *testing.T) {
	const hosts, urls = 3000, 9
	d := newRig(t, hosts, urls)
	now := time.Now()
	for i := range hosts / 2 {
		d.giver.order.NoteLeastDepth(fmt.Appendf(nil, "http://www.host%d.example", i), 3)
	}
	visits := d.bench.Acquire(now, nil, hosts/2)
	giveAll(t, d)
	for i := range visits {
		d.bench.Release(&visits[i], workbench.Release{Unused: visits[i].Items}, now)
	}
	for again := now.Add(time.Minute); len(d.giver.visited) > 0 ||
		d.giver.isWalking; again = again.Add(lookPeriod) {
		if _, err := d.giver.Step(again); err != nil {
			t.Fatal(err)
		}
	}
	left := int64(d.bench.Counts().Queued) + onDisk(d.bench)
	gone := d.ledger.Count.Outcomes[outcome.HandedOver].Load()
	if gone+left != hosts*urls || gone < hosts*urls/3 || left < hosts*urls/3 || d.ledger.Count.Finished.Load() != gone {
		t.Errorf("%d URLs have gone, %d are left", gone, left)
	}
	line := ownership.Agent{ID: "two", Capacity: 1}.Instance()
	next, there := map[string]int{}, perHost(1)
	for {
		batch, err := d.outbox.TakeBatch(line)
		if err != nil {
			t.Fatal(err)
		}
		if batch == nil {
			break
		}
		items, err := message.Read(batch.Bytes, site.NewRulesPool(0))
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range items {
			if item.Depth != nil {
				there.NoteLeastDepth(item.Depth.Site, item.Depth.Least)
				continue
			}
			key := string(item.Site.Key)
			if least := there.LeastDepth(item.Site.Key); least != d.giver.order.LeastDepth(item.Site.Key) {
				t.Fatalf("%s comes, and the depth of its first URL is said to be %d", key, int(least)-1)
			}
			for _, it := range item.Site.URLs {
				k := next[key]
				if want := fmt.Sprintf("%s/archive/section-%d/page-%d.html", key, k%7, k); string(it.Rest) != want ||
					d.giver.views.Load().Owns(item.Site.Key) {
					t.Fatalf("%s, want %s", it.Rest, want)
				}
				next[key]++
			}
		}
		d.outbox.Acknowledge(batch)
	}
	if int64(len(next)*urls) != gone {
		t.Errorf("URLs of %d hosts have arrived, %d were sent", len(next), gone)
	}
	if err := d.bench.Check(); err != nil {
		t.Error(err)
	}
}

// A second agent comes when 10^7 URLs are queued: of one host, and of a million.
func BenchmarkGiver(b *testing.B) {
	for _, c := range []struct{ hosts, urls int }{{4, 2_500_000}, {1_000_000, 10}} {
		b.Run(fmt.Sprintf("hosts=%d/urls=%d", c.hosts, c.hosts*c.urls), func(b *testing.B) {
			var took, longest time.Duration
			var gone int64
			for range b.N {
				b.StopTimer()
				d := newRig(b, c.hosts, c.urls)
				b.StartTimer()
				t, l := giveAll(b, d)
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
	b.Listing().Each(func(vs *visit.State, _ workbench.State) bool {
		n += int64(b.Site(vs).OnDisk())
		return true
	})
	return n
}

// Sites that become this agent's again, before they were given, stay here.
func TestGiver_returnedSitesAreNotGiven(t *testing.T) {
	const hosts, urls = 300, 3
	d := newRig(t, hosts, urls)
	d.giver.isAsked, d.giver.isWalking = false, true
	d.giver.findSites()
	if len(d.giver.found) == 0 {
		t.Fatal("no site is the other agent's")
	}
	one := ownership.Agent{ID: "one", Capacity: 1}
	v, err := ownership.NewView(ownership.Consistent, []ownership.Agent{one}, []ownership.Agent{one}, 0, "one")
	if err != nil {
		t.Fatal(err)
	}
	was := d.giver.views.Load()
	d.giver.views.Replace(v, time.Now())
	d.giver.NoteView(was)
	giveAll(t, d)
	if n := d.ledger.Count.Outcomes[outcome.HandedOver].Load(); n != 0 {
		t.Errorf("%d URLs were given away", n)
	}
}
