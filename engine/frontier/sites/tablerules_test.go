package sites

import (
	"flag"
	"fmt"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/net/politeness"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/traps"
	"orbweaver/internal/vfs"
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

var ruledHosts = flag.Int("ruled-hosts", 0, "sites with rules of their own in TestHostile_B10; 0 for a few")

// ownRules returns the rules of site i, about a KiB, which no other site has.
func ownRules(i int) *robots.Rules {
	var file strings.Builder
	file.WriteString("User-agent: *\n")
	for k := range 40 {
		fmt.Fprintf(&file, "Disallow: /area%d/host%d/\n", k, i)
	}
	return robots.Parse([]byte(file.String()), robots.Token)
}

// Each of many sites has rules of its own: memory holds as much of them as it may, and the rest is on disk with idle
// sites. A site that comes back has the rules that it had. The workbench itself has room for all sites.
func TestHostile_B10_rulesBeyondTheirMemoryAreOnDisk(t *testing.T) {
	n, limit := *ruledHosts, int64(64<<20)
	if n == 0 {
		n, limit = 8000, 512<<10
	}
	store, err := cold.Open(vfs.Disk(), cold.Options{Dir: t.TempDir() + "/cold", Seed: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	h := &Table{
		Workbench: workbench.New[site.State](workbench.Options{MemoryMax: 1 << 40}), Cold: store,
		Rules:      site.NewRulesPool(limit),
		Unresolved: NewUnresolvedQueue(),
		Live:       settings.NewLive(politeness.Default(), new(settings.HostRules)),
		Quotas:     new(limits.Quotas),
		Traps:      traps.New(&traps.Options{Novelty: traps.NoveltyOff}, 1, nil),
	}
	now, before := time.Now(), heapLive()
	key := func(i int) []byte { return fmt.Appendf(nil, "http://h%d.test", i) }
	most := int64(0)
	for i := range n {
		vs, _, err := h.GetOrAdd(key(i))
		if err != nil {
			t.Fatal(err)
		}
		h.Workbench.Place(vs, netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), now)
		s := site.New(h.Rules.Share(ownRules(i)), now.Add(time.Hour), time.Time{})
		h.Workbench.Site(vs).Update(func(to *site.State) { *to = s })
		if i%256 == 255 {
			now = now.Add(recountPause / 4)
			if _, err := h.Evict(now); err != nil {
				t.Fatal(err)
			}
			most = max(most, h.Rules.Bytes.Load())
		}
	}
	all := int64(n) * int64(ownRules(n).Size())
	for range 4 { // sites that were not used since
		now = now.Add(recountPause)
		if _, err := h.Evict(now); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
	}
	heap := heapLive() - before
	known, inStore := h.Counts()
	t.Logf(
		"%d hosts, %d of them on disk: rules of %d bytes in all, %d in memory, "+
			"%d at most, with what was not collected yet; %d bytes of heap, %.1f a host",
		known,
		inStore,
		all,
		h.Rules.Bytes.Load(),
		most,
		heap,
		float64(heap)/float64(n),
	)
	if perHost := heap / int64(n); known != n || perHost > 200+limit/int64(n) || h.Rules.Bytes.Load() > limit+limit/4 ||
		all < 8*limit {
		t.Errorf("%d bytes a host, %d of rules in memory, which has %d for them", perHost, h.Rules.Bytes.Load(), limit)
	}
	for i := 0; i < n; i += max(1, n/1000) {
		vs, err := h.Get(key(i))
		if err != nil || vs == nil {
			t.Fatal(i, err)
		}
		h.Workbench.Site(vs).Read(func(s *site.State) {
			if !s.Rules.Equal(ownRules(i)) {
				t.Errorf("host %d came back with other rules", i)
			}
		})
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	runtime.KeepAlive(h)
}

// heapLive returns the live bytes of the heap, after two collections: cleanups run after the first.
func heapLive() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// While memory is short a large robots.txt counts as unreachable, and an ordinary one is taken. There is room again
// when the sites that have the others are gone.
func TestHostile_B10_largeFilesAreNotTakenWhileMemoryIsShort(t *testing.T) {
	large := func(i int) *robots.Rules {
		file := "User-agent: *\n"
		for k := range 16 {
			file += fmt.Sprintf("Disallow: /%d/%d/%s\n", i, k, strings.Repeat("x", 500))
		}
		return robots.Parse([]byte(file), robots.Token)
	}
	p := site.NewRulesPool(1 << 20)
	var held []*robots.Rules
	for i := 0; p.Accepts(large(i)); i++ {
		held = append(held, p.Share(large(i)))
	}
	if n := len(held); n < 100 || n > 140 {
		t.Errorf("%d were taken", n)
	}
	if !p.Accepts(ownRules(1)) {
		t.Error("an ordinary file was not taken")
	}
	runtime.KeepAlive(held) // from here on they can be collected
	for range 100 {
		runtime.GC()
		if p.Recount(); p.Accepts(large(1)) {
			return
		}
	}
	t.Errorf("%d bytes that are not in use are counted", p.Bytes.Load())
}
