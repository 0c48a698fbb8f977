//go:build race

package invariants

// Race reports whether the race detector is on, for tests of times and allocations.
const Race = true
