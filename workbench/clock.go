package workbench

import (
	"math"
	"time"
)

// noDue is the due time of something that never had one: earlier than every other.
const noDue int64 = math.MinInt64

// clock turns times into offsets in nanoseconds from a base, and back. Times with a monotonic reading are compared by
// it, so a step of the wall clock neither shortens nor lengthens a delay; a snapshot gets wall time, corrected by the
// steps seen so far (skew).
type clock struct {
	base     time.Time
	anchored bool
	skew     int64
}

// restored is the clock of a loaded snapshot: offsets count from a wall time, and the first time seen will give it its
// monotonic reading.
func restored(wall int64) clock { return clock{base: time.Unix(0, wall)} }

// anchorAt says that now is the moment at which the clock of the snapshot shows was.
func (c *clock) anchorAt(now, was time.Time) {
	c.base, c.anchored = now.Add(c.base.Round(0).Sub(was.Round(0))), true
}

// see takes note of a time that was read just now.
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

// offset is the inner form of t; the zero time is noDue.
func (c *clock) offset(t time.Time) int64 {
	if t.IsZero() {
		return noDue
	}
	if !c.anchored {
		c.anchor(t)
	}
	return max(int64(t.Sub(c.base)), noDue+1)
}

// time is the outer form of d.
func (c *clock) time(d int64) time.Time {
	if d == noDue {
		return time.Time{}
	}
	return c.base.Add(time.Duration(d))
}

// wall is the wall time in Unix nanoseconds that offsets count from, for a snapshot.
func (c *clock) wall() int64 {
	if c.base.IsZero() {
		return 0
	}
	return c.base.UnixNano() + c.skew
}
