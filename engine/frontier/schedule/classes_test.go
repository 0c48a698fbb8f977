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
	r.Front = NewFront(r.Workbench, 1)
	r.Order = order.New(order.Options{Visit: order.ModeRanked}, 1, nil)
	d := r.distributor()
	r.appendReady(t, 200, "large.test/", "")
	r.appendReady(t, 20, "s", ".test/")
	if n, err := d.placer.classify(); n != 220 || err != nil {
		t.Fatalf("%d URLs got a class (%v)", n, err)
	}
	var placed []string
	for r.OnDisk.Classed() > 0 {
		item, ok, err := d.placer.nextOfClasses(nil)
		if !ok || err != nil {
			t.Fatalf("%t, %v", ok, err)
		}
		placed = append(placed, string(item[3:]))
	}
	if len(placed) != 220 {
		t.Errorf("%d URLs come", len(placed))
	}
	for _, url := range placed[1:20] {
		if url[:len("http://s")] != "http://s" {
			t.Errorf("%s comes before a site without visits", url)
		}
	}
}

// URLs that got a class in an earlier run are placed by any order, and are no end of the crawl meanwhile.
func TestPlacer_urlsOfClassesOutliveTheirOrder(t *testing.T) {
	r := newRig(t, vfs.NewMem(1), "crawl", 1<<20, -1)
	r.Front = NewFront(r.Workbench, 1)
	if err := r.OnDisk.AppendOfClass(3, url("http://a.test/")); err != nil {
		t.Fatal(err)
	}
	d := r.distributor()
	if !d.end.hasReady() {
		t.Error("there is nothing ready")
	}
	if _, err := d.step(time.Now()); err != nil {
		t.Fatal(err)
	}
	if vs := r.Workbench.Get([]byte("http://a.test")); vs == nil || r.OnDisk.Classed() > 0 {
		t.Error("it is not placed")
	}
}

// A full disk loses no URL: what finds no room in its class is held, and placed later.
func TestPlacer_aFullDiskLosesNoURLOfAClass(t *testing.T) {
	disk := vfs.NewMem(1)
	r := newRig(t, disk, "crawl", 1<<20, -1)
	r.Front = NewFront(r.Workbench, 1)
	r.Order = order.New(order.Options{Visit: order.ModeRanked}, 1, nil)
	d := r.distributor()
	r.appendReady(t, 5000, "large.test/long/path/that/takes/room/", "")
	disk.SetLimit(disk.Used())
	var err error
	for range 40 {
		if _, err = d.placer.classify(); err != nil {
			break
		}
	}
	if err == nil || d.Held() == nil {
		t.Fatalf("the disk is not full (%v)", err)
	}
	left := r.Ready.Len()
	for class := range order.Classes {
		left += r.OnDisk.OfClass(class)
	}
	if left != 4999 {
		t.Errorf("%d URLs are queued, and one is held", left)
	}
}

// Fetch workers that find nothing due make the front grow also while all ready URLs wait in their classes.
func TestFront_growsForURLsOfClasses(t *testing.T) {
	r := newRig(t, vfs.NewMem(1), "crawl", 1<<20, -1)
	r.Front = NewFront(r.Workbench, 0) // it is never small, so that the URL stays
	if err := r.OnDisk.AppendOfClass(3, url("http://a.test/")); err != nil {
		t.Fatal(err)
	}
	d := r.distributor()
	r.Front.fetchers = 8
	if _, err := d.step(time.Now()); err != nil {
		t.Fatal(err)
	}
	before := r.Front.Required()
	if r.Front.noteNothingDue(r.Ready.Len() > 0); r.Front.Required() <= before {
		t.Errorf("%d addresses are required, before it was %d", r.Front.Required(), before)
	}
}
