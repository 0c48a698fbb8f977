package engine

import (
	"fmt"
	"slices"
	"time"

	"github.com/zeebo/xxh3"
)

// agreed is a set of agents, by line and sorted, that some have agreed to be the agents of the crawl.
type agreed struct {
	N      uint64   `json:"n"` // greater than those of all sets before
	Lines  []string `json:"lines"`
	Formed bool     `json:"formed,omitempty"` // all of them had noted it, and a majority of the set before
}

// agreement is what an agent has noted of such sets: the last that was formed, and those that may have been formed since without its knowledge.
// Whoever has a majority of each of them has somebody in common with whoever else has (Yeger Lotem, Keidar, Dolev: Dynamic voting for
// consistent primary components, PODC 1997). Sets are never changed.
type agreement []agreed

// with is all sets of both that have a say: what is older than the last that was formed has none.
func (a agreement) with(b agreement) (joined agreement) {
	formed := uint64(0)
	for _, s := range slices.Concat(a, b) {
		if s.Formed {
			formed = max(formed, s.N)
		}
	}
	for _, s := range slices.Concat(a, b) {
		i := slices.IndexFunc(joined, func(other agreed) bool { return other.N == s.N && slices.Equal(other.Lines, s.Lines) })
		switch {
		case s.N < formed:
		case i < 0:
			joined = append(joined, s)
		case s.Formed:
			joined[i].Formed = true
		}
	}
	return joined
}

// formed is the last sets that were formed.
func (a agreement) formed() (f agreement) {
	for _, s := range a.with(nil) {
		if s.Formed {
			f = append(f, s)
		}
	}
	return f
}

// last is the newest note of a set; nil if there is none.
func (a agreement) last(lines []string) (found *agreed) {
	for i := range a {
		if slices.Equal(a[i].Lines, lines) && (found == nil || a[i].N > found.N) {
			found = &a[i]
		}
	}
	return found
}

// next is the number of a set that comes after all of them.
func (a agreement) next() (n uint64) {
	for _, s := range a {
		n = max(n, s.N)
	}
	return n + 1
}

// id is the hash of the sets; 0 if there are none.
func (a agreement) id() uint64 {
	if len(a) == 0 {
		return 0
	}
	return xxh3.HashString(fmt.Sprintf("%v", []agreed(a)))
}

// proven is how old the proof is that a majority of each set says yes, by how long ago each agent did; false if there is none.
func (a agreement) proven(yes map[string]time.Duration) (oldest time.Duration, ok bool) {
	for _, s := range a {
		var ages []time.Duration
		for _, line := range s.Lines {
			if age, said := yes[line]; said {
				ages = append(ages, age)
			}
		}
		most := len(s.Lines)/2 + 1
		if len(ages) < most {
			return 0, false
		}
		slices.Sort(ages)
		oldest = max(oldest, ages[most-1])
	}
	return oldest, len(a) > 0
}

// unanimous is the agreement that all of some must say yes to: each is a set of its own.
func unanimous(lines []string) (a agreement) {
	for i := range lines {
		a = append(a, agreed{Lines: lines[i : i+1 : i+1]})
	}
	return a
}

// ageOf is how old a moment is: by the clock that does not stop for a change of the time of day, or by the time of day, which does not stop
// while a machine sleeps; the longer of the two.
func ageOf(now, then time.Time) time.Duration {
	return max(now.Sub(then), now.Round(0).Sub(then.Round(0)))
}
