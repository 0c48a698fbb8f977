package ring

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// assignmentKinds are the implementations. Most tests run with each of them.
func assignmentKinds() map[string]func([]Member) (Assignment, error) {
	return map[string]func([]Member) (Assignment, error){
		"consistent": func(m []Member) (Assignment, error) { return NewConsistent(m, 50) },
		"rendezvous": func(m []Member) (Assignment, error) { return NewRendezvous(m) },
	}
}

func forEachKind(t *testing.T, f func(t *testing.T, make func([]Member) Assignment)) {
	t.Helper()
	for name, kind := range assignmentKinds() {
		t.Run(name, func(t *testing.T) {
			f(t, func(members []Member) Assignment {
				a, err := kind(members)
				if err != nil {
					t.Fatal(err)
				}
				return a
			})
		})
	}
}

// randomMembers returns n members with random capacities from 1 to the given one.
func randomMembers(r *rand.Rand, n, capacity int) []Member {
	all := make([]Member, n)
	for i := range all {
		all[i] = Member{ID: fmt.Sprintf("agent-%d", r.Uint32()), Capacity: 1 + r.IntN(capacity)}
	}
	return all
}

func ownerID(a Assignment, key uint64) string { return a.Members()[a.Owner(key)].ID }

// UbiCrawler calls this contravariance.
func TestO2_noHostMovesBetweenRemainingMembers(t *testing.T) {
	forEachKind(t, func(t *testing.T, make func([]Member) Assignment) {
		r := rand.New(rand.NewPCG(1, 2))
		for range 40 {
			all := randomMembers(r, 2+r.IntN(30), 4)
			before := slices.DeleteFunc(slices.Clone(all), func(Member) bool { return r.IntN(3) == 0 })
			after := slices.DeleteFunc(slices.Clone(all), func(Member) bool { return r.IntN(3) == 0 })
			if len(before) == 0 || len(after) == 0 {
				continue
			}
			a, b := make(before), make(after)
			remains := func(id string) bool {
				has := func(m Member) bool { return m.ID == id }
				return slices.ContainsFunc(before, has) && slices.ContainsFunc(after, has)
			}
			for range 2000 {
				key := r.Uint64()
				if from, to := ownerID(a, key), ownerID(b, key); from != to && remains(from) && remains(to) {
					t.Fatalf("key %x moves from %s to %s, which both remain", key, from, to)
				}
			}
		}
	})
}

func TestO2_moreCapacityMovesHostsToThatMemberOnly(t *testing.T) {
	forEachKind(t, func(t *testing.T, make func([]Member) Assignment) {
		r := rand.New(rand.NewPCG(3, 4))
		for range 20 {
			all := randomMembers(r, 8, 3)
			more := slices.Clone(all)
			more[3].Capacity++
			before, after := make(all), make(more)
			for range 2000 {
				key := r.Uint64()
				if from, to := ownerID(before, key), ownerID(after, key); from != to && to != more[3].ID {
					t.Fatalf("key %x moves from %s to %s", key, from, to)
				}
			}
		}
	})
}

func TestO1_ownerDoesNotDependOnTheOrderOfMembers(t *testing.T) {
	forEachKind(t, func(t *testing.T, make func([]Member) Assignment) {
		r := rand.New(rand.NewPCG(5, 6))
		all := randomMembers(r, 20, 5)
		shuffled := slices.Clone(all)
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		a, b := make(all), make(shuffled)
		for range 5000 {
			if key := r.Uint64(); ownerID(a, key) != ownerID(b, key) {
				t.Fatalf("%x has two owners", key)
			}
		}
	})
}

// nearestByDefinition is the reference implementation: the nearest of all replicas in either direction. If two are
// equally near, the smaller identifier wins.
func nearestByDefinition(members []Member, replicas int, key uint64) string {
	best, least := "", uint64(math.MaxUint64)
	for _, m := range members {
		state := m.seed()
		for range m.Capacity * replicas {
			state += splitMixStep
			at := splitMix(state)
			gap := min(key-at, at-key)
			if best == "" || gap < least || gap == least && m.ID < best {
				best, least = m.ID, gap
			}
		}
	}
	return best
}

func TestO4_consistentOwnerIsTheNearestReplica(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 60 {
		members, replicas := randomMembers(r, 1+r.IntN(5), 3), 1+r.IntN(4)
		c, err := NewConsistent(members, replicas)
		if err != nil {
			t.Fatal(err)
		}
		keys := []uint64{0, 1, math.MaxUint64, math.MaxUint64 - 1, 1 << 63}
		n := 0
		for _, m := range members {
			n += m.Capacity * replicas
		}
		for from := range arcStarts(newPointList(c.members, replicas, n).each) {
			keys = append(keys, from, from-1, from+1, from+1<<20)
		}
		for range 200 {
			keys = append(keys, r.Uint64())
		}
		for _, key := range keys {
			if got, want := ownerID(c, key), nearestByDefinition(members, replicas, key); got != want {
				t.Fatalf("%d members, %d replicas, key %x: %s, want %s", len(members), replicas, key, got, want)
			}
		}
	}
}

// Two replicas may have one position, and a key may lie exactly in the middle: then the smaller identifier owns it. The
// arc around key 0 is yielded in two parts.
func TestArcStarts_theSmallerIdentifierWins(t *testing.T) {
	const end = math.MaxUint64
	for _, c := range []struct {
		points []point
		want   []point // first keys
	}{
		{[]point{{10, 1}, {20, 0}, {30, 1}}, []point{{0, 1}, {15, 0}, {26, 1}}},
		{[]point{{10, 0}, {20, 0}}, []point{{0, 0}}},
		{[]point{{7, 3}}, []point{{0, 3}}},
		{[]point{{1, 0}, {end, 1}}, []point{{0, 0}, {1<<63 + 1, 1}}},                   // 0 is in the middle
		{[]point{{1, 1}, {end, 0}}, []point{{0, 0}, {1, 1}, {1 << 63, 0}}},             // and goes to the smaller one
		{[]point{{1, 0}, {end - 4, 1}}, []point{{0, 0}, {1<<63 - 1, 1}, {end - 1, 0}}}, // the last arc belongs to member 0
		{[]point{{5, 0}, {end, 1}}, []point{{0, 1}, {2, 0}, {1<<63 + 3, 1}}},           // the first arc belongs to member 1
		{[]point{{5, 2}, {9, 1}, {11, 2}, {end, 2}}, []point{{0, 2}, {7, 1}, {11, 2}}}, // one member on both sides of 0
		{[]point{{0, 0}, {1, 1}, {2, 0}, {3, 1}}, []point{{0, 0}, {1, 1}, {2, 0}, {3, 1}, {1<<63 + 2, 0}}},
	} {
		var got []point
		for first, member := range arcStarts(slices.Values(c.points)) {
			got = append(got, point{first, member})
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.points, got, c.want)
		}
	}
	// Of two points at one position only the first is yielded.
	list := &pointList{
		packed: []uint64{8 << 1, 8<<1 | 1, 9<<1 | 1, 3 << 1, 3<<1 | 1}, partEnds: []uint32{3, 5}, partBits: 1,
	}
	if got, want := slices.Collect(list.each), []point{{8, 0}, {9, 1}, {1<<63 + 3, 0}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The reference computes -log(u)/capacity with floating-point numbers. Keys whose two best scores are too close for
// that precision are not compared.
func TestO4_rendezvousOwnerHasTheLeastCost(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for range 50 {
		rv, err := NewRendezvous(randomMembers(r, 1+r.IntN(40), MaxCapacity))
		if err != nil {
			t.Fatal(err)
		}
		for range 500 {
			key := r.Uint64()
			best, least, second := 0, math.Inf(1), math.Inf(1)
			for i, m := range rv.members {
				score := -math.Log2(float64(splitMix(key^rv.seeds[i]))/(1<<64)) / float64(m.Capacity)
				if score < least {
					best, least, second = i, score, least
				} else {
					second = min(second, score)
				}
			}
			if got := rv.Owner(key); got != best && second-least > 1e-6*least {
				t.Fatalf("key %x: %s, want %s", key, rv.members[got].ID, rv.members[best].ID)
			}
		}
	}
}

// Members that the lower bound rules out would not have won. Of equal costs the first wins.
func TestRendezvous_theLowerBoundDoesNotChangeTheOwner(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 20))
	for _, capacity := range []int{1, 4, MaxCapacity} {
		for _, n := range []int{1, 2, 3, 10, 64, 300} {
			rv, err := NewRendezvous(randomMembers(r, n, capacity))
			if err != nil {
				t.Fatal(err)
			}
			for i := range 3000 {
				key := r.Uint64()
				if i < n {
					key = rv.seeds[i] // for which it draws 0
				}
				want, least, weight := 0, uint64(math.MaxUint64), uint64(1)
				for i, w := range rv.weights {
					if cost := rv.log.cost(splitMix(key ^ rv.seeds[i])); i == 0 || cost*weight < least*w {
						want, least, weight = i, cost, w
					}
				}
				if got := rv.Owner(key); got != want {
					t.Fatalf("%d members, key %x: %d, want %d", n, key, got, want)
				}
			}
		}
	}
}

// The error of a cost is at most 10^-6. A cost never rises with its number, and is never below the lower bound.
func TestCost_isALogarithm(t *testing.T) {
	table := newLogTable()
	r := rand.New(rand.NewPCG(11, 12))
	for range 200_000 {
		u := r.Uint64() >> r.IntN(64)
		cost := table.cost(u)
		f, _ := new(big.Float).SetUint64(max(u, 1)).Float64()
		if want := (64 - math.Log2(f)) * (1 << fractionBits); math.Abs(float64(cost)-want) > 1e-6*(1<<fractionBits) {
			t.Fatalf("cost of %x: %d, want %.0f", u, cost, want)
		}
		if u > 1 && table.cost(u-1) < cost {
			t.Fatalf("cost falls before %x", u)
		}
		if costLowerBound(u) > cost {
			t.Fatalf("lower bound of %x: %d, cost %d", u, costLowerBound(u), cost)
		}
	}
}

// The test vectors of docs/ring.md, for other programs.
func TestO4_testVectors(t *testing.T) {
	m := Member{ID: "agent-1", Capacity: 1}
	same := func(what string, got, want uint64) {
		t.Helper()
		if got != want {
			t.Errorf("%s is %#x, want %#x", what, got, want)
		}
	}
	same("the key of example.org", Key([]byte("example.org")), 0x4037554f7ebcbf45)
	same("the seed of agent-1", m.seed(), 0xa4fac5cdb831c7ae)
	state := m.seed()
	for k, want := range []uint64{0xa83e41e82be9c4dd, 0x2cd5a7cda1cb3d43, 0x496a274ebb5bca67} {
		state += splitMixStep
		same(fmt.Sprintf("replica %d of agent-1", k), splitMix(state), want)
	}
	table := newLogTable()
	same("entry 1", table[1], 0x5c4994dd0)
	same("entry 512", table[512], 0x95c01a39fbd)
	same("entry 1023", table[1023], 0xffd1d28e4f2)
	same("the cost of 2^63", table.cost(1<<63), 1<<fractionBits)
	same("the cost of 0x123456789abcdef", table.cost(0x123456789abcdef), 0x7d053f782c5a)

	four := []Member{{"agent-1", 1}, {"agent-2", 1}, {"agent-3", 2}, {"agent-4", 4}}
	c, cerr := NewConsistent(four, 100)
	r, rerr := NewRendezvous(four)
	if err := errors.Join(cerr, rerr); err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string][2]string{
		"example.org":     {"agent-3", "agent-3"},
		"www.example.org": {"agent-2", "agent-4"},
		"example.com":     {"agent-4", "agent-4"},
		"192.0.2.1":       {"agent-3", "agent-4"},
		"2001:db8::1":     {"agent-2", "agent-4"},
		"a.example":       {"agent-4", "agent-4"},
		"b.example":       {"agent-3", "agent-4"},
		"c.example":       {"agent-4", "agent-3"},
	} {
		key := Key([]byte(host))
		if got := [2]string{ownerID(c, key), ownerID(r, key)}; got != want {
			t.Errorf("%s belongs to %v, want %v", host, got, want)
		}
	}
}

func TestMembers_allFaultsAreReported(t *testing.T) {
	forEachKind(t, func(t *testing.T, _ func([]Member) Assignment) {
		kind := assignmentKinds()[strings.TrimPrefix(t.Name(), "TestMembers_allFaultsAreReported/")]
		for _, c := range []struct {
			members []Member
			want    []string
		}{
			{nil, []string{"0 members: want 1 to"}},
			{[]Member{{"a", 1}, {"a", 2}}, []string{`two members have the identifier "a"`}},
			{[]Member{{"", 1}, {"b", 0}, {"c", 1001}}, []string{"no identifier", `"b" has capacity 0`, `"c" has capacity 1001`}},
		} {
			_, err := kind(c.members)
			if !errors.Is(err, ErrMembers) {
				t.Fatalf("%v: %v", c.members, err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v: %v: want %q", c.members, err, want)
				}
			}
		}
	})
}
