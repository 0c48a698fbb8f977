package schedule

import (
	"fmt"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/queued"
	"orbweaver/engine/site"
	"orbweaver/engine/sites"
	"orbweaver/engine/traps"
	"orbweaver/engine/visit"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize"
	"orbweaver/virtualize/diskq"
	"orbweaver/workbench"
)

// newDelaysRig makes a distributor that has one site with an address.
func newDelaysRig(t *testing.T, pending *int) (d *Distributor, vs *visit.State, now time.Time) {
	t.Helper()
	disk := vfs.NewMem(1)
	virt, err := virtualize.Open(disk, virtualize.Options{Dir: "queues", SegmentBytes: 1 << 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ready, err := diskq.Open(disk, diskq.Options{Dir: "ready"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := virt.Close(); err != nil {
			t.Error(err)
		}
		if err := ready.Close(); err != nil {
			t.Error(err)
		}
	})
	d = &Distributor{
		Cluster: cluster.Alone{},
		Workbench: workbench.New[site.State](
			workbench.Options{MemoryMax: 1 << 20},
		), Queues: sites.NewDiskQueues(virt), Ready: ready, FrontWanted: new(atomic.Int64),
		Traps: traps.New(0, 100, 1, nil), SievePending: func() int { return *pending }, WakeFeeder: func() {},
		SiteItems: siteItemsMax,
	}
	d.FrontWanted.Store(100)
	now = time.Now()
	vs, _ = d.Workbench.GetOrAdd([]byte("http://a.test"))
	d.Workbench.Place(vs, netip.AddrFrom4([4]byte{240, 0, 0, 1}), now)
	return d, vs, now
}

func delayItems(t *testing.T, d *Distributor, vs *visit.State, n int) {
	t.Helper()
	for i := range n {
		if err := d.Queues.AppendDelayed(vs, queued.Append(nil,
			&queued.URL{Delayed: true, Rest: fmt.Appendf(nil, "/late/%d", i)})); err != nil {
			t.Fatal(err)
		}
	}
	d.Workbench.SetOnDisk(vs, d.Queues.Len(vs))
}

// visitAll visits the site until it is dry, one item a Visit, and returns the paths.
func visitAll(d *Distributor, now time.Time) (paths []string) {
	for {
		visits := d.Workbench.Acquire(now, nil, 1)
		if len(visits) == 0 {
			return paths
		}
		it := queued.MustDecode(visits[0].Items[0])
		paths = append(paths, string(it.Rest))
		d.Workbench.Release(&visits[0], workbench.Release{Unused: visits[0].Items[1:]}, now)
	}
}

// A site whose delayed URLs wait for new links, and that gets an item back meanwhile, has them offered again when it is
// dry.
func TestDelayedURLsAreNotForgotten(t *testing.T) {
	pending := 1
	d, vs, now := newDelaysRig(t, &pending)
	delayItems(t, d, vs, 1)
	for _, path := range []string{"/1", "/2"} {
		d.Workbench.Push(vs, queued.Append(nil, &queued.URL{Rest: []byte(path)}))
	}
	visit := d.Workbench.Acquire(now, nil, 1)[0]
	d.Workbench.Release(&visit, workbench.Release{Unused: visit.Items[1:]}, now)
	if n, err := d.refill(now); n != 0 || err != nil || len(d.late) != 1 {
		t.Fatalf("%d refilled, %d wait for links: %v", n, len(d.late), err)
	}
	if err := d.takeLateSites(now.Add(time.Hour)); err != nil || d.Workbench.Queued(vs) != 1 {
		t.Fatalf("%d items, %v", d.Workbench.Queued(vs), err)
	}
	if got := visitAll(d, now); fmt.Sprint(got) != "[/2]" {
		t.Fatalf("visited %v", got)
	}
	pending = 0
	if n, err := d.refill(now); n != 1 || err != nil {
		t.Errorf("the delayed URL is not offered again: %d, %v", n, err)
	}
	if got := visitAll(d, now); fmt.Sprint(got) != "[/late/0]" {
		t.Errorf("visited %v", got)
	}
}

// Delayed URLs come after all others of their site, also after those that come later, and while links are on their way.
func TestDelayedURLsComeLast(t *testing.T) {
	pending := 1
	d, vs, now := newDelaysRig(t, &pending)
	delayItems(t, d, vs, 5)
	for i := range 3 {
		if err := d.Queues.Append(vs, queued.Append(nil, &queued.URL{Rest: fmt.Appendf(nil, "/%d", i)})); err != nil {
			t.Fatal(err)
		}
	}
	d.Workbench.SetOnDisk(vs, d.Queues.Len(vs))
	if _, err := d.refill(now); err != nil {
		t.Fatal(err)
	}
	if got := visitAll(d, now); fmt.Sprint(got) != "[/0 /1 /2]" {
		t.Fatalf("visited %v", got)
	}
	if n, err := d.refill(now); n != 0 || err != nil {
		t.Errorf("%d are taken while links are on their way: %v", n, err)
	}
	if err := d.Queues.Append(vs, queued.Append(nil, &queued.URL{Rest: []byte("/3")})); err != nil {
		t.Fatal(err)
	}
	d.Workbench.SetOnDisk(vs, d.Queues.Len(vs))
	pending = 0
	var got []string
	for range 10 {
		if _, err := d.refill(now); err != nil {
			t.Fatal(err)
		}
		got = append(got, visitAll(d, now)...)
	}
	if fmt.Sprint(got) != "[/3 /late/0 /late/1 /late/2 /late/3 /late/4]" {
		t.Errorf("visited %v", got)
	}
}
