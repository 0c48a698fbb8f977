package workbench

import (
	"math/rand/v2"
	"testing"
	"time"
)

// Compares the heap with a sorted slice, with keys that change in place, removals from the middle, and count.
func TestDueHeapAgainstASortedSlice(t *testing.T) {
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 4))
		var h dueHeap
		where := make(map[uint32]int32)
		at := func(id uint32, pos int32) { where[id] = pos }
		model := make(map[uint32]node)
		for step := range 20_000 {
			n := node{due: int64(rng.IntN(500)), tie: rng.Uint32N(5), id: rng.Uint32N(300) + 1}
			if rng.IntN(20) == 0 {
				n.due = noDue
			}
			_, in := model[n.id]
			switch {
			case !in:
				h.push(n, at)
				model[n.id] = n
			case rng.IntN(3) == 0:
				h.remove(where[n.id], at)
				delete(model, n.id)
				if where[n.id] != 0 {
					t.Fatal("a removed node has a place")
				}
			default:
				h.set(where[n.id], n.due, n.tie, at)
				model[n.id] = n
			}
			if len(h) != len(model) {
				t.Fatal(len(h), len(model))
			}
			if step%50 != 0 {
				continue
			}
			limit, due := int64(rng.IntN(500)), 0
			for id, n := range model {
				if h[where[id]-1] != n {
					t.Fatalf("node %d is not in its place", id)
				}
				if n.due <= limit {
					due++
				}
				if n.before(h[0]) {
					t.Fatal("the head is not the first")
				}
			}
			if got := h.count(limit, 1000); got != due {
				t.Fatalf("%d are due by %d, counted %d", due, limit, got)
			}
		}
	}
}

// Above its budget, count returns a good estimate.
func TestDueHeapEstimate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var h dueHeap
	const n = 50_000
	for id := range uint32(n) {
		h.push(node{due: int64(rng.IntN(1000)), tie: id, id: id}, func(uint32, int32) {})
	}
	for _, limit := range []int64{100, 300, 500, 900, 1000} {
		want := int(limit) * n / 1000
		if got := h.count(limit-1, frontExact); got < want-n/15 || got > want+n/15 || got <= frontExact {
			t.Errorf("about %d are due, estimated %d", want, got)
		}
	}
	if got := h.count(-1, frontExact); got != 0 {
		t.Error("nothing is due, counted", got)
	}
}

func TestIndexAgainstAMap(t *testing.T) {
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 5))
		var x index
		// Few hash values make long probe sequences and equal tags.
		hashes := make([]uint64, 3000)
		for i := range hashes {
			hashes[i] = uint64(rng.IntN(4))<<60 | uint64(rng.IntN(200))
		}
		in := make(map[uint32]bool)
		for range 50_000 {
			id := rng.Uint32N(uint32(len(hashes)-1)) + 1
			found := x.find(hashes[id], func(got uint32) bool { return got == id })
			if (found == id) != in[id] || (found != 0 && found != id) {
				t.Fatalf("find %d: %d, in the map: %v", id, found, in[id])
			}
			switch {
			case !in[id] && len(in) < 2000:
				x.add(hashes[id], id)
				in[id] = true
			case in[id] && rng.IntN(2) == 0:
				x.remove(hashes[id], id)
				delete(in, id)
			}
		}
	}
}

// A step of the wall clock moves no due time, because delays use the monotonic clock. A snapshot uses the wall clock.
func TestClockSteps(t *testing.T) {
	now := time.Now() // has a monotonic reading
	var c clock
	c.see(now)
	due := c.offset(now.Add(time.Minute))
	stepped := now.Round(0).Add(time.Hour) // the same moment as now, on a wall clock that was an hour slow
	if got := c.time(due); !got.Equal(now.Add(time.Minute)) {
		t.Error(got)
	}
	c.skew = int64(stepped.Sub(now.Round(0)))
	wall := c.wall() + due
	if want := stepped.Add(time.Minute).UnixNano(); wall != want {
		t.Error(wall-want, "ns off")
	}

	r := restored(c.wall())
	if before := r.time(due); before.UnixNano() != wall {
		t.Error("before the first time is seen:", before)
	}
	later := time.Now()
	r.see(later)
	if got := r.time(due).UnixNano() - wall; got != 0 {
		t.Error("after it:", got)
	}
	if r.offset(later) >= due || r.offset(time.Time{}) != noDue || !r.time(noDue).IsZero() {
		t.Error("offsets")
	}
	if r.offset(time.Unix(1<<40, 0)) <= due {
		t.Error("the far future is past")
	}
}

func TestClockSkewIsMeasured(t *testing.T) {
	now := time.Now()
	c := clock{base: now, anchored: true}
	c.see(now.Add(time.Second))
	if c.skew != 0 {
		t.Error("skew without a step:", c.skew)
	}
	// A base whose wall reading was an hour behind that of now.
	c = clock{base: time.Unix(1e9, 0), anchored: true}
	c.see(time.Unix(1e9+5, 0))
	if c.skew != 0 || c.wall() != 1e18 {
		t.Error(c.skew, c.wall())
	}
}
