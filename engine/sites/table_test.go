package sites

import (
	"errors"
	"fmt"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"orbweaver/engine/limits"
	"orbweaver/engine/outcome"
	"orbweaver/engine/politeness"
	"orbweaver/engine/robots"
	"orbweaver/engine/settings"
	"orbweaver/engine/site"
	"orbweaver/engine/traps"
	"orbweaver/engine/visit"
	"orbweaver/internal/vfs"
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

func newHosts(t *testing.T, disk vfs.FS) *Table {
	t.Helper()
	store, err := cold.Open(disk, cold.Options{Dir: "cold"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Table{
		Workbench: workbench.New[site.State](workbench.Options{MemoryMax: 1000}), Cold: store,
		Rules:      site.NewRulesPool(0),
		Unresolved: NewUnresolvedQueue(), Live: settings.NewLive(politeness.Default(), nil), Quotas: new(limits.Quotas),
		Traps: traps.New(-1, 0, 1, nil),
	}
}

// fill makes hosts of all fortunes, and returns what is known of each.
func (h *Table) fill(t *testing.T, n int, now time.Time) map[string]site.State {
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
			h.Workbench.SetOnDisk(vs, 0)
		} else {
			h.Workbench.Place(vs, addr, now)
		}
		h.Workbench.WithSite(vs, func(to *site.State) { *to = s })
		known[key] = s
	}
	return known
}

// all lets go of whoever may leave.
func (h *Table) all(t *testing.T, now time.Time) {
	t.Helper()
	for range 3 {
		if _, err := h.Evict(now); err != nil {
			t.Fatal(err)
		}
	}
}

// A host that comes back is what it was: rules, addresses, counts, fate. The totals stay true meanwhile.
func TestAHostComesBackFromDisk(t *testing.T) {
	now := time.Now()
	h := newHosts(t, vfs.NewMem(1))
	sites := h.fill(t, 50, now)
	h.all(t, now)
	known, inStore := h.Counts()
	if known != 50 || inStore < 40 || h.Workbench.MemoryShort() {
		t.Fatalf("%d hosts known, %d in the store", known, inStore)
	}
	for key, want := range sites {
		vs, err := h.Get([]byte(key))
		if err != nil || vs == nil {
			t.Fatal(key, err)
		}
		h.Workbench.WithSite(vs, func(s *site.State) {
			if !reflect.DeepEqual(*s, want) {
				t.Errorf("%s came back as %+v, was %+v", key, *s, want)
			}
		})
		if h.Workbench.Push(vs, []byte("/")) == (want.DeadOutcome != outcome.None) {
			t.Errorf("%s is dead or alive, and was not", key)
		}
	}
	if known, inStore := h.Counts(); known != 50 || inStore != 0 {
		t.Errorf("%d hosts known, %d in the store", known, inStore)
	}
	if vs, err := h.Get([]byte("http://nobody.test")); vs != nil || err != nil {
		t.Error(vs, err)
	}
	if vs, added, err := h.GetOrAdd([]byte("http://nobody.test")); vs == nil || !added || err != nil {
		t.Error(vs, added, err)
	}
}

// After a kill nobody knows when a host with a Crawl-delay was asked last: it waits that long from the start of the
// run.
func TestAHostThatComesBackAfterAKillKeepsItsCrawlDelay(t *testing.T) {
	now := time.Now()
	for _, resumed := range []time.Time{{}, now.Add(-5 * time.Second), now.Add(-time.Hour)} {
		h := newHosts(t, vfs.NewMem(1))
		h.fill(t, 50, now)
		h.all(t, now)
		h.Resumed = resumed
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

// A host that cannot be read ends what was to be done with it, by its name; it is not taken for a new one.
func TestAHostThatCannotBeReadIsAnError(t *testing.T) {
	now, disk := time.Now(), vfs.NewMem(1)
	h := newHosts(t, disk)
	h.fill(t, 50, now)
	h.all(t, now)
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
	if err := h.UseOrAdd([]byte("http://h3.test"), func(*visit.State) { t.Error("it was met") }); !errors.Is(
		err,
		vfs.ErrCorrupt,
	) {
		t.Error(err)
	}
	if h.Unresolved.Len() > 0 {
		t.Error("it was taken for a new one")
	}
}
