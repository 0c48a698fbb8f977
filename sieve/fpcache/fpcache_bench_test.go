package fpcache

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/zeebo/xxh3"
)

const benchBytes = 64 << 20

// linkStream is a stream of links as in a crawl: a few popular fingerprints and a long tail.
func linkStream(seed uint64) []xxh3.Uint128 {
	zipf := rand.NewZipf(rand.New(rand.NewPCG(seed, 1)), 1.1, 10, 1<<24)
	out := make([]xxh3.Uint128, 1<<18)
	for i := range out {
		out[i] = fpOf(zipf.Uint64())
	}
	return out
}

func BenchmarkSeenHit(b *testing.B) {
	c := New(benchBytes, 1)
	in := make([]xxh3.Uint128, 1<<17)
	for i := range in {
		in[i] = fpOf(uint64(i))
		c.Put(in[i])
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		c.Seen(in[i&(len(in)-1)])
		i++
	}
}

func BenchmarkSeenMiss(b *testing.B) {
	c := New(benchBytes, 1)
	in := make([]xxh3.Uint128, 1<<19)
	for i := range in {
		c.Put(fpOf(uint64(i)))
		in[i] = fpOf(1<<40 + uint64(i))
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		c.Seen(in[i&(len(in)-1)])
		i++
	}
}

func BenchmarkLinks(b *testing.B) {
	c, in := New(benchBytes, 1), linkStream(1)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		fp := in[i&(len(in)-1)]
		if !c.Seen(fp) {
			c.Put(fp)
		}
		i++
	}
}

func BenchmarkLinksParallel(b *testing.B) {
	c := New(benchBytes, 1)
	var seed atomic.Uint64
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		in := linkStream(seed.Add(1))
		for i := 0; pb.Next(); i++ {
			fp := in[i&(len(in)-1)]
			if !c.Seen(fp) {
				c.Put(fp)
			}
		}
	})
}
