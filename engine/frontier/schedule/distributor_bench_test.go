package schedule

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	"orbweaver/internal/cputime"
	"orbweaver/internal/vfs"
)

// BenchmarkDistributor runs the Distributor alone and flat out: ready URLs of known sites, more than the cache of a
// processor holds. Run it with -benchtime 2000x: all URLs are in the ready queue before it begins.
func BenchmarkDistributor(b *testing.B) {
	const known = 1 << 20
	r, now := newRig(b, vfs.NewMem(1), "crawl", 1<<32, 100), time.Now()
	r.Front = NewFront(r.Workbench, 1<<30, noneWaiting)
	d := r.distributor()
	for i := range known {
		vs, _ := r.Workbench.GetOrAdd(fmt.Appendf(nil, "http://site-%d.test", i))
		r.Workbench.Place(vs, netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), now)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range b.N * distributeBatch {
		if err := r.Ready.Append(url("http://site-%d.test/some/folder/page-%d.html", rng.IntN(known), i)); err != nil {
			b.Fatal(err)
		}
	}
	cpu := cputime.Process()
	b.ResetTimer()
	for range b.N {
		if moved, err := d.step(now); !moved || err != nil {
			b.Fatal(moved, err)
		}
	}
	cpu = cputime.Process() - cpu
	if left := r.Ready.Len(); left > 0 {
		b.Fatalf("%d URLs are left", left)
	}
	b.ReportMetric(float64(cpu.Nanoseconds())/float64(b.N*distributeBatch), "CPU-ns/URL")
}
