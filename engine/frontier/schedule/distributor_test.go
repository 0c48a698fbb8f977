package schedule

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"orbweaver/internal/vfs"
)

// A full workbench takes nothing from disk while the front is as large as it should be, and is refilled, full or not,
// when fetch workers wait.
func TestDistributor_refillsAFullWorkbenchWhenTheFrontIsSmall(t *testing.T) {
	r, now := newRig(t, vfs.NewMem(1), "crawl", 1, -1), time.Unix(1e9, 0)
	d := r.distributor()
	for i := range 50 {
		vs, _ := r.Workbench.GetOrAdd(fmt.Appendf(nil, "http://h%d.test", i))
		r.Workbench.Place(vs, netip.AddrFrom4([4]byte{240, 0, 0, byte(i)}), now)
		if i > 0 {
			r.Workbench.Push(vs, path("/a"))
			continue
		}
		if err := r.OnDisk.Append(vs, path("/a")); err != nil {
			t.Fatal(err)
		}
		r.Workbench.Site(vs).SetOnDisk(1, 0)
	}
	for _, c := range []struct{ want, refilled int }{{49, 0}, {10, 0}, {50, 1}, {50, 0}} {
		r.Front.required.Store(int64(c.want))
		if n, err := d.delayer.refill(now); err != nil || n != c.refilled {
			t.Errorf("a front of 49 where %d are wanted: %d refilled, want %d (%v)", c.want, n, c.refilled, err)
		}
	}
}

// A disk answers many reads at once, so the blocks of all sites that are refilled in a step are asked for together.
func TestDistributor_readsAheadForAllSitesOfARefill(t *testing.T) {
	r, now := newRig(t, vfs.NewMem(1), "crawl", 1<<20, -1), time.Unix(1e9, 0)
	const sites, items = 10, 60
	for i := range sites {
		vs, _ := r.Workbench.GetOrAdd(fmt.Appendf(nil, "http://h%d.test", i))
		r.Workbench.Place(vs, netip.AddrFrom4([4]byte{240, 0, 0, byte(i)}), now)
		for n := range items {
			if err := r.OnDisk.Append(vs, path("/page/%d", n)); err != nil {
				t.Fatal(err)
			}
		}
		r.Workbench.Site(vs).SetOnDisk(items, 0)
	}
	if n, err := r.distributor().delayer.refill(now); n != sites*items || err != nil {
		t.Fatalf("%d of %d items, %v", n, sites*items, err)
	}
	if s := r.virt.Stats(); s.BlocksWritten == 0 || s.BlocksExpected != s.BlocksWritten {
		t.Errorf("%d of %d blocks were asked for", s.BlocksExpected, s.BlocksWritten)
	}
}
