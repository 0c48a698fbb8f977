package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestMajority_ofEachSet(t *testing.T) {
	set := func(lines ...string) agreed { return agreed{Lines: lines} }
	for _, c := range []struct {
		sets agreement
		yes  map[string]time.Duration
		want time.Duration // below zero for no
	}{
		{nil, map[string]time.Duration{"a": 0}, -1},
		{agreement{set("a")}, map[string]time.Duration{"a": 3}, 3},
		{agreement{set("a", "b")}, map[string]time.Duration{"a": 3}, -1}, // half is no majority
		{agreement{set("a", "b")}, map[string]time.Duration{"a": 3, "b": 7}, 7},
		{agreement{set("a", "b", "c")}, map[string]time.Duration{"a": 3, "b": 7, "c": 9}, 7},
		{agreement{set("a", "b", "c", "d")}, map[string]time.Duration{"a": 3, "b": 7, "x": 1}, -1},
		{agreement{set("a", "b", "c"), set("c", "d", "e")}, map[string]time.Duration{"a": 1, "c": 2, "d": 5}, 5},
		{agreement{set("a", "b", "c"), set("d", "e")}, map[string]time.Duration{"a": 1, "c": 2, "d": 5}, -1},
		{unanimous([]string{"a", "b", "c"}), map[string]time.Duration{"a": 1, "b": 2}, -1},
		{unanimous([]string{"a", "b", "c"}), map[string]time.Duration{"a": 1, "b": 2, "c": 8}, 8},
	} {
		got, ok := c.sets.proven(c.yes)
		if !ok {
			got = -1
		}
		if got != c.want {
			t.Errorf("%v by %v: %v, want %v", c.sets, c.yes, got, c.want)
		}
	}
}

// Two groups of agents that both have majorities of the same sets have somebody in common.
func TestMajority_twoHaveSomebodyInCommon(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	both := 0
	for range 20000 {
		var names []string
		for i := range 1 + rng.IntN(7) {
			names = append(names, fmt.Sprint(i))
		}
		one, other := map[string]time.Duration{}, map[string]time.Duration{}
		for _, name := range names {
			if rng.IntN(2) == 0 {
				one[name] = 0
			}
			if rng.IntN(2) == 0 {
				other[name] = 0
			}
		}
		a := agreement{{N: 1, Lines: names, Formed: true}}
		_, ok := a.proven(one)
		_, too := a.proven(other)
		if ok && too {
			both++
			if !slices.ContainsFunc(names, func(name string) bool { _, in := one[name]; _, there := other[name]; return in && there }) {
				t.Fatalf("of %v both %v and %v are majorities", names, one, other)
			}
		}
	}
	if both < 1000 {
		t.Errorf("only %d times two majorities", both)
	}
}

// What is older than the last formed set has no say; what may be newer has.
func TestMajority_whatHasASay(t *testing.T) {
	m, n, o := agreed{N: 3, Lines: []string{"a", "b", "c"}, Formed: true}, agreed{N: 5, Lines: []string{"a", "b"}}, agreed{N: 4, Lines: []string{"b", "c"}}
	formed := n
	formed.Formed = true
	for _, c := range []struct{ a, b, want agreement }{
		{agreement{m}, nil, agreement{m}},
		{agreement{m}, agreement{n}, agreement{m, n}},
		{agreement{m, o}, agreement{n}, agreement{m, o, n}},
		{agreement{m, o}, agreement{formed}, agreement{formed}},
		{agreement{m, n}, agreement{m, formed}, agreement{formed}},
		{nil, agreement{n}, agreement{n}},
	} {
		if got := c.a.with(c.b); got.id() != c.want.id() {
			t.Errorf("%v with %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
	if got := (agreement{m, n}).formed(); got.id() != (agreement{m}).id() || (agreement{m, n}).next() != 6 || (agreement{m, n}).last(n.Lines) == nil {
		t.Errorf("formed %v", got)
	}
}

// A machine that slept, and one whose clock was set, have the longer time.
func TestMajority_ageByBothClocks(t *testing.T) {
	then := time.Now()
	if age := ageOf(then.Add(3*time.Second), then); age != 3*time.Second {
		t.Error(age)
	}
	slept := time.Unix(0, then.UnixNano()).Add(time.Minute) // no reading of the other clock
	if age := ageOf(slept, then); age < 59*time.Second {
		t.Error(age)
	}
}
