package deflate

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// leastCost returns the least cost of a code without a limit: the two lightest trees are joined repeatedly (Huffman
// 1952).
func leastCost(frequency []uint32) (cost uint64, deepest int) {
	type tree struct {
		weight uint64
		depth  int
	}
	var trees []tree
	for _, f := range frequency {
		if f > 0 {
			trees = append(trees, tree{uint64(f), 0})
		}
	}
	for len(trees) > 1 {
		slices.SortStableFunc(trees, func(a, b tree) int { return int(int64(a.weight) - int64(b.weight)) })
		joined := tree{trees[0].weight + trees[1].weight, max(trees[0].depth, trees[1].depth) + 1}
		cost += joined.weight
		trees = append(trees[2:], joined)
	}
	return cost, trees[0].depth
}

// The lengths form a complete code, of least cost if the limit allows it.
func TestLengthsMakeACode(t *testing.T) {
	var h huffman
	r := rand.New(rand.NewPCG(1, 3))
	for round := range 2000 {
		frequency := make([]uint32, 2+r.IntN(codesMax-1))
		for i := range frequency {
			switch round % 4 {
			case 0:
				frequency[i] = r.Uint32N(3)
			case 1:
				frequency[i] = r.Uint32N(60_000)
			case 2:
				frequency[i] = uint32(1) << min(i, 14) // deep
			case 3:
				frequency[i] = r.Uint32N(2) * r.Uint32N(1+r.Uint32N(1000))
			}
		}
		limit := []int{7, 9, 14}[r.IntN(3)]
		if limit == 7 {
			frequency = frequency[:min(len(frequency), lengthCodes)]
		}
		length := make([]uint8, len(frequency))
		h.lengths(frequency, length, limit)
		used, kraft, cost := 0, 0, uint64(0)
		for symbol, f := range frequency {
			d := int(length[symbol])
			if d > limit || f > 0 && d == 0 {
				t.Fatalf("round %d: a symbol that occurs %d times has %d bits, of at most %d", round, f, d, limit)
			}
			if d > 0 {
				used++
				kraft += 1 << (limit - d)
				cost += uint64(f) * uint64(d)
			}
		}
		if kraft != 1<<limit {
			t.Fatalf("round %d: %d symbols fill %d of %d", round, used, kraft, 1<<limit)
		}
		if slices.Max(frequency) == 0 || used < 3 {
			continue
		}
		if least, deepest := leastCost(frequency); cost < least || deepest <= limit && cost > least {
			t.Fatalf("round %d: %d symbols take %d bits, the least is %d with a tree of depth %d", round, used, cost,
				least, deepest)
		}
	}
}

// TestShapes compares every length and every distance with the tables of RFC 1951.
func TestShapes(t *testing.T) {
	lengths := []int{
		3,
		4,
		5,
		6,
		7,
		8,
		9,
		10,
		11,
		13,
		15,
		17,
		19,
		23,
		27,
		31,
		35,
		43,
		51,
		59,
		67,
		83,
		99,
		115,
		131,
		163,
		195,
		227,
		258,
	}
	for i, first := range lengths {
		want := matchMax
		switch {
		case i == len(lengths)-1:
			want++
		case i < len(lengths)-2:
			want = lengths[i+1]
		}
		from, to, extra := lengthRange(lengthsFrom + i)
		if matchMin+from != first || matchMin+to != want || to-from > 1<<extra || to-from <= 1<<extra/2 {
			t.Errorf("length code %d is for %d to %d, with %d extra bits, want %d to %d", i, matchMin+from, matchMin+to,
				extra, first, want)
		}
	}
	distances := []int{
		1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769,
		1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577,
	}
	for d := 1; d <= windowMax; d++ {
		want, _ := slices.BinarySearch(distances, d+1)
		want--
		code, extra := distanceCode(d)
		if code != want || int(extra) != distanceExtra(want) {
			t.Errorf("distance %d has code %d and %d extra bits, want %d", d, code, extra, want)
		}
		if got := int(matchToken(3, d) >> (2 * indexBits)); got != d-distances[want] {
			t.Errorf("the extra bits of distance %d are %d, want %d", d, got, d-distances[want])
		}
	}
}
