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
