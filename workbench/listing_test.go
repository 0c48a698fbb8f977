package workbench

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"orbweaver/internal/invariants"
)

func TestRefillOrder(t *testing.T) {
	w := New[int](Options{PathsPerVisit: 1})
	a := placed(w, "a", ip(1), "/1", "/2", "/3")
	b := placed(w, "b", ip(2), "/1")
	c := placed(w, "c", ip(3), "/1", "/2")
	born, _ := w.GetOrAdd([]byte("http://newborn"))
	for _, vs := range []*VisitState[int]{a, b, c, born} {
		w.Site(vs).SetOnDisk(10, 0)
	}
	refill := func(max int, want ...*VisitState[int]) {
		t.Helper()
		if got := w.Memory().Refill(nil, max); !slices.Equal(got, want) {
			t.Errorf("%d sites, should be %d", len(got), len(want))
		}
	}
	refill(9, b) // fewer than two items in memory, though the site can still be visited
	refill(9)    // each site once
	v := acquire(t, w, start, "a[/1]", "b[/1]", "c[/1]")
	refill(9) // items in a Visit count
	w.Release(&v[2], Release{}, start)
	w.Release(&v[0], Release{}, start)
	refill(9, c)
	w.Push(c, []byte("/3"))
	refill(9) // it has two items
	w.Push(b, []byte("/2"))
	refill(9) // b has one item in its Visit and one in its queue
	w.Site(b).SetOnDisk(0, 0)
	w.Place(born, ip(4), start)
	v = append(v, w.Acquire(start, nil, 1)...)
	w.Release(&v[3], Release{}, start)
	refill(1, born)
	refill(1, a)
	w.Kill(c, nil)
	refill(9)
	w.Site(a).SetOnDisk(7, 0)
	refill(9, a)
}

func TestKeysReturnsEverySiteWithItsItems(t *testing.T) {
	w := New[int](Options{PathsPerVisit: 1})
	for n := range 2500 {
		vs := placed(w, fmt.Sprintf("host%d", n), ip(n), "/1", "/2")
		w.Site(vs).SetOnDisk(uint64(n), 0)
	}
	w.Acquire(start, nil, 10) // items in a Visit count
	met := map[string]uint64{}
	more := true
	for k := 0; more; k++ {
		more = w.Listing().Keys(k, func(vs *VisitState[int], key []byte, _ State, items uint64) {
			if w.contents.sites.handles.at(vs.id) != vs {
				t.Error("a strange site")
			}
			met[string(key)] = items
		})
	}
	for key, items := range met {
		var n uint64
		if _, err := fmt.Sscanf(key, "http://host%d", &n); err != nil || items != n+2 {
			t.Errorf("%s holds %d, want %d (%v)", key, items, n+2, err)
		}
	}
	if len(met) != 2500 {
		t.Errorf("%d sites met", len(met))
	}
}

func TestFrontCountsIPsDueSoon(t *testing.T) {
	w := New[int](Options{PathsPerVisit: 1})
	for n := range 3000 {
		placed(w, fmt.Sprint(n), ip(n), "/1", "/2")
	}
	now := start
	if got := w.DueTimes().Front(now, 0); got < 2900 || got > 3100 {
		t.Error("about 3000 are due, estimated", got)
	}
	visits := w.Acquire(now, nil, 2500)
	for i := range visits {
		w.Release(&visits[i], Release{IPDue: now.Add(time.Duration(i) * time.Second)}, now)
	}
	w.Acquire(now, nil, 500+1)
	for seconds, want := range map[int]int{0: 0, 1: 1, 500: 500} {
		if got := w.DueTimes().Front(now, time.Duration(seconds)*time.Second); got != want {
			t.Errorf("due within %d s: %d, want %d", seconds, got, want)
		}
	}
}

// f may call the workbench, even Kill, and may end the iteration.
func TestEachAllowsCallsOfTheWorkbench(t *testing.T) {
	w := New[int](Options{})
	for n := range 1000 {
		placed(w, fmt.Sprint(n), ip(n), "/1")
	}
	n := uint64(0)
	w.Listing().Each(func(vs *VisitState[int], st State) bool {
		if n++; vs.ID() != n || st != Waiting {
			t.Fatal(vs.ID(), st)
		}
		w.Kill(vs, nil)
		return n < 700
	})
	if c := w.Counts(); n != 700 || c.Dead != 700 || c.Waiting != 300 {
		t.Errorf("%d met, %+v", n, c)
	}
}

func TestStateNames(t *testing.T) {
	for s := Unresolved; s <= stateCount; s++ {
		if name := s.String(); (name == "unknown") != (s == stateCount) {
			t.Error(s, name)
		}
	}
}

// After warm-up, Push and Visits do not allocate.
func TestNoAllocations(t *testing.T) {
	if invariants.Race {
		t.Skip("the race detector allocates")
	}
	w := New[int](Options{})
	item, key := []byte("/some/path?with=query"), []byte("http://7")
	for n := range 100 {
		placed(w, fmt.Sprint(n), ip(n), string(item))
	}
	now := start
	visits := make([]Visit[int], 0, 64)
	turn := func() {
		now = now.Add(time.Second)
		visits = w.Acquire(now, visits[:0], 50)
		for i := range visits {
			w.Push(visits[i].VS, item)
			w.Release(&visits[i], Release{SiteDue: now.Add(1500 * time.Millisecond), IPDue: now.Add(time.Second)}, now)
		}
		w.Get(key)
		w.DueTimes().Front(now, 0)
	}
	for range 50 {
		turn()
	}
	if n := testing.AllocsPerRun(200, turn); n > 1 { // the list of hits in Front
		t.Errorf("%v allocations in 50 Visits", n)
	}
}

// A known site without items takes at most 200 bytes, including its key and its share of an IP. The engine's Site is
// extra.
func TestMemoryOfIdleSites(t *testing.T) {
	if invariants.Race {
		t.Skip("the race detector allocates")
	}
	const sites, perIP = 200_000, 4
	before := heap()
	w := New[int32](Options{})
	for n := range sites {
		vs, _ := w.GetOrAdd(fmt.Appendf(nil, "https://www.example-%08d.org", n))
		w.Push(vs, []byte("/"))
		w.Place(vs, ip(n/perIP), start)
	}
	now := start
	for w.Counts().Waiting > 0 {
		for _, v := range w.Acquire(now, nil, 1000) {
			w.Release(&v, Release{SiteDue: now.Add(time.Minute), IPDue: now.Add(time.Second)}, now)
		}
		now = now.Add(time.Second)
	}
	per := float64(heap()-before) / sites
	t.Logf("%.0f bytes per idle site", per)
	if per > 200 {
		t.Errorf("an idle site costs %.0f bytes", per)
	}
	runtime.KeepAlive(w)
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
