package invitro

import (
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
)

// Under the race detector a crawl takes five times as long, and the whole of this package would take half an hour of CI. What it looks
// for, two goroutines at one place without an order, does not depend on which world is crawled, at which moment the crawl is killed or
// which byte is spoiled: these are judged without it, by all the cases. So under it no test is left out, but each goes through fewer cases
// and smaller webs. Which cases, changes from run to run.

// thin is a number of things, or the few that are enough under the race detector.
func thin(all, few int) int {
	if raceEnabled {
		return few
	}
	return all
}

// worlds are the numbers of the seeds that a test goes through: all, or one of them.
func worlds() iter.Seq[int] {
	return func(yield func(int) bool) {
		chosen := rand.IntN(max(*seedCount, 1))
		for i := range *seedCount {
			if (!raceEnabled || i == chosen) && !yield(i) {
				return
			}
		}
	}
}

// some gives all cases, or a third of them under the race detector: at least one.
func some[T any](all []T) iter.Seq2[int, T] { return third(len(all), slices.All(all)) }

// someOf is some of a map.
func someOf[K comparable, V any](all map[K]V) iter.Seq2[K, V] { return third(len(all), maps.All(all)) }

func third[K, V any](n int, all iter.Seq2[K, V]) iter.Seq2[K, V] {
	if !raceEnabled {
		return all
	}
	return func(yield func(K, V) bool) {
		chosen, i := rand.IntN(min(n, 3)), 0
		for k, v := range all {
			if i%3 == chosen && !yield(k, v) {
				return
			}
			i++
		}
	}
}
