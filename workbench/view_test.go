package workbench

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// An operator sees each site once, in slices, with its queue and both due times.
func TestViewsShowEverySiteInSlices(t *testing.T) {
	w := New[int](Options{PathsPerVisit: 1})
	for n := range 1000 {
		vs := placed(w, fmt.Sprintf("host%d", n), ip(n/2), "/1", "/2")
		w.Site(vs).SetOnDisk(uint64(n), 0)
	}
	w.GetOrAdd([]byte("http://newborn"))
	w.Site(w.Get([]byte("http://host7"))).Postpone(start.Add(time.Minute), start.Add(time.Hour))
	v := w.Acquire(start, nil, 1)
	seen, slices := map[string]View[int]{}, 0
	var views []View[int]
	var keys []byte
	for from := uint64(1); from != 0; slices++ {
		views, keys, from = w.Listing().Views(from, views[:0], keys[:0])
		if len(views) > viewsMost {
			t.Fatalf("%d sites under one lock", len(views))
		}
		for _, one := range views {
			seen[string(one.Key)] = one
		}
	}
	if len(seen) != 1001 || slices != 8 {
		t.Errorf("%d sites in %d slices", len(seen), slices)
	}
	leased := seen[string(v[0].Key)]
	if leased.State != Leased || leased.InVisit != 1 || leased.Queued != 1 || leased.IP.Leased != leased.ID {
		t.Errorf("the leased site: %+v", leased)
	}
	late := seen["http://host7"]
	if !late.Due.Equal(start.Add(time.Minute)) || !late.IP.Due.Equal(start.Add(time.Hour)) || late.IP.Sites != 2 ||
		late.IP.Addr != ip(3) || late.OnDisk != 7 {
		t.Errorf("host7: %+v", late)
	}
	if one := seen["http://newborn"]; one.State != Unresolved || one.IP.Addr.IsValid() {
		t.Errorf("the newborn: %+v", one)
	}
}

// Items shows the next items of a site and takes none of them.
func TestItemsTakesNothing(t *testing.T) {
	w := New[int](Options{PathsPerVisit: 2})
	vs := placed(w, "a", ip(1), "/1", "/2", "/3", "/4", "/5")
	w.Acquire(start, nil, 1)
	w.Push(vs, []byte("/6"))
	look := func(most int) (got []string) {
		w.Site(vs).Items(most, func(item []byte, inVisit bool) { got = append(got, fmt.Sprint(string(item), inVisit)) })
		return got
	}
	for range 2 {
		want := []string{"/1true", "/2true", "/3false", "/4false"}
		if got := look(4); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := look(99); len(got) != 6 {
		t.Errorf("%q", got)
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}
