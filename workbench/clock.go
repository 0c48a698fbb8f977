package workbench

import (
	"math"
	"time"
)

// noDue is the due time of a site or IP without earlier visits. It is before all other due times.
const noDue int64 = math.MinInt64

// clock converts times to offsets in nanoseconds from a base, and back. It compares times by their monotonic reading,
// so a step of the wall clock does not change a delay. A snapshot stores wall time, corrected by the measured steps
// (skew).
type clock struct {
	base     time.Time
	anchored bool
	skew     int64
}

// restored returns the clock of a loaded snapshot. Offsets count from a wall time. The first time that the clock sees
// adds the monotonic reading.
func restored(wall int64) clock { return clock{base: time.Unix(0, wall)} }

// anchorAt sets the base so that now is the same moment as the time was on the clock of the snapshot.
func (c *clock) anchorAt(now, was time.Time) {
	c.base, c.anchored = now.Add(c.base.Round(0).Sub(was.Round(0))), true
}

// see updates the base or the skew from a time that was read just now.
func (c *clock) see(now time.Time) {
	if !c.anchored {
		c.anchor(now)
		return
	}
	c.skew = int64(now.Round(0).Sub(c.base.Round(0)) - now.Sub(c.base))
}

func (c *clock) anchor(t time.Time) {
	c.anchored = true
	if c.base.IsZero() {
		c.base = t
		return
	}
	c.base = t.Add(c.base.Round(0).Sub(t.Round(0)))
}

// offset converts t to nanoseconds from the base. The zero time becomes noDue.
func (c *clock) offset(t time.Time) int64 {
	if t.IsZero() {
		return noDue
	}
	if !c.anchored {
		c.anchor(t)
	}
	return max(int64(t.Sub(c.base)), noDue+1)
}

// time converts the offset d to a time. noDue becomes the zero time.
func (c *clock) time(d int64) time.Time {
	if d == noDue {
		return time.Time{}
	}
	return c.base.Add(time.Duration(d))
}

// wall returns the base as Unix nanoseconds of the wall clock, for a snapshot.
func (c *clock) wall() int64 {
	if c.base.IsZero() {
		return 0
	}
	return c.base.UnixNano() + c.skew
}
