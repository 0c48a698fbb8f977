package workbench

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"
)

// evict evicts idle sites from the workbench and from the model.
func (d *driver) evict() {
	var out Evicted
	d.w.Memory().Evict(d.now, 1+d.rng.IntN(5), appendInt, &out)
	for i := range out.Len() {
		key, form := out.At(i)
		s := d.m.byKey(string(key))
		if s == nil || (s.state() != Idle && (s.state() != Dead || !s.laid)) || s.onDisk > 0 || s.due.After(d.now) {
			d.t.Fatalf("%s was evicted: %+v", key, s)
		}
		if d.w.Get(key) != nil {
			d.t.Fatalf("%s was evicted and is still known", key)
		}
		d.m.cold[s.key] = mCold{*s, string(form)}
		d.m.sites = slices.DeleteFunc(d.m.sites, func(x *mSite) bool { return x == s })
	}
}

// admit restores a site.
func (d *driver) admit(key []byte, c mCold) {
	vs, err := d.w.Memory().Admit(key, []byte(c.form), readInt, d.now)
	if err != nil {
		d.t.Fatal(err)
	}
	s := c.site
	s.id = int(vs.ID())
	if !s.due.IsZero() {
		s.due = d.now
	}
	if s.at == addressed {
		d.m.ip(s.addr)
	}
	delete(d.m.cold, s.key)
	d.m.enter(&s)
}

// If memory is short, idle sites are evicted, and the others stay. The sites that were unused for the longest time are
// evicted first.
func TestEvict_removesLongestUnusedSites(t *testing.T) {
	w := New[int](Options{MemoryMax: 100 * siteMemory})
	key := func(n int) []byte { return fmt.Appendf(nil, "http://%d", n) }
	for n := range 200 {
		vs, _ := w.GetOrAdd(key(n))
		w.Site(vs).Update(func(s *int) { *s = n })
		switch n % 10 {
		case 0: // unresolved
		case 1:
			w.Defer(vs, start.Add(time.Hour))
		case 2:
			w.Place(vs, ip(n), start)
			w.Push(vs, []byte("/waits"))
		case 3:
			w.Place(vs, ip(n), start)
			w.Site(vs).Postpone(start.Add(time.Hour), time.Time{})
		case 4:
			w.Place(vs, ip(n), start)
			w.Site(vs).SetOnDisk(1, 0)
		case 5:
			w.Kill(vs, nil)
		case 6:
			w.Kill(vs, nil)
			w.Site(vs).SetOnDisk(0, 0)
		default:
			w.Place(vs, ip(n%7), start)
			w.Site(vs).Postpone(start.Add(-time.Second), start.Add(time.Minute))
		}
	}
	if !w.Memory().Short() {
		t.Error("200 sites where 100 have room")
	}
	var out Evicted
	left := map[string]string{}
	round := func() {
		for range 40 {
			w.Get(key(7)) // counts as a use
			w.Memory().Evict(start, 7, appendInt, &out)
			for i := range out.Len() {
				key, form := out.At(i)
				left[string(key)] = string(form)
			}
		}
	}
	w.Memory().Evict(start, 1000, appendInt, &out)
	if out.Len() != 0 {
		t.Errorf("%d left at first sight", out.Len())
	}
	round()
	check(t, w)
	for n := range 200 {
		_, gone := left[string(key(n))]
		if want := n%10 > 5 && n != 7; gone != want || (w.Get(key(n)) == nil) != want {
			t.Errorf("site %d left: %v", n, gone)
		}
	}
	for key, form := range left {
		vs, err := w.Memory().Admit([]byte(key), []byte(form), readInt, start)
		if err != nil {
			t.Fatal(err)
		}
		s := w.contents.sites.of(vs)
		want := Idle
		if s.data%10 == 6 {
			want = Dead
		}
		if key != fmt.Sprintf("http://%d", s.data) || s.state() != want ||
			(want == Idle && w.Site(vs).Addr() != ip(s.data%7)) {
			t.Errorf("%s came back as %+v", key, s)
		}
	}
	check(t, w)
	if c := w.Counts(); c.Sites != 200 || c.Idle != 20*5 {
		t.Errorf("all are back: %+v", c)
	}
	if id := w.contents.sites.records.last; id != 200 {
		t.Errorf("numbers were not used again: the last is %d", id)
	}
}

// An IP keeps its due time after its last site is evicted. It applies to the next site at this IP.
func TestW3_evictionKeepsTheDueTimeOfTheIP(t *testing.T) {
	w := New[int](Options{})
	vs := placed(w, "a", ip(1))
	w.Site(vs).Postpone(start.Add(time.Second), start.Add(time.Minute))
	now := start.Add(2 * time.Second)
	var out Evicted
	w.Memory().Evict(now, 1, appendInt, &out)
	w.Memory().Evict(now, 1, appendInt, &out)
	if out.Len() != 1 {
		t.Fatal("it did not leave")
	}
	w.Push(placed(w, "b", ip(1)), []byte("/"))
	if v := w.Acquire(now, nil, 1); len(v) > 0 {
		t.Error("the IP is not due")
	}
	key, form := out.At(0)
	back, err := w.Memory().Admit(key, form, readInt, now)
	if err != nil {
		t.Fatal(err)
	}
	w.Push(back, []byte("/"))
	if v := w.Acquire(start.Add(time.Minute), nil, 9); len(v) != 1 {
		t.Errorf("%d Visits to one IP", len(v))
	}
	check(t, w)
}

// No form makes Admit panic. A site that Admit accepts is evicted with the same form.
func FuzzAdmit(f *testing.F) {
	f.Add([]byte{formVersion, byte(addressed), formHasDue, 4, 1, 2, 3, 4, 6})
	f.Add([]byte{formVersion, byte(dead), 0, 8})
	f.Add([]byte{formVersion, byte(addressed), 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 1, 2, 3, 4})
	f.Fuzz(func(t *testing.T, form []byte) {
		w := New[int](Options{})
		err := CheckForm(form, readInt)
		vs, admitted := w.Memory().Admit([]byte("http://a"), form, readInt, start)
		if (err == nil) != (admitted == nil) {
			t.Fatal(err, admitted)
		}
		if err != nil {
			return
		}
		check(t, w)
		if s := w.contents.sites.of(vs); s.placement == addressed && w.Site(vs).Addr() == (netip.Addr{}) {
			t.Fatal("no address")
		}
		var out Evicted
		w.Memory().Evict(start, 1, appendInt, &out)
		w.Memory().Evict(start, 1, appendInt, &out)
		if out.Len() != 1 {
			t.Fatal("it does not leave again")
		}
		_, again := out.At(0)
		if err := CheckForm(again, readInt); err != nil {
			t.Fatal(err)
		}
	})
}
