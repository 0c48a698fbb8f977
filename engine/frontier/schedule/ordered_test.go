package schedule

import (
	"testing"
	"time"

	"orbweaver/engine/frontier/order"
	"orbweaver/internal/vfs"
)

// appendReady appends n URLs to the ready queue: before, a number, and after.
func (r *rig) appendReady(t *testing.T, n int, before, after string) {
	t.Helper()
	for i := range n {
		if err := r.Ready.Append(url("http://%s%d%s", before, i, after)); err != nil {
			t.Fatal(err)
		}
	}
}

// A large site is found first. With the order ranked, sites that are found later come before the rest of it; and in the
// end all URLs have come.
func TestPlacer_aLargeSiteWaitsForTheOthers(t *testing.T) {
	r := newRig(t, vfs.NewMem(1), "crawl", 1<<20, -1)
	r.Front = NewFront(r.Workbench, 1, noneWaiting)
	r.Order = order.NewCurrent(order.Options{Visit: order.Visit{Mode: order.ModeRanked}}, 1, nil)
	d := r.distributor()
	r.appendReady(t, 200, "large.test/", "")
	r.appendReady(t, 20, "s", ".test/")
	if n, err := d.placer.sortReady(); n != 220 || err != nil {
		t.Fatalf("%d URLs have a queue of their domain (%v)", n, err)
	}
	var placed []string
	for r.OnDisk.AllOrdered() > 0 {
		item, ok, err := d.placer.nextInOrder(nil)
		if !ok || err != nil {
			t.Fatalf("%t, %v", ok, err)
		}
		placed = append(placed, string(item[3:]))
	}
	if len(placed) != 220 {
		t.Errorf("%d URLs come", len(placed))
	}
	for i, url := range placed[1:21] {
		if url[:len("http://s")] != "http://s" {
			t.Errorf("%s comes as number %d, before a site without visits", url, i+1)
		}
	}
}

// Ordered counts what is in the queues of the order: from the start what an earlier run has left, and then what is
// sorted into them and not yet placed.
func TestDistributor_ordered(t *testing.T) {
	r := newRig(t, vfs.NewMem(1), "crawl", 1<<20, -1)
	r.Front = NewFront(r.Workbench, 1, noneWaiting)
	r.Order = order.NewCurrent(order.Options{Visit: order.Visit{Mode: order.ModeBottomUp}}, 1, nil)
	for _, queue := range []int{3, 3, order.Classes + 3} {
		if err := r.OnDisk.AppendOrdered(queue, url("http://left.test/")); err != nil {
			t.Fatal(err)
		}
	}
	d := r.distributor()
	if n := d.Ordered(); n != 3 {
		t.Errorf("%d URLs at the start, an earlier run has left 3", n)
	}
	r.appendReady(t, 200, "s", ".test/a/")
	sorted := 0
	for range 300 {
		if _, err := d.step(time.Now()); err != nil {
			t.Fatal(err)
		}
		n := d.Ordered()
		if sorted = max(sorted, int(n)); n != r.OnDisk.AllOrdered() {
			t.Fatalf("%d URLs, %d are on disk", n, r.OnDisk.AllOrdered())
		}
		r.Front.nextAdjust, r.Front.nextCount = time.Time{}, time.Time{}
		r.Front.required.Add(1)
	}
	if d.Ordered() != 0 || sorted < 150 {
		t.Errorf("%d URLs at the end, and %d at most", d.Ordered(), sorted)
	}
}

// URLs in queues of an order of an earlier run are placed by any order. The crawl does not end meanwhile.
func TestPlacer_orderedURLsOutliveTheirOrder(t *testing.T) {
	r := newRig(t, vfs.NewMem(1), "crawl", 1<<20, -1)
	r.Front = NewFront(r.Workbench, 1, noneWaiting)
	if err := r.OnDisk.AppendOrdered(order.Classes+3, url("http://a.test/")); err != nil {
		t.Fatal(err)
	}
	d := r.distributor()
	if !d.end.hasReady() {
		t.Error("there is nothing ready")
	}
	if _, err := d.step(time.Now()); err != nil {
		t.Fatal(err)
	}
	if vs := r.Workbench.Get([]byte("http://a.test")); vs == nil || r.OnDisk.AllOrdered() > 0 {
		t.Error("it is not placed")
	}
}

// Another order may come while the crawl runs. What is queued stays where it is and comes first, and what becomes ready
// from then on is queued by the new order. Breadth-first leaves it in the ready queue.
func TestPlacer_anotherOrderHoldsFromNowOn(t *testing.T) {
	r := newRig(t, vfs.NewMem(1), "crawl", 1<<20, -1)
	r.Front = NewFront(r.Workbench, 1, noneWaiting)
	r.Order = order.NewCurrent(order.Options{Visit: order.Visit{Mode: order.ModeRanked}}, 1, nil)
	d := r.distributor()
	p := &d.placer
	sort := func(want int) {
		t.Helper()
		if n, err := p.sortReady(); n != want || err != nil {
			t.Fatalf("%d URLs go to queues of the order, want %d (%v)", n, want, err)
		}
	}
	r.appendReady(t, 3, "first.test/", "")
	sort(3)
	r.Order.Change(order.Visit{Mode: order.ModePerHost})
	r.Order.Change(order.Visit{Mode: order.ModeBottomUp})
	p.ordered.adopt()
	r.appendReady(t, 3, "deep.test/a/b/c/", "")
	sort(3)
	r.Order.Change(order.Visit{})
	p.ordered.adopt()
	r.appendReady(t, 3, "last.test/", "")
	sort(0)
	var came []string
	for p.ordered.total > 0 {
		item, ok, err := p.nextInOrder(nil)
		if !ok || err != nil {
			t.Fatalf("%t, %v", ok, err)
		}
		came = append(came, string(item[3:len(item)-1]))
	}
	if len(came) != 6 || r.OnDisk.AllOrdered() != 0 || r.Ready.Others.Len() != 3 {
		t.Errorf("%d URLs come in an order, %d are ready", len(came), r.Ready.Others.Len())
	}
	r.Order.Change(order.Visit{Mode: order.ModeRanked})
	p.ordered.adopt()
	sort(3)
}

// A full disk loses no URL: what finds no room in its queue is held, and placed later.
func TestPlacer_aFullDiskLosesNoOrderedURL(t *testing.T) {
	disk := vfs.NewMem(1)
	r := newRig(t, disk, "crawl", 1<<20, -1)
	r.Front = NewFront(r.Workbench, 1, noneWaiting)
	r.Order = order.NewCurrent(order.Options{Visit: order.Visit{Mode: order.ModeRanked}}, 1, nil)
	d := r.distributor()
	r.appendReady(t, 5000, "large.test/long/path/that/takes/room/", "")
	disk.SetLimit(disk.Used())
	var err error
	for range 40 {
		if _, err = d.placer.sortReady(); err != nil {
			break
		}
	}
	if err == nil || d.Held() == nil {
		t.Fatalf("the disk is not full (%v)", err)
	}
	if left := r.Ready.Len() + r.OnDisk.AllOrdered(); left != 4999 {
		t.Errorf("%d URLs are queued, and one is held", left)
	}
}

// If an order decides, the front has as many addresses as it must have. It grows slowly while fetch workers find
// nothing due, shrinks in other seconds, and counts sites that wait for a worker.
func TestFront_isSmallForAnOrder(t *testing.T) {
	r := newRig(t, vfs.NewMem(1), "crawl", 1<<20, -1)
	waiting := 0
	f := NewFront(r.Workbench, 8, func() int { return waiting })
	f.ordered.Store(1)
	now := time.Now()
	if room := f.room(now); room != 16 {
		t.Errorf("there is room for %d URLs", room)
	}
	for range 3 {
		for range 100 {
			f.noteNothingDue(true)
		}
		now = now.Add(frontAdjust)
		f.room(now)
	}
	if f.Required() != 16+3*2 {
		t.Errorf("%d addresses are required after three seconds", f.Required())
	}
	if waiting = 22; f.room(now) != 0 {
		t.Error("sites that wait for a worker are not counted")
	}
	if now = now.Add(frontAdjust); f.room(now) != 0 || f.Required() != 21 {
		t.Errorf("%d addresses are required when the workers have all they need", f.Required())
	}
}
