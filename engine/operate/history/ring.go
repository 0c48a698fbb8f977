package history

import (
	"math"
	"sort"
)

// ring keeps the last samples of one resolution. Times are seconds since 1970 and increase.
type ring struct {
	step   int64 // seconds from one sample to the next
	times  []int64
	values []float32 // one row for each sample
	width  int       // values in a row
	first  int       // place of the oldest sample
	count  int
}

func newRing(step int64, samples, width int) ring {
	return ring{step: step, times: make([]int64, samples), values: make([]float32, samples*width), width: width}
}

// at is the place of the i-th sample from the oldest.
func (r *ring) at(i int) int { return (r.first + i) % len(r.times) }

// row is the values of the i-th sample from the oldest.
func (r *ring) row(i int) []float32 {
	at := r.at(i) * r.width
	return r.values[at : at+r.width]
}

// add appends a sample. The oldest one goes if the ring is full. Samples of that time or later go, too: the clock was
// set back.
func (r *ring) add(t int64, row []float32) {
	for r.count > 0 && r.times[r.at(r.count-1)] >= t {
		r.count--
	}
	if r.count == len(r.times) {
		r.first = r.at(1)
		r.count--
	}
	r.times[r.at(r.count)] = t
	r.count++
	copy(r.row(r.count-1), row)
}

// since is the number of the first sample at t or later.
func (r *ring) since(t int64) int {
	return sort.Search(r.count, func(i int) bool { return r.times[r.at(i)] >= t })
}

// within returns the samples from `from` to `to` as at most so many points at equal distances. A point is the mean of
// its samples; one without a sample is NaN.
func (r *ring) within(from, to int64, points int) Series {
	step := r.step
	if span := to - from; span/step > int64(points) {
		step = (span/int64(points)/r.step + 1) * r.step
	}
	from -= from % step
	n := int((to-from)/step) + 1
	columns := make([]Points, r.width)
	sums, counts := make([]float64, r.width), make([]int, r.width)
	next := r.since(from)
	for p := range n {
		clear(sums)
		clear(counts)
		for ; next < r.count && r.times[r.at(next)] < from+int64(p+1)*step; next++ {
			addKnown(sums, counts, r.row(next))
		}
		for c := range columns {
			columns[c] = append(columns[c], mean(sums[c], counts[c]))
		}
	}
	s := Series{Step: step, From: from, Series: make(map[string]Points)}
	for c, name := range Names() {
		s.Series[name] = columns[c]
	}
	return s
}

// addKnown adds the values that are known.
func addKnown(sums []float64, counts []int, row []float32) {
	for i, v := range row {
		if !math.IsNaN(float64(v)) {
			sums[i] += float64(v)
			counts[i]++
		}
	}
}

func mean(sum float64, count int) float32 {
	if count == 0 {
		return float32(math.NaN())
	}
	return float32(sum / float64(count))
}
