package cputime

import (
	"runtime"
	"time"
)

// Best is the least processor time that f took, of so many runs.
func Best(runs int, f func()) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	best := time.Duration(1<<63 - 1)
	for range runs {
		start := Thread()
		f()
		best = min(best, Thread()-start)
	}
	return best
}
