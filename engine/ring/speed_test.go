package ring

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"
)

// BenchmarkOwner looks up keys one after the other, each of which depends on the answer before it: it is the time until the answer is there.
func BenchmarkOwner(b *testing.B) {
	for _, n := range []int{4, 64, 1000} {
		for _, capacity := range []int{1, 4} {
			members := agents(rand.New(rand.NewPCG(13, 14)), n, capacity)
			eachBuilt(b, members, func(b *testing.B, name string, build func() Assignment) {
				b.Helper()
				b.Run(fmt.Sprintf("%s/%d-agents/capacities-to-%d", name, n, capacity), func(b *testing.B) {
					a := build()
					b.ReportAllocs()
					key := uint64(1)
					for b.Loop() {
						key = mix(key + uint64(a.Owner(key)))
					}
				})
			})
		}
	}
}

// BenchmarkNew makes an assignment, as every agent does whenever one comes or goes, and says what it holds.
func BenchmarkNew(b *testing.B) {
	for _, n := range []int{4, 64, 1000} {
		eachBuilt(b, agents(rand.New(rand.NewPCG(13, 14)), n, 1), func(b *testing.B, name string, build func() Assignment) {
			b.Helper()
			b.Run(fmt.Sprintf("%s/%d-agents", name, n), func(b *testing.B) {
				b.ReportAllocs()
				before := held()
				a := build()
				holds := float64(held()-before) / (1 << 20)
				runtime.KeepAlive(a)
				for b.Loop() {
					build()
				}
				b.ReportMetric(holds, "MiB")
			})
		})
	}
}

// held is how much memory is in use.
func held() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func eachBuilt(b *testing.B, members []Member, f func(b *testing.B, name string, build func() Assignment)) {
	b.Helper()
	f(b, "consistent", func() Assignment {
		c, err := NewConsistent(members, ReplicasDefault)
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
