package lifecycle

import "time"

// SetWatch warns when the wall clock was set while the crawl runs. Delays use the monotonic clock, so they are not
// affected. The dates of records are.
type SetWatch struct {
	Warn               func(msg string, args ...any)
	lastMono, lastWall time.Time // of the last check
}

// LeastStep is the smallest step that is reported: smaller ones are ordinary corrections.
const LeastStep = 2 * time.Second

// Check compares both clocks with those of the last call.
func (w *SetWatch) Check(now time.Time) { w.compare(now, now.Round(0)) }

// compare takes one moment by both clocks; wall has no monotonic reading.
func (w *SetWatch) compare(now, wall time.Time) {
	lastMono, lastWall := w.lastMono, w.lastWall
	w.lastMono, w.lastWall = now, wall
	if lastMono.IsZero() {
		return
	}
	if step := wall.Sub(lastWall) - now.Sub(lastMono); step.Abs() >= LeastStep {
		w.Warn("the clock of this machine was set, or the machine slept: dates of records follow it, delays do not",
			"by", step.Round(time.Millisecond).String())
	}
}
