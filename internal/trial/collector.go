package trial

import (
	"fmt"
	"io"
	"math"
	"runtime/metrics"
	"time"

	"orbweaver/internal/cputime"
)

// Collector measures allocations and garbage collection from its creation on.
type Collector struct {
	samples []metrics.Sample
	cpu     time.Duration
	gc      float64 // seconds of CPU
	objects uint64
	bytes   uint64
	locks   float64 // seconds
	pauses  []uint64
}

// Garbage is the result of a Collector.
type Garbage struct {
	// Share is the collector's part of the CPU time of the process. It is too large if other processes use the cores.
	Share       float64       `json:"gc_cpu_share"`
	PauseP99    time.Duration `json:"gc_pause_p99_ns"`
	PauseMost   time.Duration `json:"gc_pause_most_ns"` // the upper end of its class in the histogram
	Pauses      uint64        `json:"gc_pauses"`
	Live        int64         `json:"live_heap_bytes"` // marked by the last collection
	Objects     uint64        `json:"objects_allocated"`
	Bytes       uint64        `json:"bytes_allocated"`
	Pages       int64         `json:"pages"`             // fetched meanwhile
	LockSeconds float64       `json:"lock_wait_seconds"` // of all goroutines together: waiting, not working
}

// The metrics, by their place in samples.
const (
	sampleGC = iota
	sampleObjects
	sampleBytes
	sampleLocks
	sampleLive
	samplePauses
)

// NewCollector starts a measurement.
func NewCollector() *Collector {
	c := &Collector{samples: []metrics.Sample{
		sampleGC:      {Name: "/cpu/classes/gc/total:cpu-seconds"},
		sampleObjects: {Name: "/gc/heap/allocs:objects"},
		sampleBytes:   {Name: "/gc/heap/allocs:bytes"},
		sampleLocks:   {Name: "/sync/mutex/wait/total:seconds"},
		sampleLive:    {Name: "/gc/heap/live:bytes"},
		samplePauses:  {Name: "/sched/pauses/total/gc:seconds"},
	}}
	metrics.Read(c.samples)
	c.cpu, c.gc = cputime.Process(), c.samples[sampleGC].Value.Float64()
	c.objects = c.samples[sampleObjects].Value.Uint64()
	c.bytes, c.locks = c.samples[sampleBytes].Value.Uint64(), c.samples[sampleLocks].Value.Float64()
	c.pauses = append(c.pauses, c.samples[samplePauses].Value.Float64Histogram().Counts...)
	return c
}

// Read returns the values since NewCollector. The runtime computes the collector's CPU time by the clock at the end of
// each collection. The time that its workers wait for a core is part of it.
func (c *Collector) Read() Garbage {
	metrics.Read(c.samples)
	cpu := (cputime.Process() - c.cpu).Seconds()
	h := c.samples[samplePauses].Value.Float64Histogram()
	counts := make([]uint64, len(h.Counts))
	g := Garbage{
		Live: int64(c.samples[sampleLive].Value.Uint64()), Objects: c.samples[sampleObjects].Value.Uint64() - c.objects,
		Bytes: c.samples[sampleBytes].Value.Uint64() - c.bytes, LockSeconds: c.samples[sampleLocks].Value.Float64() - c.locks,
	}
	if cpu > 0 {
		g.Share = (c.samples[sampleGC].Value.Float64() - c.gc) / cpu
	}
	for i := range counts {
		counts[i] = h.Counts[i] - c.pauses[i]
		g.Pauses += counts[i]
	}
	g.PauseP99, g.PauseMost = quantile(h.Buckets, counts, g.Pauses, 0.99), quantile(h.Buckets, counts, g.Pauses, 1)
	return g
}

// print writes a line. Allocations are divided by the pages.
func (g *Garbage) print(out io.Writer) {
	each := 1 / float64(max(g.Pages, 1))
	fmt.Fprintf(out,
		"garbage     %.1f objects and %.0f bytes allocated a page; the collector takes %.1f %% of the CPU time, "+
			"99 in 100 of its %d pauses below %v, all below %v; %.0f MiB live\n",
		float64(g.Objects)*each, float64(g.Bytes)*each, 100*g.Share, g.Pauses, g.PauseP99, g.PauseMost,
		float64(g.Live)/(1<<20))
	fmt.Fprintf(out, "locks       all goroutines together wait %.1f us a page\n", g.LockSeconds*1e6*each)
}

// quantile is the upper bound of the bucket that holds the qth of n values; 0 if n is 0.
func quantile(bounds []float64, counts []uint64, n uint64, q float64) time.Duration {
	if n == 0 {
		return 0
	}
	want, seen := uint64(math.Ceil(q*float64(n))), uint64(0)
	for i, k := range counts {
		if seen += k; seen >= want {
			upper := bounds[i+1]
			if math.IsInf(upper, 1) {
				upper = bounds[i]
			}
			return time.Duration(upper * float64(time.Second))
		}
	}
	return 0
}
