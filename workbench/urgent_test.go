package workbench

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
)

const testUrgent = 1 << 4

func urgentItem(name string) []byte { return append([]byte{testUrgent, 0}, name...) }
func plainItem(name string) []byte  { return append([]byte{0, 0}, name...) }

// newUrgentBench returns a workbench with a site at an address.
func newUrgentBench(t *testing.T, now time.Time) (*Workbench[int], *VisitState[int]) {
	t.Helper()
	w := New[int](Options{UrgentFlags: testUrgent})
	vs, _ := w.GetOrAdd([]byte("http://a.test"))
	w.Place(vs, netip.MustParseAddr("192.0.2.1"), now)
	return w, vs
}

// visitAll visits a site until nothing is due, and returns the first item of each Visit, which is used up.
func visitAll(t *testing.T, w *Workbench[int], now time.Time) string {
	t.Helper()
	var got []string
	for {
		visits := w.Acquire(now, nil, 1)
		if len(visits) == 0 {
			return strings.Join(got, " ")
		}
		v := &visits[0]
		got = append(got, string(v.Items[0][2:]))
		w.Release(v, Release{Unused: v.Items[1:]}, now)
		if err := w.Check(); err != nil {
			t.Fatal(err)
		}
	}
}

// Urgent items precede the others, also those that a Visit returns unused, and each class leaves in its order.
func TestW4_urgentItemsPrecedeTheOthers(t *testing.T) {
	now := time.Now()
	w, vs := newUrgentBench(t, now)
	for _, name := range []string{"p1", "p2", "p3", "p4", "p5"} {
		w.Push(vs, plainItem(name))
	}
	v := w.Acquire(now, nil, 1)[0] // it takes p1 to p4, and uses p1
	for _, name := range []string{"i1", "i2"} {
		w.Push(vs, urgentItem(name))
	}
	w.Release(&v, Release{Unused: v.Items[1:]}, now)
	w.Push(vs, plainItem("p6"))
	w.Push(vs, urgentItem("i3"))
	w.PushFront(vs, urgentItem("i0"))
	w.PushFront(vs, plainItem("p0"))
	if got, want := visitAll(t, w, now), "i0 i1 i2 i3 p0 p2 p3 p4 p5 p6"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if n := w.Counts(); n.Urgent != 0 || n.Weight != 0 {
		t.Errorf("at the end: %+v", n)
	}
}

// An urgent item does not make its site or its address due: the delay holds for it as for any other.
func TestW3_urgentItemsKeepTheDelay(t *testing.T) {
	now := time.Now()
	w, vs := newUrgentBench(t, now)
	w.Push(vs, plainItem("p1"))
	v := w.Acquire(now, nil, 1)[0]
	due := now.Add(4 * time.Second)
	w.Release(&v, Release{SiteDue: due, IPDue: now.Add(time.Second)}, now)
	w.Push(vs, urgentItem("i1"))
	if next, ok := w.DueTimes().Next(); !ok || !next.Equal(due) {
		t.Errorf("due at %v, want %v", next, due)
	}
	if got := visitAll(t, w, due.Add(-time.Millisecond)); got != "" {
		t.Errorf("%s was visited early", got)
	}
	if got := visitAll(t, w, due); got != "i1" {
		t.Errorf("%s was visited, want i1", got)
	}
}

// A site with urgent items on disk is refilled when few urgent items are in memory, however many others are.
func TestRefill_ofUrgentItemsDoesNotWaitForTheOthers(t *testing.T) {
	now := time.Now()
	w, vs := newUrgentBench(t, now)
	for range 20 {
		w.Push(vs, plainItem("p"))
	}
	if w.Site(vs).SetOnDisk(5, 0); len(w.Memory().Refill(nil, 1)) != 0 {
		t.Error("refilled though there are items")
	}
	w.Site(vs).SetOnDisk(6, 1)
	if got := w.Memory().Refill(nil, 1); len(got) != 1 || got[0] != vs {
		t.Errorf("%d sites are refilled, want the one with urgent items on disk", len(got))
	}
}

// A site that is released with Hold waits until it has urgent items.
func TestHold_endsWithAnUrgentItem(t *testing.T) {
	now := time.Now()
	w, vs := newUrgentBench(t, now)
	hold := func() {
		t.Helper()
		v := w.Acquire(now, nil, 1)[0]
		w.Release(&v, Release{Unused: v.Items, Hold: true}, now)
		if err := w.Check(); err != nil {
			t.Fatal(err)
		}
	}
	w.Push(vs, plainItem("p1"))
	if hold(); visitAll(t, w, now) != "" {
		t.Error("a held site was visited")
	}
	if w.Push(vs, plainItem("p2")); visitAll(t, w, now) != "" {
		t.Error("an item that is not urgent ended the hold")
	}
	w.Push(vs, urgentItem("i1"))
	if hold(); visitAll(t, w, now) != "i1 p1 p2" {
		t.Error("a site with an urgent item was held")
	}
	w.Push(vs, plainItem("p3"))
	hold()
	if w.DueTimes().EndHolds(); visitAll(t, w, now) != "p3" {
		t.Error("a site is still held after the end of all holds")
	}
	w.Push(vs, plainItem("p4"))
	hold()
	w.Site(vs).SetOnDisk(1, 1)
	if got := w.Memory().Refill(nil, 1); len(got) != 1 {
		t.Error("a site with urgent items on disk was held")
	}
}

// PushWithin refuses what has no room, by class, by what is on disk, and by the memory that is left.
func TestPushWithin(t *testing.T) {
	w, vs := newUrgentBench(t, time.Now())
	push := func(item []byte, wantRoom, wantPushed bool) {
		t.Helper()
		if hasRoom, pushed := w.PushWithin(vs, item, 2, 1); hasRoom != wantRoom || pushed != wantPushed {
			t.Errorf("room %v, pushed %v", hasRoom, pushed)
		}
	}
	push(plainItem("p1"), true, true)
	push(plainItem("p2"), true, true)
	push(plainItem("p3"), false, false)
	push(urgentItem("i1"), true, true)
	w.Memory().SetMax(1)
	push(urgentItem("i2"), false, false)
	w.Memory().SetMax(1 << 20)
	w.Site(vs).SetOnDisk(1, 0)
	push(urgentItem("i2"), true, true)
	w.Kill(vs, nil)
	push(plainItem("p4"), false, false) // on disk are older ones
	w.Site(vs).SetOnDisk(0, 0)
	push(plainItem("p5"), true, false)
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

// GetAll finds what Get finds.
func TestGetAll(t *testing.T) {
	w, a := newUrgentBench(t, time.Now())
	w.Push(a, plainItem("p1"))
	b, _ := w.GetOrAdd(nil)
	keys := [][]byte{[]byte("http://a.test"), []byte("http://b.test"), nil, []byte("http://a.test")}
	got := w.GetAll(keys, []*VisitState[int]{b})
	if want := []*VisitState[int]{b, a, nil, b, a}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if n := len(w.GetAll(make([][]byte, 2*getGroup), nil)); n != getGroup {
		t.Errorf("%d sites at once", n)
	}
}
