package ring

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// schedule is a crawl's history as one agent sees it: a thousand sets of agents, each of which differs from the last by a few who came, left
// or changed their capacity.
type schedule struct {
	rng   *rand.Rand
	all   []Member // whoever can be there
	alive []bool
}

func newSchedule(seed uint64) *schedule {
	s := &schedule{rng: rand.New(rand.NewPCG(seed, 21))}
	s.all = agents(s.rng, 24, 4)
	s.alive = make([]bool, len(s.all))
	for i := range s.alive {
		s.alive[i] = s.rng.IntN(2) == 0
	}
	s.alive[0] = true
	return s
}

// next changes the set, and gives it in an order of its own.
func (s *schedule) next() []Member {
	for range 1 + s.rng.IntN(3) {
		i := s.rng.IntN(len(s.all))
		if s.rng.IntN(3) == 0 {
			s.all[i].Capacity = 1 + s.rng.IntN(4)
		} else {
			s.alive[i] = !s.alive[i]
		}
	}
	if !slices.Contains(s.alive, true) {
		s.alive[0] = true
	}
	return s.view()
}

func (s *schedule) view() (members []Member) {
	for i, m := range s.all {
		if s.alive[i] {
			members = append(members, m)
		}
	}
	s.rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return members
}

func capacities(members []Member) map[string]int {
	all := map[string]int{}
	for _, m := range members {
		all[m.ID] = m.Capacity
	}
	return all
}

// Whatever came before, agents with equal views agree on every host. And a host leaves only an agent that went away or takes less than
// before, or goes only to one that came or takes more: nothing moves between two that stay as they were.
func TestOwner_inEverySetOfAThousandAllAgreeAndOnlyWhoChangedGivesOrTakes(t *testing.T) {
	each(t, func(t *testing.T, make func([]Member) Assignment) {
		s := newSchedule(22)
		moved := 0
		was := make(s.view())
		for range 1000 {
			is, others := make(s.next()), make(s.view())
			before, after := capacities(was.Members()), capacities(is.Members())
			for range 500 {
				key := s.rng.Uint64()
				from, to := owner(was, key), owner(is, key)
				if other := owner(others, key); other != to {
					t.Fatalf("%x belongs to %s in one view and to %s in another that is equal", key, to, other)
				}
				if from == to {
					continue
				}
				if moved++; after[from] >= before[from] && after[to] <= before[to] {
					t.Fatalf("%x moves from %s, which has %d and had %d, to %s, which has %d and had %d", key, from, after[from], before[from], to, after[to], before[to])
				}
			}
			was = is
		}
		if moved < 10_000 {
			t.Errorf("only %d hosts moved: the test tests nothing", moved)
		}
	})
}

// One agent takes more, or less: every host that moves goes to it, or comes from it, and the others' shares of the rest stay as they were.
func TestOwner_aChangeOfCapacityMovesHostsToOrFromThatAgentAlone(t *testing.T) {
	each(t, func(t *testing.T, make func([]Member) Assignment) {
		s := newSchedule(23)
		moved := 0
		for range 300 {
			before := s.next()
			after := slices.Clone(before)
			changed := &after[s.rng.IntN(len(after))]
			had := changed.Capacity
			changed.Capacity = 1 + s.rng.IntN(6)
			was, is := make(before), make(after)
			for range 500 {
				key := s.rng.Uint64()
				from, to := owner(was, key), owner(is, key)
				if from == to {
					continue
				}
				if moved++; changed.Capacity > had && to != changed.ID || changed.Capacity < had && from != changed.ID || changed.Capacity == had {
					t.Fatalf("%x moves from %s to %s when %s changes from %d to %d", key, from, to, changed.ID, had, changed.Capacity)
				}
			}
		}
		if moved < 1000 {
			t.Errorf("only %d hosts moved: the test tests nothing", moved)
		}
	})
}

// A look-up takes no memory from the heap.
func TestOwner_allocatesNothing(t *testing.T) {
	each(t, func(t *testing.T, make func([]Member) Assignment) {
		a, key := make(agents(rand.New(rand.NewPCG(24, 25)), 64, 4)), uint64(1)
		if n := testing.AllocsPerRun(1000, func() { key = mix(key + uint64(a.Owner(key))) }); n > 0 {
			t.Errorf("%v allocations", n)
		}
	})
}
