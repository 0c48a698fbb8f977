package histogram

import (
	"math/bits"
	"sync/atomic"
	"time"
)

const (
	// Shards is the number of copies of the counts.
	Shards = 8
	// rangeCount is the number of ranges with an upper bound; what is above all of them has one more.
	rangeCount = 22
)

// counts are those of one shard.
type counts struct {
	ranges [rangeCount + 1]atomic.Int64
	sum    atomic.Int64
	_      [64]byte // two shards share no cache line
}

// table is the counts of all shards.
type table struct{ shards [Shards]counts }

func (t *table) observe(shard, at int, value int64) {
	c := &t.shards[uint(shard)%Shards]
	c.ranges[min(at, rangeCount)].Add(1)
	c.sum.Add(value)
}

func (t *table) load(s *Snapshot, unit float64) {
	for i := range t.shards {
		c := &t.shards[i]
		for k := range c.ranges {
			s.Counts[k] += c.ranges[k].Load()
		}
		s.Sum += float64(c.sum.Load()) * unit
	}
}

// Durations counts durations. The first range ends at 250 us, and each ends at twice the one before. The last one ends
// at 524 s. The zero value is empty.
type Durations struct{ table table }

// shortest is the end of the first range of Durations.
const shortest = 250 * time.Microsecond

// Observe counts a duration; one below zero, after a step of the clock, counts as zero.
func (h *Durations) Observe(shard int, d time.Duration) {
	d = max(d, 0)
	h.table.observe(shard, bits.Len64(uint64(max(d-1, 0)/shortest)), int64(d))
}

// Load returns the counts, in seconds.
func (h *Durations) Load() (s Snapshot) {
	for i := range s.Ends {
		s.Ends[i] = (shortest << i).Seconds()
	}
	h.table.load(&s, 1/float64(time.Second))
	return s
}

// Gaps counts gaps between requests, good to a millisecond. The usual delays are ends of ranges, and a gap that is as
// long as its delay is in the range above: what keeps a delay is never in a range below it. The zero value is empty.
type Gaps struct{ table table }

// gapEnds are the ends of the ranges of Gaps, in milliseconds.
func gapEnds() [rangeCount]int64 {
	return [rangeCount]int64{
		10, 20, 50, 100, 200, 250, 500, 1000, 2000, 3000, 4000, 5000, 6000, 8000, 10_000, 15_000, 20_000, 30_000, 60_000,
		120_000, 300_000, 600_000,
	}
}

// Observe counts a gap; one below zero, after a step of the clock, counts as zero.
func (h *Gaps) Observe(shard int, gap time.Duration) {
	gap = max(gap, 0)
	ends, at := gapEnds(), 0
	for at < rangeCount && gap.Milliseconds() >= ends[at] {
		at++
	}
	h.table.observe(shard, at, int64(gap))
}

// Load returns the counts, in seconds. An end is half a millisecond below the delay, since it is included.
func (h *Gaps) Load() (s Snapshot) {
	for i, end := range gapEnds() {
		s.Ends[i] = float64(2*end-1) / 2000
	}
	h.table.load(&s, 1/float64(time.Second))
	return s
}

// Sizes counts numbers of bytes. The first range ends at 256 bytes, and each ends at twice the one before. The last one
// ends at 512 MiB. The zero value is empty.
type Sizes struct{ table table }

// smallest is the end of the first range of Sizes.
const smallest = 256

// Observe counts a number of bytes.
func (h *Sizes) Observe(shard int, n int64) {
	h.table.observe(shard, bits.Len64(uint64(max(n-1, 0)/smallest)), n)
}

// Load returns the counts, in bytes.
func (h *Sizes) Load() (s Snapshot) {
	for i := range s.Ends {
		s.Ends[i] = float64(int64(smallest) << i)
	}
	h.table.load(&s, 1)
	return s
}

// Snapshot is what a histogram has counted.
type Snapshot struct {
	Ends   [rangeCount]float64   // of the ranges, the end included
	Counts [rangeCount + 1]int64 // of each range alone; the last one is for what is above all ends
	Sum    float64               // of all values
}

// Count is the number of values.
func (s *Snapshot) Count() (n int64) {
	for _, c := range s.Counts {
		n += c
	}
	return n
}

// Cumulative returns how many values are not above the end of each range, by this end.
func (s *Snapshot) Cumulative() map[float64]uint64 {
	at, n := make(map[float64]uint64, len(s.Ends)), int64(0)
	for i, end := range s.Ends {
		n += s.Counts[i]
		at[end] = uint64(n)
	}
	return at
}
