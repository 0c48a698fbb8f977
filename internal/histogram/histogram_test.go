package histogram

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A value is in the range whose end it does not exceed, and the sum is that of the values.
func TestDurations_rangesIncludeTheirEnds(t *testing.T) {
	for _, c := range []struct {
		value time.Duration
		want  int
	}{
		{-time.Second, 0}, {0, 0}, {time.Nanosecond, 0}, {250 * time.Microsecond, 0}, {250*time.Microsecond + 1, 1},
		{500 * time.Microsecond, 1}, {500*time.Microsecond + 1, 2}, {time.Millisecond, 2}, {time.Second, 12},
		{250 * time.Microsecond << 21, 21}, {250*time.Microsecond<<21 + 1, 22}, {1000 * time.Hour, 22},
	} {
		var h Durations
		h.Observe(3, c.value)
		if s := h.Load(); s.Counts[c.want] != 1 || s.Count() != 1 || s.Sum != max(c.value, 0).Seconds() {
			t.Errorf("%v: %v, sum %g, want range %d", c.value, s.Counts, s.Sum, c.want)
		}
	}
}

// The same of sizes.
func TestSizes_rangesIncludeTheirEnds(t *testing.T) {
	for value, want := range map[int64]int{
		0: 0, 1: 0, 256: 0, 257: 1, 512: 1, 513: 2, 1 << 20: 12, 1 << 29: 21, 1 << 40: 22,
	} {
		var h Sizes
		h.Observe(0, value)
		if s := h.Load(); s.Counts[want] != 1 || s.Sum != float64(value) {
			t.Errorf("%d: %v, sum %g, want range %d", value, s.Counts, s.Sum, want)
		}
	}
}

// What many goroutines count at once is there, whatever shard they use, and the cumulative counts end with all of it.
func TestDurations_countAllFromManyGoroutines(t *testing.T) {
	var h Durations
	var all sync.WaitGroup
	for worker := range 50 {
		all.Go(func() {
			for range 1000 {
				h.Observe(worker, time.Millisecond)
			}
		})
	}
	all.Wait()
	s := h.Load()
	if n := s.Cumulative()[s.Ends[rangeCount-1]]; s.Count() != 50_000 || n != 50_000 || s.Cumulative()[s.Ends[1]] != 0 {
		t.Errorf("%d values, %d up to the last end", s.Count(), n)
	}
	if allocs := testing.AllocsPerRun(100, func() { h.Observe(1, time.Second) }); allocs != 0 {
		t.Errorf("%g allocations", allocs)
	}
}

func BenchmarkObserve(b *testing.B) {
	var h Durations
	var workers atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		for shard := int(workers.Add(1)); pb.Next(); {
			h.Observe(shard, 17*time.Millisecond)
		}
	})
}

// A gap that keeps its delay is never in a range that ends at the delay, and one that is a millisecond short is.
func TestGaps_aKeptDelayIsInTheRangeAboveIt(t *testing.T) {
	for _, seconds := range []float64{0.5, 1, 3, 4, 60} {
		delay := time.Duration(seconds * float64(time.Second))
		var h Gaps
		h.Observe(0, delay)
		h.Observe(1, delay+20*time.Microsecond)
		h.Observe(2, delay-time.Millisecond)
		s := h.Load()
		below, sum := int64(0), int64(0)
		for i, end := range s.Ends {
			if end <= seconds {
				below += s.Counts[i]
			}
			sum += s.Counts[i]
		}
		if below != 1 || sum != 3 || s.Count() != 3 {
			t.Errorf("%v: %d of %d gaps are below, %v", delay, below, sum, s)
		}
	}
	var h Gaps
	if h.Observe(0, time.Hour); h.Load().Counts[rangeCount] != 1 || h.Load().Sum != 3600 {
		t.Errorf("an hour: %+v", h.Load())
	}
}
