package invitro

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

// A test of this package runs in two sizes. In make test, and under the race detector, which makes a crawl five times as slow, each test
// takes one seed, a third of its cases and a small web. With the build tag scenario and without the race detector it takes all. Which
// cases a thinned run takes follows from -seed alone, so a run can be repeated and its result can be cached.

// TestMain prints the seed of the run.
func TestMain(m *testing.M) {
	flag.Parse()
	fmt.Printf("seed %d, thinned %v\n", *firstSeed, thinned)
	os.Exit(m.Run())
}

// thin is a number of things, or the few that are enough for a thinned run.
func thin(all, few int) int {
	if thinned {
		return few
	}
	return all
}

// worlds are the numbers of the seeds that a test goes through: all, or one of them.
func worlds() iter.Seq[int] {
	return func(yield func(int) bool) {
		chosen := pick(*seedCount)
		for i := range *seedCount {
			if (!thinned || i == chosen) && !yield(i) {
				return
			}
		}
	}
}

// some gives all cases, or a third of them in a thinned run: at least one.
func some[T any](all []T) iter.Seq2[int, T] { return third(len(all), slices.All(all)) }

// someOf is some of a map, in the order of its keys.
func someOf[K cmp.Ordered, V any](all map[K]V) iter.Seq2[K, V] {
	return third(len(all), func(yield func(K, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(all)) {
			if !yield(k, all[k]) {
				return
			}
		}
	})
}

func third[K, V any](n int, all iter.Seq2[K, V]) iter.Seq2[K, V] {
	if !thinned {
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

// pick is a number below n that follows from the seed.
func pick(n int) int { return int(*firstSeed % uint64(max(n, 1))) }
