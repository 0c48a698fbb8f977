package workbench

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/invariants"
)

// Random operations on a workbench and its model; everything is compared after every few steps. Tests all promises
// together.
func TestAgainstModel(t *testing.T) {
	steps := 100_000
	if testing.Short() || invariants.Race {
		steps = 10_000
	}
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed", seed), func(t *testing.T) {
			t.Parallel()
			d := newDriver(t, seed)
			for step := range steps {
				d.step()
				if step%17 == 0 {
					if err := d.m.compare(d.w); err != nil {
						t.Fatalf("step %d: %v", step, err)
					}
				}
			}
		})
	}
}

type driver struct {
	t     *testing.T
	rng   *rand.Rand
	w     *Workbench[int]
	m     *model
	now   time.Time
	items int

	cut    *Snapshot[int]
	saved  *model   // expected content of the open snapshot
	images [][]byte // a full snapshot and the incremental ones after it; nil if the next must be full
}

func newDriver(t *testing.T, seed uint64) *driver {
	rng := rand.New(rand.NewPCG(seed, 7))
	k := 1 + rng.IntN(5)
	return &driver{t: t, rng: rng, w: New[int](Options{PathsPerVisit: k}), m: newModel(k), now: time.Unix(1e9, 0)}
}

func (d *driver) step() {
	d.now = d.now.Add(time.Duration(d.rng.IntN(300)) * time.Millisecond)
	steps := []struct {
		weight int
		do     func()
	}{
		{12, d.add}, {120, d.push}, {40, d.place}, {10, d.deferOne}, {10, d.dueDeferred}, {4, d.kill}, {8, d.revive},
		{
			100,
			d.acquire,
		}, {120, d.release}, {25, d.unpark}, {20, d.withSite}, {20, d.setOnDisk},
		{20, d.refill}, {20, d.unload}, {6, d.drain}, {10, d.postpone}, {6, d.snapshot},
		{12, d.evict},
	}
	total := 0
	for _, s := range steps {
		total += s.weight
	}
	n := d.rng.IntN(total)
	for _, s := range steps {
		if n -= s.weight; n < 0 {
			s.do()
			return
		}
	}
}

// unload removes items of sites that are not due soon from memory. Often it pushes them again, as if read from disk.
func (d *driver) unload() {
	limit := d.now.Add(time.Duration(d.rng.IntN(2000)) * time.Millisecond)
	for _, vs := range d.w.Memory().UnloadCandidates(limit, nil, 1+d.rng.IntN(3)) {
		s := d.m.byID(vs.ID())
		if s.state() != Waiting || len(s.queue) <= minItemsInMemory || later(s.due, d.m.ip(s.addr).due).Before(limit) {
			d.t.Fatalf("site %d is not distant: %v, %d items", s.id, s.state(), len(s.queue))
		}
		buf, ends := d.w.Memory().Unload(vs, []byte("before"), []int{6})
		for i, item := range s.queue[minItemsInMemory:] {
			if got := string(buf[ends[i]:ends[i+1]]); got != item {
				d.t.Fatalf("site %d gave %q, should give %q", s.id, got, item)
			}
		}
		if len(ends) != 1+len(s.queue)-minItemsInMemory {
			d.t.Fatalf("site %d gave %d items of %d", s.id, len(ends)-1, len(s.queue))
		}
		s.queue = s.queue[:minItemsInMemory]
		if _, again := d.w.Memory().Unload(vs, nil, nil); len(again) != 0 {
			d.t.Fatal("more was to be had from a site that has two items")
		}
	}
}

// drain removes all items of a site from memory.
func (d *driver) drain() {
	s := d.m.pick(d.rng, anySite)
	if s == nil {
		return
	}
	buf, ends, ok := d.w.Memory().Drain(d.vs(s), nil, nil)
	if ok != (s.visit == nil) || ok && len(ends) != len(s.queue) || !ok && len(ends) > 0 {
		d.t.Fatalf("site %d, %v: %v, %d items of %d", s.id, s.state(), ok, len(ends), len(s.queue))
	}
	from := 0
	for i, end := range ends {
		if got := string(buf[from:end]); got != s.queue[i] {
			d.t.Fatalf("site %d gave %q, should give %q", s.id, got, s.queue[i])
		}
		from = end
	}
	if ok {
		s.queue = nil
	}
}

func anySite(*mSite) bool { return true }

func (d *driver) vs(s *mSite) *VisitState[int] { return d.w.contents.sites.handles.at(uint32(s.id)) }

func (d *driver) chance(percent int) bool { return d.rng.IntN(100) < percent }

func (d *driver) newItem() string {
	d.items++
	n := d.rng.IntN(20)
	if d.chance(2) {
		n = d.rng.IntN(600)
	}
	return fmt.Sprint("/", d.items, strings.Repeat("x", n))
}

func (d *driver) addr() netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(d.rng.IntN(12))}) }

func (d *driver) add() {
	key := fmt.Appendf(nil, "http://host-%d", d.rng.IntN(40))
	if c, evicted := d.m.cold[string(key)]; evicted {
		d.admit(key, c)
		return
	}
	known := d.w.Get(key)
	vs, added := d.w.GetOrAdd(key)
	if added != (known == nil) || !bytes.Equal(d.w.Site(vs).AppendKey(nil), key) || (known != nil && known != vs) {
		d.t.Fatal("GetOrAdd", string(key), added, known)
	}
	if (d.m.byKey(string(key)) == nil) != added {
		d.t.Fatal("GetOrAdd", string(key), added)
	}
	if added {
		d.m.enter(&mSite{id: int(vs.ID()), key: string(key)})
		if vs.ID() > 40 {
			d.t.Fatal("id", vs.ID())
		}
	}
}

func (d *driver) push() {
	s := d.m.pick(d.rng, anySite)
	if s == nil {
		return
	}
	item, front := d.newItem(), d.chance(15)
	push := d.w.Push
	if front {
		push = d.w.PushFront
	}
	takes := s.at != dead && (s.visit == nil || !s.visit.kill)
	if ok := push(d.vs(s), []byte(item)); ok != takes {
		d.t.Fatalf("site %d, %v: pushed %v", s.id, s.state(), ok)
	}
	if !takes {
		return
	}
	s.given = false
	if !front {
		s.queue = append(s.queue, item)
		return
	}
	s.queue = slices.Insert(s.queue, 0, item)
	if s.visit != nil {
		s.visit.fronts++
	}
}

func (d *driver) place() {
	s := d.m.pick(d.rng, func(s *mSite) bool { return s.at != addressed || d.chance(10) })
	if s == nil {
		return
	}
	addr := d.addr()
	d.w.Place(d.vs(s), addr, d.now)
	d.m.sweep(d.now)
	switch {
	case s.visit != nil:
		s.visit.moveTo = addr
	case s.at != dead && s.addr != addr:
		d.m.ip(addr)
		s.at, s.addr, s.given = addressed, addr, false
	}
}

func (d *driver) deferOne() {
	s := d.m.pick(d.rng, anySite)
	if s == nil {
		return
	}
	until := d.now.Add(time.Duration(d.rng.IntN(5000)) * time.Millisecond)
	d.w.Defer(d.vs(s), until)
	if s.visit == nil && s.at != dead {
		s.at, s.addr, s.until = deferred, netip.Addr{}, until
	}
}

func (d *driver) dueDeferred() {
	var want []*mSite
	for _, s := range d.m.sites {
		if s.state() == Deferred && !s.until.After(d.now) {
			want = append(want, s)
		}
	}
	slices.SortStableFunc(want, func(a, b *mSite) int { return a.until.Compare(b.until) })
	got := d.w.DueDeferred(d.now, nil)
	if len(got) != len(want) {
		d.t.Fatalf("%d deferred sites are due, should be %d", len(got), len(want))
	}
	for i, s := range want {
		if got[i] != d.vs(s) {
			d.t.Fatal("deferred sites in wrong order")
		}
		s.at = unplaced
	}
}

// dropper collects the dropped items of a killed site.
func dropper(into *[]string) func([]byte) {
	return func(item []byte) { *into = append(*into, string(item)) }
}

func (d *driver) kill() {
	s := d.m.pick(d.rng, anySite)
	if s == nil {
		return
	}
	if s.visit != nil {
		if n := d.w.Kill(d.vs(s), nil); n != 0 {
			d.t.Fatal("a leased site lost items", n)
		}
		s.visit.kill = true
		return
	}
	var got []string
	n := d.w.Kill(d.vs(s), dropper(&got))
	if want := s.bury(); n != len(want) || !slices.Equal(got, want) {
		d.t.Fatalf("killed: %d items %v, should be %v", n, got, want)
	}
}

func (d *driver) revive() {
	s := d.m.pick(d.rng, func(s *mSite) bool { return s.at == dead || d.chance(10) })
	if s == nil {
		return
	}
	d.w.Revive(d.vs(s))
	if s.at == dead {
		s.at, s.laid = unplaced, false
	} else if s.visit != nil {
		s.visit.kill = false
	}
}

func (d *driver) acquire() {
	n := d.rng.IntN(4)
	d.m.sweep(d.now)
	visits := d.w.Acquire(d.now, nil, n)
	for _, v := range visits {
		s, due := d.m.next()
		if s == nil || due.After(d.now) {
			d.t.Fatalf("W3: a Visit to site %d that is not due", v.VS.ID())
		}
		if v.VS != d.vs(s) || v.Addr != s.addr || !v.SiteDue.Equal(s.due) || !v.IPDue.Equal(d.m.ip(s.addr).due) ||
			v.Acquired != d.now {
			d.t.Fatalf("Visit %+v, should be to site %d %+v", v, s.id, s)
		}
		d.m.lend(s, v)
		if more := uint64(len(s.queue)) + s.onDisk; v.More != more {
			d.t.Fatalf("site %d has %d more items, want %d", s.id, v.More, more)
		}
		for i, item := range s.visit.items {
			if i >= len(v.Items) || string(v.Items[i]) != item {
				d.t.Fatalf("W4: items are %q, should be %q", v.Items, s.visit.items)
			}
			if cap(v.Items[i]) != len(v.Items[i]) {
				d.t.Fatal("who appends to an item would write over the next one")
			}
		}
	}
	if s, due := d.m.next(); len(visits) < n && s != nil && !due.After(d.now) {
		d.t.Fatalf("site %d was due and did not come out", s.id)
	}
}

func (d *driver) release() {
	s := d.m.pick(d.rng, func(s *mSite) bool { return s.visit != nil })
	if s == nil {
		return
	}
	v := s.visit
	for i, item := range v.items {
		if string(v.real.Items[i]) != item {
			d.t.Fatalf("an item changed while it was out: %q, was %q", v.real.Items[i], item)
		}
	}
	used := d.rng.IntN(len(v.items) + 1)
	r := Release{Unused: v.real.Items[used:], Kill: d.chance(3), Park: d.chance(10), Unresolved: d.chance(5)}
	if d.chance(80) {
		r.SiteDue = d.now.Add(time.Duration(d.rng.IntN(4000)) * time.Millisecond)
		r.IPDue = d.now.Add(time.Duration(d.rng.IntN(1000)) * time.Millisecond)
	}
	if d.chance(5) {
		r.Replace = d.addr()
	}
	var front, got []string
	for range d.rng.IntN(3) {
		front = append(front, d.newItem())
		r.Front = append(r.Front, []byte(front[len(front)-1]))
	}
	r.Drop = dropper(&got)
	v.real.Site++ // the holder may change it
	s.site++
	result := d.w.Release(&v.real, r, d.now)
	unused := v.items[used:]
	want := d.m.release(s, r, unused, front)
	if v.kill {
		got = want // the callback of Kill counted it
	}
	if result != (ReleaseResult{Dropped: len(want), Dry: len(s.queue) == 0}) || !slices.Equal(got, want) {
		d.t.Fatalf("Release: %+v %q, should have dropped %q and left %d", result, got, want, len(s.queue))
	}
}

func (d *driver) unpark() {
	s := d.m.pick(d.rng, func(s *mSite) bool { return s.parked || d.chance(10) })
	if s == nil {
		return
	}
	d.w.Unpark(d.vs(s), func(n *int) { *n++ })
	if s.visit != nil {
		s.visit.unparked = true
		s.visit.updates++
		return
	}
	s.parked = false
	s.site++
}

func (d *driver) withSite() {
	s := d.m.pick(d.rng, anySite)
	if s == nil {
		return
	}
	if ok := d.w.Site(d.vs(s)).Update(func(n *int) { *n += 3 }); ok != (s.visit == nil) {
		d.t.Fatal("Update", ok, s.state())
	} else if ok {
		s.site += 3
	}
}

func (d *driver) setOnDisk() {
	if s := d.m.pick(d.rng, anySite); s != nil {
		s.onDisk, s.given = uint64(d.rng.IntN(3)), false
		d.w.Site(d.vs(s)).SetOnDisk(s.onDisk, 0)
		s.laid = s.laid || s.at == dead && s.onDisk == 0
	}
}

func (d *driver) refill() {
	n := d.rng.IntN(6)
	got := d.w.Memory().Refill(nil, n)
	for _, vs := range got {
		s := d.m.byID(vs.ID())
		if !s.wantsRefill() {
			d.t.Fatalf("Refill gave site %d: %+v", s.id, s)
		}
		s.given = true
	}
	if left := d.m.pick(d.rng, (*mSite).wantsRefill); len(got) < n && left != nil {
		d.t.Fatalf("Refill forgot site %d: %+v", left.id, left)
	}
}

func (d *driver) postpone() {
	s := d.m.pick(d.rng, anySite)
	if s == nil {
		return
	}
	var site, ip time.Time
	if d.chance(70) {
		site = d.now.Add(time.Duration(d.rng.IntN(3000)-500) * time.Millisecond)
	}
	if d.chance(70) {
		ip = d.now.Add(time.Duration(d.rng.IntN(1000)-500) * time.Millisecond)
	}
	d.w.Site(d.vs(s)).Postpone(site, ip)
	if !site.IsZero() && !site.After(s.due) {
		site = s.due.Add(1) // for DueTimes.Hasten
	}
	s.due = later(s.due, site)
	if s.at == addressed {
		d.m.ip(s.addr).due = later(d.m.ip(s.addr).due, ip)
	}
}

func appendInt(dst []byte, n *int) []byte { return binary.AppendVarint(dst, int64(*n)) }

func readInt(b []byte) (int, error) {
	n, used := binary.Varint(b)
	if used != len(b) {
		return 0, fmt.Errorf("%d bytes for an int", len(b))
	}
	return int(n), nil
}

// snapshot takes a snapshot. After further steps it writes it, full or incremental, and loads the chain, which must
// equal the workbench at the snapshot. Sometimes the test continues with the loaded workbench, and sometimes writing
// fails.
func (d *driver) snapshot() {
	if d.cut == nil {
		cut, err := d.w.Snapshot(appendInt)
		if err != nil {
			d.t.Fatal(err)
		}
		d.cut, d.saved = cut, d.m.restored()
		if cut.Whole() != (d.images == nil) {
			d.t.Fatalf("the cut must be whole: %v, and %d images were written", cut.Whole(), len(d.images))
		}
		if _, err := d.w.Snapshot(appendInt); err != ErrSnapshotOpen {
			d.t.Fatal("a second cut:", err)
		}
		return
	}
	cut := d.cut
	d.cut = nil
	write := cut.WriteChanges
	if cut.Whole() || d.chance(10) {
		write, d.images = cut.Write, nil
	}
	switch {
	case d.chance(10):
		cut.Abandon()
		d.images = nil
		return
	case d.chance(10):
		if err := write(&shortWriter{room: d.rng.IntN(3)}); err == nil {
			d.t.Fatal("a writer without room took an image")
		}
		d.images = nil
		return
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		d.t.Fatal(err)
	}
	d.images = append(d.images, b.Bytes())
	w, err := Load(d.w.opts, readInt, readers(d.images)...)
	if err != nil {
		d.t.Fatal(err)
	}
	if err := d.saved.compare(w); err != nil {
		d.t.Fatalf("after Load of %d images: %v", len(d.images), err)
	}
	d.loadSites(w)
	if d.chance(50) {
		d.w, d.m = w, d.saved
	}
}

func readers(images [][]byte) (all []io.Reader) {
	for _, b := range images {
		all = append(all, bytes.NewReader(b))
	}
	return all
}
