package buffers

import (
	"math/rand/v2"
	"testing"
)

// The tiers against a plain count: never more buffers than allowed, each lent once, large enough, and content kept.
func TestBuffersModel(t *testing.T) {
	sizes := [Sizes]Size{{4 << 10, 4}, {8 << 10, 3}, {16 << 10, 2}}
	pool := new(Pool)
	pool.Init(sizes)
	rng := rand.New(rand.NewPCG(1, 2))
	var lent []Buffer
	out := make([]int, 3)
	for range 5000 {
		if len(lent) > 0 && rng.IntN(2) == 0 {
			i := rng.IntN(len(lent))
			pool.Return(lent[i])
			out[lent[i].tier-1]--
			lent[i] = lent[len(lent)-1]
			lent = lent[:len(lent)-1]
			continue
		}
		need := 1 + rng.IntN(pool.LargestSize())
		want := -1
		for i := range sizes {
			if want < 0 && sizes[i].Bytes >= need && out[i] < sizes[i].Count {
				want = i
			}
		}
		b, ok := pool.Take(need)
		if ok != (want >= 0) || (ok && (int(b.tier) != want+1 || len(b.B) < need)) {
			t.Fatalf("need %d with %v out: tier %d, %v; want %d", need, out, b.tier, ok, want+1)
		}
		if ok {
			for _, other := range lent {
				if &other.B[0] == &b.B[0] {
					t.Fatal("a buffer was lent twice")
				}
			}
			out[want]++
			lent = append(lent, b)
		}
	}
	if s := pool.Stats(); s.BuffersOut != [3]int(out) || s.BuffersMade[0] > 4 || s.BuffersMade[1] > 3 ||
		s.BuffersMade[2] > 2 {
		t.Errorf("%+v, %v out", s, out)
	}
}

// What TakeSmallest could not give can be returned like any buffer, and the pool does not take it for one.
func TestTakeSmallest_givesNothingThatTheCountWouldMiss(t *testing.T) {
	p := new(Pool)
	p.Init([Sizes]Size{{4 << 10, 1}, {8 << 10, 1}, {16 << 10, 1}})
	only, _ := p.TakeSmallest(1)
	none, ok := p.TakeSmallest(1)
	if p.Return(none); ok || none.B != nil || p.Stats().BuffersOut[0] != 1 {
		t.Errorf("without a free buffer: %v of %d bytes, then %+v", ok, len(none.B), p.Stats())
	}
	p.Return(only)
	for n, tier := range []int8{1, 2} {
		if b, ok := p.Take(1); !ok || b.tier != tier {
			t.Errorf("buffer %d is of tier %d, want %d", n, b.tier, tier)
		}
	}
}

// After a burst of two thousand pages, pages are fetched one at a time, and the unneeded buffers are released.
func TestBuffersOfABurstAreLetGo(t *testing.T) {
	const burst = 2000
	p := new(Pool)
	p.Init([Sizes]Size{{4 << 10, burst}, {8 << 10, 1}, {16 << 10, 1}})
	var out []Buffer
	for range burst {
		b, ok := p.Take(1)
		if !ok {
			t.Fatal("no buffer")
		}
		out = append(out, b)
	}
	most := p.Memory()
	for _, b := range out {
		p.Return(b)
	}
	for range 20 * trimEvery {
		b, ok := p.Take(1)
		if !ok {
			t.Fatal("no buffer")
		}
		p.Return(b)
	}
	if most != burst*4<<10 || p.Memory() > 8*4<<10 {
		t.Errorf("%d bytes at most, %d for one page at a time", most, p.Memory())
	}
	for range burst {
		if _, ok := p.Take(1); !ok {
			t.Fatal("a buffer that was released is not allocated again")
		}
	}
}
