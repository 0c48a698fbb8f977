package cputime

import "runtime"

// referenceUnit is the input of Reference: 1 MiB.
const referenceUnit = 1 << 20

// Reference is work that costs about the same number of instructions on every machine: one step of a hash for each byte of 1 MiB.
func Reference() {
	sum := uint32(0)
	for i := range uint32(referenceUnit) {
		sum = (sum ^ i&0xff) * 16777619
	}
	runtime.KeepAlive(sum) // or the compiler leaves the loop out
}

// smallCost is a multiple of Reference. Growth does not look at less, since the parts that are not linear cost nothing there.
const smallCost = 5

// Growth is how many times the processor time of small large takes: zero if large takes less than five times Reference, as Cost otherwise.
func Growth(runs int, limit float64, large, small func()) float64 {
	if Cost(1, smallCost, large, Reference) <= smallCost {
		return 0
	}
	return Cost(runs, limit, large, small)
}

// Cost is how many times the processor time of reference f takes. A machine that is slow, or that its neighbours slow down, is slow for both.
// The two run alternately. Cost returns as soon as a run is within the limit; otherwise it returns the least of so many runs.
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
