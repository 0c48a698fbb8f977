package testbed

import (
	"cmp"
	"flag"
	"fmt"
	"iter"
	"maps"
	"os"
	"slices"
	"testing"
)

// The flags of every scenario package. They have their values when a test runs.
var (
	FirstSeed = new(uint64) // -seed: of the first world
	SeedCount = new(int)    // -worlds: how many seeds
)

// Main is TestMain of every scenario package. It prints the seed of the run.
func Main(m *testing.M) {
	flag.Uint64Var(FirstSeed, "seed", 1, "first seed of the worlds")
	flag.IntVar(SeedCount, "worlds", 6, "how many seeds")
	flag.Parse()
	fmt.Printf("seed %d, reduced %v\n", *FirstSeed, Reduced)
	os.Exit(m.Run())
}

// Reduce returns all, or few in the reduced size.
func Reduce(all, few int) int {
	if Reduced {
		return few
	}
	return all
}

// WorldSeeds are the numbers of the seeds that a test uses: all, or one in the reduced size.
func WorldSeeds() iter.Seq[int] {
	return func(yield func(int) bool) {
		chosen := pick(*SeedCount)
		for i := range *SeedCount {
			if (!Reduced || i == chosen) && !yield(i) {
				return
			}
		}
	}
}

// Sample yields all cases, or a third of them in the reduced size: at least one.
func Sample[T any](all []T) iter.Seq2[int, T] { return third(len(all), slices.All(all)) }

// SampleMap is Sample of a map, in the order of its keys.
func SampleMap[K cmp.Ordered, V any](all map[K]V) iter.Seq2[K, V] {
	return third(len(all), func(yield func(K, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(all)) {
			if !yield(k, all[k]) {
				return
			}
		}
	})
}

func third[K, V any](n int, all iter.Seq2[K, V]) iter.Seq2[K, V] {
	if !Reduced {
		return all
	}
	return func(yield func(K, V) bool) {
		chosen, i := pick(min(n, 3)), 0
		for k, v := range all {
			if i%3 == chosen && !yield(k, v) {
				return
			}
			i++
		}
	}
}

// pick is a number below n that depends on the seed alone.
func pick(n int) int { return int(*FirstSeed % uint64(max(n, 1))) }
