package engine

import "time"

// BootClock tells which run of the machine this is, and how long it has been running, sleep included. Nobody sets it.
type BootClock func() (boot string, up time.Duration)

// resumeClock carries times over from the run that wrote a cut to this one. The wall clock may have been set in
// between, in either direction and by any amount, so what it says is believed only where a mistake harms nobody:
//
//   - what must not come too soon (when a site or an IP may be asked again, which keeps politeness) is put off by no
//     more than was left of it at the cut. Time that has certainly passed since is taken off: on the same run of the
//     machine what the boot clock says, on a later one the time it has been running; where there is no such clock,
//     none.
//   - what must not last too long (a copy of robots.txt, an address) has aged at least by what either clock says; if
//     the wall clock went back and nothing else is known, it is over.
//
// So a clock that jumps costs at most one delay of each site, and one robots.txt and one question for its address.
type resumeClock struct {
	now     time.Time
	cut     time.Time     // wall time of the cut
	passed  time.Duration // since the cut, for certain
	aged    time.Duration // since the cut, perhaps
	unknown bool          // how long ago the cut was
}

func newResumeClock(m *manifest, boot BootClock) resumeClock {
	c := resumeClock{now: time.Now(), cut: m.Written.Round(0)}
	wall := c.now.Round(0).Sub(c.cut)
	known := false
	if boot != nil && m.Boot != "" {
		id, up := boot()
		switch {
		case id == m.Boot && up >= m.Up:
			c.passed, known = up-m.Up, true
		case id != m.Boot && id != "":
			c.passed = up
		}
	}
	c.aged = max(c.passed, wall)
	c.unknown = wall < 0 && !known
	return c
}

// jump is how far the wall clock is from where it should be, by what is known.
func (c *resumeClock) jump() time.Duration { return c.now.Round(0).Sub(c.cut) - c.passed }

// present is what the clock of the cut would show now, if nothing but what is certain has passed.
func (c *resumeClock) present() time.Time { return c.cut.Add(c.passed) }

// until carries the end of a validity over; longest is the longest there can be.
func (c *resumeClock) until(end time.Time, longest time.Duration) time.Time {
	if end.IsZero() {
		return end
	}
	left := end.Sub(c.cut) - c.aged
	if c.unknown {
		left = 0
	}
	return c.now.Add(min(max(left, 0), longest))
}

// clockWatch notices that the wall clock was set while the crawl runs. Delays do not mind: they go by the monotonic
// clock. The dates of records do.
type clockWatch struct {
	say        func(msg string, args ...any)
	last, wall time.Time // of the last look, by both clocks
}

// clockStep is the least step that is worth a line: less is what a clock is corrected by in passing.
const clockStep = 2 * time.Second

func (w *clockWatch) look(now time.Time) { w.compare(now, now.Round(0)) }

// compare takes one moment by both clocks; wall has no monotonic reading.
func (w *clockWatch) compare(now, wall time.Time) {
	last, lastWall := w.last, w.wall
	w.last, w.wall = now, wall
	if last.IsZero() {
		return
	}
	if step := wall.Sub(lastWall) - now.Sub(last); step.Abs() >= clockStep {
		w.say("the clock of this machine was set, or the machine slept: dates of records follow it, delays do not",
			"by", step.Round(time.Millisecond).String())
	}
}

// dueMax is longer than any wait of a site: more in a journal is not a wait.
const dueMax = 48 * time.Hour

// nanosTo is how long it is until t, for the journal: 0 for none.
func nanosTo(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return int64(max(time.Until(t), 1))
}

// nanosFrom reads it, counted from now.
func nanosFrom(now time.Time, n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return now.Add(min(max(time.Duration(n), 0), dueMax))
}
