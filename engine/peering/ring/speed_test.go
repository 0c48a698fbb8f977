package ring

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
)

// BenchmarkOwner measures the latency of a look-up: each key depends on the previous result.
func BenchmarkOwner(b *testing.B) {
	for _, n := range []int{4, 64, 1000} {
		for _, capacity := range []int{1, 4} {
			members := randomMembers(rand.New(rand.NewPCG(13, 14)), n, capacity)
			forEachAssignment(b, members, func(b *testing.B, name string, build func() Assignment) {
				b.Helper()
				b.Run(fmt.Sprintf("%s/%d-agents/capacities-to-%d", name, n, capacity), func(b *testing.B) {
					a := build()
					b.ReportAllocs()
					key := uint64(1)
					for b.Loop() {
						key = splitMix(key + uint64(a.Owner(key)))
					}
				})
			})
		}
	}
}

// BenchmarkNew measures time and memory of a new assignment. Each agent makes one when the members change.
func BenchmarkNew(b *testing.B) {
	for _, n := range []int{4, 64, 1000} {
		members := randomMembers(rand.New(rand.NewPCG(13, 14)), n, 1)
		forEachAssignment(b, members, func(b *testing.B, name string, build func() Assignment) {
			b.Helper()
			b.Run(fmt.Sprintf("%s/%d-agents", name, n), func(b *testing.B) {
				b.ReportAllocs()
				before := heapInUse()
				a := build()
				mebibytes := float64(heapInUse()-before) / (1 << 20)
				runtime.KeepAlive(a)
				for b.Loop() {
					build()
				}
				b.ReportMetric(mebibytes, "MiB")
			})
		})
	}
}

// heapInUse returns the bytes of live heap objects.
func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func forEachAssignment(b *testing.B, members []Member, f func(b *testing.B, name string, build func() Assignment)) {
	b.Helper()
	f(b, "consistent", func() Assignment {
		c, err := NewConsistent(members, DefaultReplicas)
		if err != nil {
			b.Fatal(err)
		}
		return c
	})
	f(b, "rendezvous", func() Assignment {
		r, err := NewRendezvous(members)
		if err != nil {
			b.Fatal(err)
		}
		return r
	})
}
