package gaps

import (
	"math"
	"math/bits"
	"sort"
	"time"
)

// A distribution counts gaps in ranges: each doubling is divided into 2^stepBits ranges, so a percentile is wrong by at
// most three per cent. Below 2^stepBits microseconds each value has its own range.
const (
	stepBits   = 5
	steps      = 1 << stepBits
	rangeCount = (64 - stepBits) * steps
)

// distribution is the sizes of gaps. It needs ends and ranges.
type distribution struct {
	counts [rangeCount]int64
	ends   []time.Duration // of the printed ranges, ascending
	ranges []int64         // one more than ends
	total  int64
	least  int64 // exact
	most   int64
}

// observe counts a gap in microseconds. Two exchanges at the same time have a gap below zero, which counts as zero in
// the ranges.
func (d *distribution) observe(micros int64) {
	if d.total == 0 {
		d.least, d.most = micros, micros
	}
	d.total++
	d.least, d.most = min(d.least, micros), max(d.most, micros)
	d.counts[rangeOf(uint64(max(micros, 0)))]++
	d.ranges[d.rangeIn(micros)]++
}

func rangeOf(micros uint64) int {
	n := bits.Len64(micros)
	if n <= stepBits {
		return int(micros)
	}
	shift := n - stepBits - 1
	return shift*steps + int(micros>>shift)
}

// endOf is the largest value of a range, in microseconds.
func endOf(at int) int64 {
	if at < 2*steps {
		return int64(at)
	}
	shift := at/steps - 1
	return int64(at%steps+steps+1)<<shift - 1
}

// percentile returns the value that the given part of all gaps does not exceed.
func (d *distribution) percentile(part float64) int64 {
	if d.total == 0 {
		return 0
	}
	want, sum := int64(math.Ceil(part*float64(d.total))), int64(0)
	for at := range d.counts {
		if sum += d.counts[at]; sum >= max(want, 1) {
			return min(max(endOf(at), d.least), d.most)
		}
	}
	return d.most
}

// Range is a range of the histogram.
type Range struct {
	Below float64 `json:"below_seconds"` // its end; 0 in the first range, of overlaps, and in the last one, without end
	Count int64   `json:"count"`
}

// rangesMost is how many ranges are printed at most.
const rangesMost = 32

// usualEnds are the ends of the printed histogram, beside the delays that were in force. The first range is for gaps
// below zero: two exchanges at once.
func usualEnds() []time.Duration {
	return []time.Duration{
		0, 10 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, 500 * time.Millisecond, time.Second,
		2 * time.Second, 4 * time.Second, 5 * time.Second, 8 * time.Second, 15 * time.Second, 30 * time.Second, time.Minute,
		5 * time.Minute, time.Hour, 24 * time.Hour,
	}
}

// rangeIn returns the number of the printed range of a gap: its lower end is included.
func (d *distribution) rangeIn(micros int64) int {
	gap := time.Duration(micros) * time.Microsecond
	return sort.Search(len(d.ends), func(i int) bool { return gap < d.ends[i] })
}

// histogram returns the printed ranges.
func (d *distribution) histogram() []Range {
	all := make([]Range, len(d.ranges))
	for i, n := range d.ranges {
		all[i].Count = n
	}
	for i, end := range d.ends {
		all[i].Below = end.Seconds()
	}
	return all
}
