package cold

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Compares the table with a map while it grows and shrinks, with hashes that fall into few shards.
func TestTableAgainstAMap(t *testing.T) {
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var table table
		model := map[uint64]uint64{} // place to hash
		for step := range 60_000 {
			if grow := step/10_000%2 == 0; len(model) == 0 || rng.IntN(10) < 7 == grow {
				hash := rng.Uint64() >> (4 * seed) // fewer and fewer shards
				place := rng.Uint64N(placeMask) + 1
				if _, there := model[place]; !there {
					table.add(hash, place)
					model[place] = hash
				}
				continue
			}
			for place, hash := range model {
				if found := table.find(hash, nil); !slices.Contains(found, place) || !table.has(hash, place) {
					t.Fatalf("step %d: place %x is not among %x", step, place, found)
				}
				delete(model, place)
				if to := place ^ 1; step%3 == 0 && to != 0 && model[to] == 0 {
					if !table.replace(hash, place, to) || table.replace(hash, place, to) {
						t.Fatal("replace")
					}
					place = to
				}
				if !table.remove(hash, place) || table.remove(hash, place) {
					t.Fatalf("step %d: place %x is there once, and was not taken once", step, place)
				}
				break
			}
			if table.used != len(model) {
				t.Fatalf("step %d: %d, should be %d", step, table.used, len(model))
			}
		}
		for place, hash := range model {
			if !table.has(hash, place) {
				t.Fatal("lost", place)
			}
		}
	}
}

// From some thousand hosts on, a host takes at most 16 bytes of memory.
func TestTableKeepsToSixteenBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var table table
	for n := 1; n <= 300_000; n++ {
		table.add(rng.Uint64(), uint64(n))
		if n > 20_000 && n%1000 == 0 {
			if per := float64(table.bytes()) / float64(n); per > 16 {
				t.Fatalf("%.1f bytes a host, with %d", per, n)
			}
		}
	}
}
