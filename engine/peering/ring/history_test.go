package ring

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// memberHistory simulates the membership of a long crawl: a sequence of member sets. Each set differs from the previous
// one by a few members that were added, removed or given another capacity.
type memberHistory struct {
	rng        *rand.Rand
	candidates []Member
	alive      []bool // by index in candidates
}

func newMemberHistory(seed uint64) *memberHistory {
	h := &memberHistory{rng: rand.New(rand.NewPCG(seed, 21))}
	h.candidates = randomMembers(h.rng, 24, 4)
	h.alive = make([]bool, len(h.candidates))
	for i := range h.alive {
		h.alive[i] = h.rng.IntN(2) == 0
	}
	h.alive[0] = true
	return h
}

// next changes the set and returns it in random order.
func (h *memberHistory) next() []Member {
	for range 1 + h.rng.IntN(3) {
		i := h.rng.IntN(len(h.candidates))
		if h.rng.IntN(3) == 0 {
			h.candidates[i].Capacity = 1 + h.rng.IntN(4)
		} else {
			h.alive[i] = !h.alive[i]
		}
	}
	if !slices.Contains(h.alive, true) {
		h.alive[0] = true
	}
	return h.current()
}

// current returns the set in random order.
func (h *memberHistory) current() (members []Member) {
	for i, m := range h.candidates {
		if h.alive[i] {
			members = append(members, m)
		}
	}
	h.rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return members
}

func capacities(members []Member) map[string]int {
	byID := map[string]int{}
	for _, m := range members {
		byID[m.ID] = m.Capacity
	}
	return byID
}

func TestO2_aThousandChangesMoveOnlyHostsOfChangedMembers(t *testing.T) {
	forEachKind(t, func(t *testing.T, make func([]Member) Assignment) {
		h := newMemberHistory(22)
		moved := 0
		before := make(h.current())
		for range 1000 {
			after, shuffled := make(h.next()), make(h.current())
			old, now := capacities(before.Members()), capacities(after.Members())
			for range 500 {
				key := h.rng.Uint64()
				from, to := ownerID(before, key), ownerID(after, key)
				if other := ownerID(shuffled, key); other != to { // O1
					t.Fatalf("key %x: owners %s and %s for the same members in another order", key, to, other)
				}
				if from == to {
					continue
				}
				if moved++; now[from] >= old[from] && now[to] <= old[to] {
					t.Fatalf("key %x moves from %s (capacity %d, before %d) to %s (capacity %d, before %d)",
						key, from, now[from], old[from], to, now[to], old[to])
				}
			}
			before = after
		}
		if moved < 10_000 {
			t.Errorf("only %d hosts moved: too few for this test", moved)
		}
	})
}

// If the capacity of one member changes, each host that moves must move to this member or from it.
func TestO2_aNewCapacityMovesHostsOfThatMemberOnly(t *testing.T) {
	forEachKind(t, func(t *testing.T, make func([]Member) Assignment) {
		h := newMemberHistory(23)
		moved := 0
		for range 300 {
			before := h.next()
			after := slices.Clone(before)
			changed := &after[h.rng.IntN(len(after))]
			old := changed.Capacity
			changed.Capacity = 1 + h.rng.IntN(6)
			a, b := make(before), make(after)
			for range 500 {
				key := h.rng.Uint64()
				from, to := ownerID(a, key), ownerID(b, key)
				if from == to {
					continue
				}
				moved++
				if changed.Capacity > old && to != changed.ID || changed.Capacity < old && from != changed.ID ||
					changed.Capacity == old {
					t.Fatalf("key %x moves from %s to %s when the capacity of %s changes from %d to %d",
						key, from, to, changed.ID, old, changed.Capacity)
				}
			}
		}
		if moved < 1000 {
			t.Errorf("only %d hosts moved: too few for this test", moved)
		}
	})
}

func TestOwner_allocatesNothing(t *testing.T) {
	forEachKind(t, func(t *testing.T, make func([]Member) Assignment) {
		a, key := make(randomMembers(rand.New(rand.NewPCG(24, 25)), 64, 4)), uint64(1)
		if n := testing.AllocsPerRun(1000, func() { key = splitMix(key + uint64(a.Owner(key))) }); n > 0 {
			t.Errorf("%v allocations", n)
		}
	})
}
