package schedule

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/visit"
	"orbweaver/internal/vfs"
)

// newSpillRig makes a full workbench with a site that has nine items, due after wait.
func newSpillRig(t *testing.T, disk vfs.FS, wait time.Duration) (*rig, *visit.State, time.Time) {
	t.Helper()
	r, now := newRig(t, disk, "crawl", 1, -1), time.Now()
	vs, _ := r.Workbench.GetOrAdd([]byte("http://a.test"))
	r.Workbench.Place(vs, netip.AddrFrom4([4]byte{240, 0, 0, 1}), now)
	for i := range 9 {
		r.Workbench.Push(vs, path("/%d%s", i, long))
	}
	r.Workbench.Site(vs).Postpone(now.Add(wait), time.Time{})
	if !r.Workbench.Memory().Full() {
		t.Fatal("the workbench is not full: the test shows nothing")
	}
	return r, vs, now
}

// paths visits the site until nothing is left of it in memory or on disk, and returns its paths in order.
func paths(t *testing.T, d *Distributor, vs *visit.State, now time.Time) (got []string) {
	t.Helper()
	for {
		for _, path := range visitAll(d, now) {
			got = append(got, strings.TrimSuffix(path, long))
		}
		if lenOnDisk(d.OnDisk, vs) == 0 {
			return got
		}
		if _, err := d.delayer.takeItems(vs, 1); err != nil {
			t.Fatal(err)
		}
	}
}

// A site that is not due for long gives its memory back, and its items keep their order, also with items that come
// later.
func TestSpiller_keepsTheOrder(t *testing.T) {
	r, vs, now := newSpillRig(t, vfs.NewMem(1), time.Hour)
	d := r.distributor()
	if err := d.emptier.spill(now); err != nil || d.Spilled() == 0 || lenOnDisk(r.OnDisk, vs) != uint64(d.Spilled()) ||
		r.Workbench.Site(vs).OnDisk() != lenOnDisk(r.OnDisk, vs) {
		t.Fatalf("%d items were spilled, %d are on disk: %v", d.Spilled(), lenOnDisk(r.OnDisk, vs), err)
	}
	if _, err := d.placer.place(queued.Append(nil, &queued.URL{Rest: []byte("http://a.test/9")}), false); err != nil {
		t.Fatal(err)
	}
	if got := paths(t, d, vs, now.Add(time.Hour)); fmt.Sprint(got) != "[/0 /1 /2 /3 /4 /5 /6 /7 /8 /9]" {
		t.Errorf("visited %v", got)
	}
}

// While the workbench has room no site gives memory back.
func TestSpiller_waitsUntilTheWorkbenchIsFull(t *testing.T) {
	r, vs, now := newSpillRig(t, vfs.NewMem(1), time.Hour)
	roomy := newRig(t, vfs.NewMem(1), "crawl", 1<<30, -1)
	form, ends, _ := r.Workbench.Memory().Drain(vs, nil, nil)
	vs, _ = roomy.Workbench.GetOrAdd([]byte("http://a.test"))
	roomy.Workbench.Place(vs, netip.AddrFrom4([4]byte{240, 0, 0, 1}), now)
	items := itemList{form, ends}
	items.each(func(item []byte) bool { return roomy.Workbench.Push(vs, item) })
	roomy.Workbench.Site(vs).Postpone(now.Add(time.Hour), time.Time{})
	if d := roomy.distributor(); d.emptier.spill(now) != nil || d.Spilled() > 0 || roomy.Workbench.Site(vs).Queued() != 9 {
		t.Errorf("%d items were spilled, %d are in memory", d.Spilled(), roomy.Workbench.Site(vs).Queued())
	}
}

// A site that is due soon keeps its memory.
func TestSpiller_leavesSitesThatAreDue(t *testing.T) {
	r, _, now := newSpillRig(t, vfs.NewMem(1), spillDue/2)
	if d := r.distributor(); d.emptier.spill(now) != nil || d.Spilled() > 0 {
		t.Errorf("%d items of a site that is due soon were spilled", d.Spilled())
	}
}

// A site with a redirect of a robots.txt keeps its memory: another site waits for it.
func TestSpiller_leavesRobotsRedirects(t *testing.T) {
	r, vs, now := newSpillRig(t, vfs.NewMem(1), time.Hour)
	d := r.distributor()
	r.Workbench.Push(vs, queued.Append(nil, &queued.URL{RobotsOf: []byte("http://b.test"), Rest: []byte("/robots.txt")}))
	if err := d.emptier.spill(now); err != nil || d.Spilled() > 0 || lenOnDisk(r.OnDisk, vs) > 0 {
		t.Errorf("%d items were spilled: %v", d.Spilled(), err)
	}
	if n := r.Workbench.Site(vs).Queued(); n != 10 {
		t.Errorf("%d items are in memory, want 10", n)
	}
}

// On a full disk nothing is spilled, and nothing is lost.
func TestSpiller_losesNothingOnAFullDisk(t *testing.T) {
	disk := vfs.NewMem(1)
	r, vs, now := newSpillRig(t, disk, time.Hour)
	d := r.distributor()
	disk.SetLimit(disk.Used())
	if err := d.emptier.spill(now); !vfs.IsFull(err) || d.Spilled() > 0 {
		t.Fatalf("%d items were spilled: %v", d.Spilled(), err)
	}
	if got := paths(t, d, vs, now.Add(time.Hour)); fmt.Sprint(got) != "[/0 /1 /2 /3 /4 /5 /6 /7 /8]" {
		t.Errorf("visited %v", got)
	}
	disk.SetLimit(1 << 40)
}
