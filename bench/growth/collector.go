package growth

import (
	"math"
	"runtime/metrics"
	"time"
)

// Collector measures what garbage collection took of a stretch of the program.
type Collector struct {
	samples []metrics.Sample
	cpu     time.Duration
	gc      float64 // seconds of CPU
	objects uint64
	bytes   uint64
	locks   float64 // seconds
	pauses  []uint64
}

// Garbage is what a Collector found.
type Garbage struct {
	Share       float64       `json:"gc_cpu_share"` // of the CPU time of the process; too much if other processes want the same cores
	PauseP99    time.Duration `json:"gc_pause_p99_ns"`
	PauseMost   time.Duration `json:"gc_pause_most_ns"` // the upper end of its class in the histogram
	Pauses      uint64        `json:"gc_pauses"`
	Live        int64         `json:"live_heap_bytes"` // marked by the last collection
	Objects     uint64        `json:"objects_allocated"`
	Bytes       uint64        `json:"bytes_allocated"`
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

// NewCollector begins a stretch.
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
	c.cpu, c.gc, c.objects = CPU(), c.samples[sampleGC].Value.Float64(), c.samples[sampleObjects].Value.Uint64()
	c.bytes, c.locks = c.samples[sampleBytes].Value.Uint64(), c.samples[sampleLocks].Value.Float64()
	c.pauses = append(c.pauses, c.samples[samplePauses].Value.Float64Histogram().Counts...)
	return c
}

// Read says what has been since the stretch began. The runtime reckons the collector's CPU time at the end of each collection, by the
// clock: what its workers wait for a core that somebody else has is in it.
func (c *Collector) Read() Garbage {
	metrics.Read(c.samples)
	cpu := (CPU() - c.cpu).Seconds()
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

// AddGarbage notes what the collector took while so many items were handled.
func (r *Run) AddGarbage(g Garbage, items int64) {
	each := 1 / float64(max(items, 1))
	r.Add("garbage collection, of all CPU", 100*g.Share, "%")
	r.Add("  live heap", float64(g.Live)/(1<<20), "MiB")
	r.Add("  its pauses", float64(g.Pauses), "")
	r.Add("  99 in 100 below", float64(g.PauseP99.Microseconds()), "us")
	r.Add("  the longest below", float64(g.PauseMost.Microseconds()), "us")
	r.Add("objects allocated, each", float64(g.Objects)*each, "")
	r.Add("bytes allocated, each", float64(g.Bytes)*each, "B")
	r.Add("waiting for locks, all goroutines, each", g.LockSeconds*1e6*each, "us")
}

// quantile is the upper end of the class of a histogram in which the qth of n values lies; 0 if there are none.
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
