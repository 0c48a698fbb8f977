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
	"orbweaver/internal/vfs"
	"orbweaver/virtualize"
	"orbweaver/workbench"
)

// A full bench takes nothing from disk while the front is as large as it should be, and is refilled, full or not, when
// fetchers wait.
func TestAFullBenchIsRefilledWhenTheFrontIsSmall(t *testing.T) {
	virt, err := virtualize.Open(vfs.NewMem(1), virtualize.Options{Dir: "queues", SegmentBytes: 1 << 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(1e9, 0)
	d := &Distributor{
		Cluster:   cluster.Alone{},
		Workbench: workbench.New[site.State](workbench.Options{MemoryMax: 1}),
		Queues:    sites.NewDiskQueues(virt), FrontWanted: new(atomic.Int64),
		Traps: traps.New(-1, 0, 1, nil),
	}
	item := queued.Append(nil, &queued.URL{Rest: []byte("/a")})
	for i := range 50 {
		vs, _ := d.Workbench.GetOrAdd(fmt.Appendf(nil, "http://h%d.test", i))
		d.Workbench.Place(vs, netip.AddrFrom4([4]byte{240, 0, 0, byte(i)}), now)
		if i > 0 {
			d.Workbench.Push(vs, item)
			continue
		}
		if err := d.Queues.Append(vs, item); err != nil {
			t.Fatal(err)
		}
		d.Workbench.SetOnDisk(vs, 1)
	}
	for _, story := range []struct{ want, refilled int }{{49, 0}, {10, 0}, {50, 1}, {50, 0}} {
		d.FrontWanted.Store(int64(story.want))
		if n, err := d.refill(now); err != nil || n != story.refilled {
			t.Errorf("a front of 49 where %d are wanted: %d refilled, want %d (%v)", story.want, n, story.refilled, err)
		}
	}
	if err := virt.Close(); err != nil {
		t.Error(err)
	}
}
