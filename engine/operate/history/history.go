package history

import (
	"math"
	"strconv"
)

// How much is kept, and in which steps.
const (
	secondsKept = 60 * 60
	minutesKept = 7 * 24 * 60
	minute      = 60 // seconds
)

// History is the samples of a crawl. It is not safe for concurrent use: the Recorder guards it.
type History struct {
	seconds, minutes ring

	sums     []float64 // of the minute under way
	counts   []int
	minuteOf int64 // the minute under way, in seconds since 1970
}

// New returns an empty History.
func New() *History {
	width := len(Names())
	return &History{
		seconds: newRing(1, secondsKept, width), minutes: newRing(minute, minutesKept, width),
		sums: make([]float64, width), counts: make([]int, width),
	}
}

// Add takes the sample of a second, in seconds since 1970. A value that is not known is NaN.
func (h *History) Add(t int64, row []float32) {
	if m := t - t%minute; m != h.minuteOf {
		h.endMinute()
		h.minuteOf = m
	}
	h.seconds.add(t, row)
	addKnown(h.sums, h.counts, row)
}

// endMinute keeps the means of the minute under way.
func (h *History) endMinute() {
	row, known := make([]float32, len(h.sums)), false
	for i := range row {
		row[i] = mean(h.sums[i], h.counts[i])
		known = known || h.counts[i] > 0
	}
	clear(h.sums)
	clear(h.counts)
	if known {
		h.minutes.add(h.minuteOf, row)
	}
}

// Series is samples at equal distances.
type Series struct {
	Step   int64             `json:"step"`   // seconds from one point to the next
	From   int64             `json:"from"`   // time of the first point, in seconds since 1970
	Series map[string]Points `json:"series"` // by name
}

// Points are the values of one name. One that is not known is NaN, and null in JSON.
type Points []float32

// Query returns what is known of the time from `from` to `to`, in seconds since 1970, as at most so many points. It
// takes the samples of seconds where they reach back that far, else those of minutes.
func (h *History) Query(from, to int64, points int) Series {
	if from >= to-secondsKept {
		return h.seconds.within(from, to, points)
	}
	return h.minutes.within(from, to, points)
}

// begin is the time of the first sample; far in the future if there is none.
func (h *History) begin() int64 {
	begin := int64(math.MaxInt32)
	for _, r := range []*ring{&h.seconds, &h.minutes} {
		if r.count > 0 {
			begin = min(begin, r.times[r.first])
		}
	}
	return begin
}

// MarshalJSON writes each value with six digits.
func (p Points) MarshalJSON() ([]byte, error) {
	b := []byte{'['}
	for i, v := range p {
		if i > 0 {
			b = append(b, ',')
		}
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendFloat(b, f, 'g', 6, 32)
		}
	}
	return append(b, ']'), nil
}
