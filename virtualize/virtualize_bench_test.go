package virtualize

import (
	"math/rand/v2"
	"testing"

	"orbweaver/internal/vfs"
)

var benchItem = []byte("/2019/05/a-page-with-a-name-of-usual-length/index.html?id=1234&session=0123456789abcdef")

func benchOpen(b *testing.B) *Virtualizer {
	v, err := Open(vfs.Disk(), Options{Dir: b.TempDir()}, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := v.Close(); err != nil {
			b.Fatal(err)
		}
	})
	b.ReportAllocs()
	return v
}

// skewed returns one of the given number of keys, small ones more often.
func skewed(rng *rand.Rand, keys float64) uint64 {
	u := rng.Float64()
	return uint64(keys * u * u * u)
}

// fill appends n items to skewed keys.
func benchFill(b *testing.B, v *Virtualizer, keys float64, n int) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range n {
		if err := v.Append(skewed(rng, keys), benchItem); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	v := benchOpen(b)
	benchFill(b, v, 100000, 1000000)
	rng := rand.New(rand.NewPCG(2, 1))
	for b.Loop() {
		if err := v.Append(skewed(rng, 100000), benchItem); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTake takes up to 100 items at a time, and appends as many to keep going.
func BenchmarkTake(b *testing.B) {
	v := benchOpen(b)
	benchFill(b, v, 100000, 2000000)
	rng := rand.New(rand.NewPCG(2, 1))
	b.ResetTimer()
	items := 0
	for b.Loop() {
		if v.Total() < 500000 {
			b.StopTimer()
			benchFill(b, v, 100000, 2000000)
			b.StartTimer()
		}
		n, err := v.Take(skewed(rng, 100000), 100, func([]byte) {})
		if err != nil {
			b.Fatal(err)
		}
		items += n
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(items), "ns/item")
	b.ReportMetric(float64(items)/float64(b.N), "items/op")
}

// The load of a crawl: items are appended and taken at the same rate, and space is reclaimed.
func BenchmarkSteady(b *testing.B) {
	v := benchOpen(b)
	benchFill(b, v, 100000, 2000000)
	rng := rand.New(rand.NewPCG(2, 1))
	items := 0
	b.ResetTimer()
	for b.Loop() {
		n, err := v.Take(skewed(rng, 100000), 100, func([]byte) {})
		if err != nil {
			b.Fatal(err)
		}
		for range n {
			if err := v.Append(skewed(rng, 100000), benchItem); err != nil {
				b.Fatal(err)
			}
		}
		if _, err := v.Collect(int64(n) * 200); err != nil {
			b.Fatal(err)
		}
		items += n
	}
	s := v.Stats()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(items), "ns/item")
	b.ReportMetric(float64(s.Disk)/float64(v.Total()*uint64(len(benchItem))), "disk/raw")
	b.ReportMetric(float64(s.Collected)/float64(items*len(benchItem)), "copied/taken")
}

func BenchmarkCut(b *testing.B) {
	v := benchOpen(b)
	benchFill(b, v, 1000000, 1000000)
	for b.Loop() {
		cut, err := cutNow(v)
		if err != nil {
			b.Fatal(err)
		}
		if err := v.Release(cut); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(v.queues.idx.count), "ns/queue")
}
