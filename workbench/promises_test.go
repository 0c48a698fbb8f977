package workbench

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"
)

var start = time.Unix(1e9, 0)

func ip(n int) netip.Addr { return netip.AddrFrom4([4]byte{10, 1, byte(n >> 8), byte(n)}) }

// placed adds a site with items at an address.
func placed(w *Workbench[int], name string, addr netip.Addr, items ...string) *VisitState[int] {
	vs, _ := w.GetOrAdd([]byte("http://" + name))
	for _, item := range items {
		w.Push(vs, []byte(item))
	}
	w.Place(vs, addr, start)
	return vs
}

func check(t *testing.T, w *Workbench[int]) {
	t.Helper()
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
}

func acquire(t *testing.T, w *Workbench[int], now time.Time, want ...string) []Visit[int] {
	t.Helper()
	visits := w.Acquire(now, nil, 100)
	var got []string
	for _, v := range visits {
		got = append(got, fmt.Sprintf("%s%s", v.Key[len("http://"):], v.Items))
	}
	if !slices.Equal(got, want) {
		t.Fatalf("came out: %q, should be %q", got, want)
	}
	check(t, w)
	return visits
}

// An entry is on the workbench if and only if it is not leased and has a site with items that is not parked.
func TestW1_OnTheBenchIfAndOnlyIf(t *testing.T) {
	w := New[int](Options{})
	onBench := func(want int) {
		t.Helper()
		check(t, w)
		if got := w.Counts().OnBench; got != want {
			t.Fatalf("%d entries on the bench, should be %d", got, want)
		}
	}
	vs, _ := w.GetOrAdd([]byte("http://a"))
	w.Push(vs, []byte("/1"))
	onBench(0) // unresolved
	w.Place(vs, ip(1), start)
	onBench(1)
	v := acquire(t, w, start, "a[/1]")
	onBench(0) // leased
	w.Push(vs, []byte("/2"))
	onBench(0) // still leased
	w.Release(&v[0], Release{}, start)
	onBench(1)
	v = acquire(t, w, start, "a[/2]")
	w.Release(&v[0], Release{Unused: v[0].Items, Park: true}, start)
	onBench(0) // parked
	acquire(t, w, start)
	w.Unpark(vs, nil)
	onBench(1)
	v = acquire(t, w, start, "a[/2]")
	w.Release(&v[0], Release{}, start)
	onBench(0) // idle
	w.PushFront(vs, []byte("/3"))
	onBench(1)
	w.Defer(vs, start)
	onBench(0)
	w.DueDeferred(start, nil)
	onBench(0)
	w.Place(vs, ip(2), start)
	onBench(1)
	w.Kill(vs, nil)
	onBench(0)
}

// Two sites of one IP are never leased at the same time, whatever their due times.
func TestW2_OneVisitPerIP(t *testing.T) {
	w := New[int](Options{})
	placed(w, "a", ip(1), "/1", "/2")
	b := placed(w, "b", ip(1), "/1")
	placed(w, "c", ip(2), "/1")
	// The same address in another notation.
	placed(w, "d", netip.AddrFrom16(ip(2).As16()), "/1")
	v := acquire(t, w, start, "a[/1 /2]", "c[/1]")
	acquire(t, w, start.Add(time.Hour))
	// An IP with a Visit stays closed when a site is placed there, or moved away and back.
	placed(w, "e", ip(1), "/1")
	w.Place(b, ip(3), start)
	acquire(t, w, start, "b[/1]")
	w.Release(&v[0], Release{}, start)
	acquire(t, w, start, "e[/1]")
}

func TestW2_ReleasedTwicePanics(t *testing.T) {
	w := New[int](Options{})
	vs := placed(w, "a", ip(1), "/1", "/2", "/3", "/4", "/5")
	first := acquire(t, w, start, "a[/1 /2 /3 /4]")[0]
	again := first
	w.Release(&first, Release{}, start)
	panics := func(what string) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Error(what, "did not panic")
			}
		}()
		w.Release(&again, Release{}, start)
	}
	panics("a second Release")
	acquire(t, w, start, "a[/5]")
	panics("a Release of an older Visit")
	_ = vs
}

func TestW3_NoVisitBeforeItsDueTime(t *testing.T) {
	w := New[int](Options{PathsPerVisit: 1})
	placed(w, "a", ip(1), "/1", "/2", "/3")
	placed(w, "b", ip(1), "/1", "/2")
	v := acquire(t, w, start, "a[/1]")[0]
	if !v.SiteDue.IsZero() || !v.IPDue.IsZero() {
		t.Error("due times of what never was visited:", v.SiteDue, v.IPDue)
	}
	at := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
	w.Release(&v, Release{SiteDue: at(4), IPDue: at(1)}, start)
	acquire(t, w, at(0.999999999)) // the IP is not due, though b is
	if due, ok := w.DueTimes().Next(); !ok || !due.Equal(at(1)) {
		t.Error(due, ok)
	}
	v = acquire(t, w, at(1), "b[/1]")[0]
	w.Release(&v, Release{SiteDue: at(9), IPDue: at(2)}, at(1))
	acquire(t, w, at(3.999999999)) // the IP is due, no site is
	v = acquire(t, w, at(4), "a[/2]")[0]
	if !v.SiteDue.Equal(at(4)) || !v.IPDue.Equal(at(2)) {
		t.Error("due times:", v.SiteDue, v.IPDue)
	}
	// A Release, a move and a Kill never move a due time back.
	w.Release(&v, Release{SiteDue: at(3), IPDue: at(1)}, at(4))
	v = acquire(t, w, at(4), "a[/3]")[0]
	w.Release(&v, Release{SiteDue: at(100), IPDue: at(50), Unused: v.Items}, at(4))
	a := w.Get([]byte("http://a"))
	w.Place(a, ip(2), at(5))
	acquire(t, w, at(49.9))
	w.Kill(a, nil)
	w.Revive(a)
	w.Push(a, []byte("/4"))
	w.Place(a, ip(2), at(5))
	acquire(t, w, at(50), "b[/2]")
	acquire(t, w, at(99.9))
	acquire(t, w, at(100), "a[/4]")
}

// The due time of an IP without sites stays until it has passed, but not longer.
func TestW3_AnEmptyIPKeepsItsDueTime(t *testing.T) {
	w := New[int](Options{})
	vs := placed(w, "a", ip(1), "/1")
	v := acquire(t, w, start, "a[/1]")[0]
	w.Release(&v, Release{IPDue: start.Add(time.Minute), Replace: ip(2)}, start)
	if c := w.Counts(); c.IPs != 2 || c.Vacant != 1 {
		t.Fatalf("%+v", c)
	}
	placed(w, "b", ip(1), "/1")
	acquire(t, w, start.Add(time.Minute-1))
	acquire(t, w, start.Add(time.Minute), "b[/1]")
	w.Place(vs, ip(3), start)
	if c := w.Counts(); c.IPs != 2 || c.Vacant != 0 {
		t.Fatalf("an IP that never was visited stayed: %+v", c)
	}
}

// A due time of Postpone during a Visit is kept if the Release has an earlier one.
func TestW3_Postpone(t *testing.T) {
	w := New[int](Options{PathsPerVisit: 1})
	vs := placed(w, "a", ip(1), "/1", "/2", "/3")
	w.Site(vs).Postpone(start.Add(time.Second), time.Time{})
	acquire(t, w, start)
	v := acquire(t, w, start.Add(time.Second), "a[/1]")[0]
	w.Site(vs).Postpone(start.Add(time.Minute), start.Add(time.Hour))
	w.Release(&v, Release{SiteDue: start.Add(2 * time.Second), IPDue: start.Add(2 * time.Second)}, start)
	acquire(t, w, start.Add(time.Hour-1))
	acquire(t, w, start.Add(time.Hour), "a[/2]")
}

// Hasten takes back the due time that a Release has set. A site that was postponed since, however little, keeps it, and
// so does one that is leased or has another due time.
func TestW3_Hasten(t *testing.T) {
	soon, until := start.Add(time.Second), start.Add(time.Minute)
	for name, c := range map[string]struct {
		since func(w *Workbench[int], vs *VisitState[int])
		was   time.Time
		may   bool
	}{
		"nothing":          {func(*Workbench[int], *VisitState[int]) {}, until, true},
		"another due time": {func(*Workbench[int], *VisitState[int]) {}, until.Add(1), false},
		"a Postpone":       {func(w *Workbench[int], vs *VisitState[int]) { w.Site(vs).Postpone(soon, soon) }, until, false},
		"that of an IP": {func(w *Workbench[int], vs *VisitState[int]) {
			w.Site(vs).Postpone(time.Time{}, soon)
		}, until, true},
		"a lease":           {func(w *Workbench[int], _ *VisitState[int]) { acquire(t, w, until, "a[/1]") }, until, false},
		"the end of a site": {func(w *Workbench[int], vs *VisitState[int]) { w.Kill(vs, nil) }, until.Add(1), false},
	} {
		w := New[int](Options{PathsPerVisit: 1})
		vs := placed(w, "a", ip(1), "/1")
		key := w.Site(vs).AppendKey(nil)
		v := acquire(t, w, start, "a[/1]")[0]
		w.Release(&v, Release{Unused: v.Items, SiteDue: until}, start)
		c.since(w, vs)
		want := w.Site(vs).Due()
		if c.may {
			want = soon
		}
		if did := w.DueTimes().Hasten(key, c.was, soon); did != c.may || !w.Site(vs).Due().Equal(want) {
			t.Errorf("%s: %v, due %v, want %v", name, did, w.Site(vs).Due(), want)
		}
		if err := w.Check(); err != nil {
			t.Error(err)
		}
	}
	if New[int](Options{}).DueTimes().Hasten([]byte("http://unknown"), until, soon) {
		t.Error("an unknown site was hastened")
	}
}

// Items leave in order: items that PushFront added meanwhile, then Front, then Unused, then the rest.
func TestW4_Order(t *testing.T) {
	w := New[int](Options{PathsPerVisit: 3})
	vs := placed(w, "a", ip(1), "/1", "/2", "/3", "/4", "/5")
	v := acquire(t, w, start, "a[/1 /2 /3]")[0]
	w.Push(vs, []byte("/6"))
	w.PushFront(vs, []byte("/robots-hop"))
	w.Release(&v, Release{Unused: v.Items[1:], Front: [][]byte{[]byte("/again"), v.Items[0]}}, start)
	v = acquire(t, w, start, "a[/robots-hop /again /1]")[0]
	w.Release(&v, Release{}, start)
	v = acquire(t, w, start, "a[/2 /3 /4]")[0]
	w.Release(&v, Release{}, start)
	acquire(t, w, start, "a[/5 /6]")
}

func TestW4_SitesOfEqualDueTimeGoByAge(t *testing.T) {
	w := New[int](Options{})
	var want []string
	for n := range 50 {
		want = append(want, fmt.Sprintf("%02d[/x]", n))
	}
	for n := range 50 { // created in one order, placed in another
		vs, _ := w.GetOrAdd([]byte("http://" + want[n][:2]))
		w.Push(vs, []byte("/x"))
	}
	for n := 49; n >= 0; n-- {
		w.Place(w.Get([]byte("http://"+want[n][:2])), ip(n), start)
	}
	acquire(t, w, start, want...)
}

func TestW5_Weight(t *testing.T) {
	w := New[int](Options{PathsPerVisit: 2, MemoryMax: 300})
	weight := func(want int64) {
		t.Helper()
		check(t, w)
		if got := w.Counts().Weight; got != want || w.Memory().Full() != (want >= 300) {
			t.Fatalf("weight %d, full %v; should be %d", got, w.Memory().Full(), want)
		}
	}
	weight(0)
	vs := placed(w, "a", ip(1))
	weight(0) // a site without items weighs nothing
	w.Push(vs, make([]byte, 100))
	weight(96 + 109)
	w.Push(vs, make([]byte, 200))
	weight(96 + 109 + 210)
	v := w.Acquire(start, nil, 1)[0]
	weight(96 + 109 + 210) // items in a Visit count
	w.Release(&v, Release{Unused: v.Items[1:]}, start)
	weight(96 + 210)
	if n := w.Kill(vs, nil); n != 1 {
		t.Error("dropped", n)
	}
	weight(0)
}

// Prefetch changes nothing, whatever items and states the sites have.
func TestPrefetchChangesNothing(t *testing.T) {
	w := New[int](Options{PathsPerVisit: 1})
	for n := range 40 {
		placed(w, fmt.Sprint(n), ip(n/2), "/1", "/2"[:1+n%2])
	}
	visits := w.Acquire(start, nil, 20)
	w.Kill(visits[3].VS, nil)
	w.Place(visits[4].VS, ip(300), start)
	before := w.Counts()
	w.Prefetch(visits)
	w.Prefetch(nil)
	if after := w.Counts(); after != before {
		t.Errorf("%+v\nwas %+v", after, before)
	}
	for i := range visits {
		w.Release(&visits[i], Release{Unused: visits[i].Items}, start)
	}
	check(t, w)
}
