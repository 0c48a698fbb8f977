// Package histogram counts values by size, for metrics. A histogram has fixed ranges. Those of
// Durations and Sizes are each twice as wide as the one before, so a value finds its range without a search. Observe
// allocates nothing and takes no lock.
//
// # Shards
//
// The counts are in Shards copies, each on cache lines of its own, and a caller says which one it uses. Workers that
// use different shards do not wait for each other's cache lines. Load adds them up; a value that is observed meanwhile
// may be missing, or be in a count and not yet in the sum.
//
// # Costs
//
// Observe is two atomic additions: some 10 ns (BenchmarkObserve). A histogram takes about 2 KiB.
package histogram
