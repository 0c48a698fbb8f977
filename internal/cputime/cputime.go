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

// referenceUnit is the input of Reference: 1 MiB.
const referenceUnit = 1 << 20

// Reference is work that costs about the same number of instructions on every machine: one step of a hash for each byte
// of 1 MiB.
func Reference() {
	sum := uint32(0)
	for i := range uint32(referenceUnit) {
		sum = (sum ^ i&0xff) * 16777619
	}
	runtime.KeepAlive(sum) // or the compiler leaves the loop out
}

// smallCost is a multiple of Reference. Growth does not look at less, since the parts that are not linear cost nothing
// there.
const smallCost = 5

// Growth returns the processor time of large divided by that of small. It returns zero if large takes less than five
// times Reference.
func Growth(runs int, limit float64, large, small func()) float64 {
	if Cost(1, smallCost, large, Reference) <= smallCost {
		return 0
	}
	return Cost(runs, limit, large, small)
}

// Cost returns the processor time of f divided by that of reference. A slow or busy machine is slow for both. The two
// run alternately. Cost returns as soon as a run is within the limit, otherwise the least result of all runs.
func Cost(runs int, limit float64, f, reference func()) float64 {
	least := -1.0
	for range runs {
		unit := Best(3, reference)
		cost := float64(Best(1, f)) / float64(max(unit, 1))
		if least < 0 || cost < least {
			least = cost
		}
		if least <= limit {
			break
		}
	}
	return least
}
