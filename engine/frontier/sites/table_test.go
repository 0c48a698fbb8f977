package sites

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"orbweaver/engine/net/politeness"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/traps"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

func newTable(t testing.TB, disk vfs.FS) *Table {
	t.Helper()
	store, err := cold.Open(disk, cold.Options{Dir: "cold"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Table{
		Workbench: workbench.New[site.State](workbench.Options{MemoryMax: 1000}), Cold: store,
		Rules:      site.NewRulesPool(0),
		Unresolved: NewUnresolvedQueue(),
		Live:       settings.NewLive(politeness.Default(), new(settings.HostRules)),
		Quotas:     new(limits.Quotas),
		Traps:      traps.New(&traps.Options{Novelty: traps.NoveltyOff}, 1, nil),
	}
}

// addSites adds sites with different states, and returns the states.
func addSites(t *testing.T, h *Table, n int, now time.Time) map[string]site.State {
	t.Helper()
	known := map[string]site.State{}
	for i := range n {
		key := fmt.Sprintf("http://h%d.test", i)
		vs, added, err := h.GetOrAdd([]byte(key))
		if err != nil || !added {
			t.Fatal(key, added, err)
		}
		rules := robots.Parse(fmt.Appendf(nil, "User-agent: *\nDisallow: /%d\nCrawl-delay: 9\n", i), robots.Token)
		s := site.New(rules, now.Add(time.Hour), now.Add(time.Minute))
		s.Stored, s.Failures = int32(i), 3
		addr := netip.AddrFrom4([4]byte{10, 0, 0, byte(i)})
		if i%3 == 0 {
			s.SetAddrs([]netip.Addr{addr, netip.AddrFrom4([4]byte{10, 1, 0, byte(i)})}, addr, now.Add(time.Minute))
		}
		if i%2 == 0 {
			s.DeadOutcome = outcome.RobotsUnreachable
			h.Workbench.Kill(vs, nil)
			h.Workbench.Site(vs).SetOnDisk(0, 0)
		} else {
			h.Workbench.Place(vs, addr, now)
		}
		h.Workbench.Site(vs).Update(func(to *site.State) { *to = s })
		known[key] = s
	}
	return known
}

// evictAll evicts all sites that may leave.
func evictAll(t *testing.T, h *Table, now time.Time) {
	t.Helper()
	for range 3 {
		if _, err := h.Evict(now); err != nil {
			t.Fatal(err)
		}
	}
}

// A site that comes back from disk has the state that it had: rules, addresses, counts, outcome. The totals are right
// all the time.
func TestTable_aSiteComesBackAsItWas(t *testing.T) {
	now := time.Now()
	h := newTable(t, vfs.NewMem(1))
	sites := addSites(t, h, 50, now)
	evictAll(t, h, now)
	known, inStore := h.Counts()
	if known != 50 || inStore < 40 || h.Workbench.Memory().Short() {
		t.Fatalf("%d hosts known, %d in the store", known, inStore)
	}
	for key, want := range sites {
		vs, err := h.Get([]byte(key))
		if err != nil || vs == nil {
			t.Fatal(key, err)
		}
		h.Workbench.Site(vs).Update(func(s *site.State) {
			if !reflect.DeepEqual(*s, want) {
				t.Errorf("%s came back as %+v, was %+v", key, *s, want)
			}
		})
		if h.Workbench.Push(vs, []byte("/")) == (want.DeadOutcome != outcome.None) {
			t.Errorf("%s is dead now and was not, or the other way round", key)
		}
	}
	if known, inStore := h.Counts(); known != 50 || inStore != 0 {
		t.Errorf("%d hosts known, %d in the store", known, inStore)
	}
	if vs, err := h.Get([]byte("http://unknown.test")); vs != nil || err != nil {
		t.Error(vs, err)
	}
	if vs, added, err := h.GetOrAdd([]byte("http://unknown.test")); vs == nil || !added || err != nil {
		t.Error(vs, added, err)
	}
}

// After a kill it is not known when a site with a Crawl-delay was asked last: it waits that long from the start of the
// run.
func TestTable_aSiteKeepsItsCrawlDelayAfterAKill(t *testing.T) {
	now := time.Now()
	for _, resumed := range []time.Time{{}, now.Add(-5 * time.Second), now.Add(-time.Hour)} {
		h := newTable(t, vfs.NewMem(1))
		addSites(t, h, 50, now)
		evictAll(t, h, now)
		h.UncleanResume = resumed
		vs, err := h.Get([]byte("http://h1.test"))
		if err != nil || !h.Workbench.Push(vs, []byte("/")) {
			t.Fatal(err)
		}
		waits := len(h.Workbench.Acquire(time.Now(), nil, 1)) == 0
		if waits != now.Add(-6*time.Second).Before(resumed) {
			t.Errorf("resumed %v ago: it waits: %v", now.Sub(resumed), waits)
		}
	}
}

// A site that cannot be read is an error, and is not taken for a new site.
func TestTable_aSiteThatCannotBeReadIsAnError(t *testing.T) {
	now, disk := time.Now(), vfs.NewMem(1)
	h := newTable(t, disk)
	addSites(t, h, 50, now)
	evictAll(t, h, now)
	if err := h.Cold.Sync(); err != nil {
		t.Fatal(err)
	}
	f, err := disk.OpenRW("cold/00000001")
	if err == nil {
		size, _ := f.Size()
		_, err = f.WriteAt(make([]byte, size-16), 16)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.Get([]byte("http://h1.test")); !errors.Is(err, vfs.ErrCorrupt) {
		t.Error(err)
	}
	if err := h.UseOrAdd([]byte("http://h3.test"), func(*visit.State) { t.Error("the site is used") }); !errors.Is(
		err,
		vfs.ErrCorrupt,
	) {
		t.Error(err)
	}
	if h.Unresolved.Len() > 0 {
		t.Error("it was taken for a new one")
	}
}
