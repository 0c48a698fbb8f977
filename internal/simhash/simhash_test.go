package simhash

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"orbweaver/internal/cputime"
)

// The tables find what a comparison with all fingerprints finds.
func TestTables_SH1(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	tables := New()
	var all []uint64
	found := 0
	for range 4000 {
		f := r.Uint64()
		if len(all) > 0 && r.IntN(2) == 0 {
			f = all[r.IntN(len(all))]
			for range r.IntN(6) {
				f ^= 1 << r.IntN(64)
			}
		}
		var want []uint64
		for _, other := range all {
			if bits.OnesCount64(other^f) <= Distance {
				want = append(want, other)
			}
		}
		got := tables.Find(nil, f)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Fatalf("%016x: %016x, want %016x", f, got, want)
		}
		found += len(got)
		if isNew := !slices.Contains(all, f); isNew != tables.Add(f) {
			t.Fatalf("%016x is new: %t", f, isNew)
		} else if isNew {
			all = append(all, f)
		}
	}
	if tables.Len() != len(all) || found < 1000 {
		t.Errorf("%d fingerprints of %d, %d found", tables.Len(), len(all), found)
	}
}

// Each bit of a fingerprint is that of most features.
func TestOf_likeCounting(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, 3, 254, 255, 256, 511, 1000} {
		features := make([]uint64, n)
		var ones [64]int
		for i := range features {
			features[i] = r.Uint64()
			for bit := range ones {
				ones[bit] += int(features[i] >> bit & 1)
			}
		}
		want := uint64(0)
		for bit, k := range ones {
			if k > n-k {
				want |= 1 << bit
			}
		}
		if got := Of(features); got != want {
			t.Errorf("%d features: %016x, want %016x", n, got, want)
		}
	}
}

func BenchmarkOf(b *testing.B) {
	features := make([]uint64, 1000)
	r := rand.New(rand.NewPCG(5, 6))
	for i := range features {
		features[i] = r.Uint64()
	}
	for b.Loop() {
		Of(features)
	}
}

// One operation looks a random fingerprint up. Processor time, also of adding, and memory are reported.
func BenchmarkTables(b *testing.B) {
	for _, n := range []int{1e6, 1e7} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			r := rand.New(rand.NewPCG(7, 8))
			before := heap()
			tables := New()
			adding := cputime.Best(1, func() {
				for tables.Len() < n {
					tables.Add(r.Uint64())
				}
			})
			bytes := heap() - before
			var found []uint64
			finding := cputime.Best(1, func() {
				for b.Loop() {
					found = tables.Find(found[:0], r.Uint64())
				}
			})
			b.ReportMetric(float64(finding.Nanoseconds())/float64(b.N), "cpu-ns/op")
			b.ReportMetric(float64(adding.Nanoseconds())/float64(n), "cpu-ns/add")
			b.ReportMetric(float64(bytes)/float64(n), "bytes/entry")
			runtime.KeepAlive(tables)
		})
	}
}

// heap is the memory in use, in bytes.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
