package schedule

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/visit"
	"orbweaver/internal/vfs"
	"orbweaver/workbench"
)

// newDelaysRig makes a Distributor that delays URLs, and one site with an address.
func newDelaysRig(t *testing.T) (r *rig, d *Distributor, vs *visit.State, now time.Time) {
	t.Helper()
	r, now = newRig(t, vfs.NewMem(1), "crawl", 1<<20, 100), time.Now()
	r.Front = NewFront(r.Workbench, 50, noneWaiting)
	vs, _ = r.Workbench.GetOrAdd([]byte("http://a.test"))
	r.Workbench.Place(vs, netip.AddrFrom4([4]byte{240, 0, 0, 1}), now)
	return r, r.distributor(), vs, now
}

func delayItems(t *testing.T, d *Distributor, vs *visit.State, n int) {
	t.Helper()
	for i := range n {
		if err := d.OnDisk.AppendDelayed(vs, queued.Append(nil,
			&queued.URL{Delayed: true, Rest: fmt.Appendf(nil, "/late/%d", i)})); err != nil {
			t.Fatal(err)
		}
	}
	d.Workbench.Site(vs).SetOnDisk(d.OnDisk.Len(vs))
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
func TestDelayedURLs_areOfferedAgain(t *testing.T) {
	r, d, vs, now := newDelaysRig(t)
	r.flushes.pending = 1
	delayItems(t, d, vs, 1)
	for _, path := range []string{"/1", "/2"} {
		d.Workbench.Push(vs, queued.Append(nil, &queued.URL{Rest: []byte(path)}))
	}
	visit := d.Workbench.Acquire(now, nil, 1)[0]
	d.Workbench.Release(&visit, workbench.Release{Unused: visit.Items[1:]}, now)
	if n, err := d.delayer.refill(now); n != 0 || err != nil || len(d.delayer.waiting) != 1 {
		t.Fatalf("%d refilled, %d wait for links: %v", n, len(d.delayer.waiting), err)
	}
	if err := d.delayer.takeWaiting(now.Add(time.Hour)); err != nil || d.Workbench.Site(vs).Queued() != 1 {
		t.Fatalf("%d items, %v", d.Workbench.Site(vs).Queued(), err)
	}
	if got := visitAll(d, now); fmt.Sprint(got) != "[/2]" {
		t.Fatalf("visited %v", got)
	}
	r.flushes.pending = 0
	if n, err := d.delayer.refill(now); n != 1 || err != nil {
		t.Errorf("the delayed URL is not offered again: %d, %v", n, err)
	}
	if got := visitAll(d, now); fmt.Sprint(got) != "[/late/0]" {
		t.Errorf("visited %v", got)
	}
}

// Delayed URLs come after all others of their site, also after those that come later, and while links are on their way.
func TestDelayedURLs_comeLast(t *testing.T) {
	r, d, vs, now := newDelaysRig(t)
	r.flushes.pending = 1
	delayItems(t, d, vs, 5)
	for i := range 3 {
		if err := d.OnDisk.Append(vs, queued.Append(nil, &queued.URL{Rest: fmt.Appendf(nil, "/%d", i)})); err != nil {
			t.Fatal(err)
		}
	}
	d.Workbench.Site(vs).SetOnDisk(d.OnDisk.Len(vs))
	if _, err := d.delayer.refill(now); err != nil {
		t.Fatal(err)
	}
	if got := visitAll(d, now); fmt.Sprint(got) != "[/0 /1 /2]" {
		t.Fatalf("visited %v", got)
	}
	if n, err := d.delayer.refill(now); n != 0 || err != nil {
		t.Errorf("%d are taken while links are on their way: %v", n, err)
	}
	if err := d.OnDisk.Append(vs, queued.Append(nil, &queued.URL{Rest: []byte("/3")})); err != nil {
		t.Fatal(err)
	}
	d.Workbench.Site(vs).SetOnDisk(d.OnDisk.Len(vs))
	r.flushes.pending = 0
	var got []string
	for range 10 {
		if _, err := d.delayer.refill(now); err != nil {
			t.Fatal(err)
		}
		got = append(got, visitAll(d, now)...)
	}
	if fmt.Sprint(got) != "[/3 /late/0 /late/1 /late/2 /late/3 /late/4]" {
		t.Errorf("visited %v", got)
	}
}
