package dedup

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// A filter admits each of its keys, as the very one it is, and hardly another.
func TestFilter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{1, 2, 3, 63, 64, 65, 255, 256, 257, 1000, 40_000} {
		for _, width := range []uint{0, 1, 5, 8, 11, widthMax} {
			keys := make([]uint64, n)
			for i := range keys {
				keys[i] = rng.Uint64() >> (i % 3) // some buckets are full, some are empty
			}
			slices.Sort(keys)
			// The first bits are the segment's, which a filter does not know.
			slices.SortStableFunc(keys, func(a, b uint64) int { return cmp.Compare(a<<segmentBits, b<<segmentBits) })
			f := newFilter(n, width)
			for i, k := range keys {
				f.put(i, k)
			}
			if !f.end() {
				t.Fatalf("%d keys of width %d: no bitmap", n, width)
			}
			for i, k := range keys {
				if from, to := f.find(k); i < from || i >= to {
					t.Fatalf("%d keys of width %d: key %d is said to be in [%d, %d)", n, width, i, from, to)
				}
			}
			wrong := 0
			for range 2000 {
				if from, to := f.find(rng.Uint64()); from < to {
					wrong++
				}
			}
			if width >= 8 && wrong > 2000*4>>width+8 {
				t.Errorf("%d keys of width %d: %d of 2000 errors", n, width, wrong)
			}
			memory, disk := filterBytes(n, width)
			if int(memory) != 8*len(f.words) || int(disk) != 8*len(f.kept()) {
				t.Errorf("%d keys of width %d: %d and %d bytes", n, width, memory, disk)
			}
		}
	}
}

func TestFilterWithoutItsBits(t *testing.T) {
	f := newFilter(100, 4)
	for i := range 100 {
		f.put(i, uint64(i)<<49)
	}
	if !f.end() {
		t.Fatal("it was one")
	}
	f.bitmap[0] ^= 1
	if f.end() {
		t.Fatal("a key too few")
	}
}

// The table gives up its segments in order, and nothing is left.
func TestTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, limit := range []int{4, 16, 300, 5000} {
		tab := newTable(limit)
		want := map[slot]bool{}
		for i := range int64(limit) {
			s := slot{hash: rng.Uint64() | uint64(i%3)<<62, offset: i + 1} // a third lies at the end and goes around
			tab.insert(s.hash, s.offset)
			want[s] = true
			if got := tab.appendOffsets(nil, s.hash); !slices.Contains(got, s.offset) {
				t.Fatalf("%v is not there", s)
			}
		}
		if !tab.full() {
			t.Fatal("not full")
		}
		var all []slot
		counts := tab.segmentCounts()
		for i := range segments {
			had := len(all)
			all = tab.appendSegment(all, i)
			if len(all)-had != int(counts[i]) {
				t.Fatalf("segment %d has %d, the count is %d", i, len(all)-had, counts[i])
			}
		}
		for _, s := range all {
			delete(want, s)
		}
		if !slices.IsSortedFunc(all, slot.compare) || len(all) != limit || len(want) != 0 {
			t.Fatalf("%d of %d slots, %d lost", len(all), limit, len(want))
		}
	}
}
