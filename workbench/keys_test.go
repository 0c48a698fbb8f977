package workbench

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// Keys of all lengths are returned unchanged, in any number.
func TestKeysAreReturned(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	var k keys
	var refs []keyRef
	var want [][]byte
	for range 20_000 {
		n := rng.IntN(60)
		if rng.IntN(50) == 0 {
			n = rng.IntN(1200) // includes lengths beyond the largest class
		}
		key := make([]byte, n)
		for i := range key {
			key[i] = byte(rng.Uint32())
		}
		refs, want = append(refs, k.add(key)), append(want, bytes.Clone(key))
		clear(key) // add has borrowed it
	}
	for i, ref := range refs {
		if got := k.get(ref, len(want[i])); !bytes.Equal(got, want[i]) || cap(got) != len(got) {
			t.Fatalf("key %d of %d bytes came back as %q", i, len(want[i]), got)
		}
	}
}

// Compares a set of numbers with a map, and empties both sometimes.
func TestNumbersAgainstAMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 7))
	var s numbers
	model := make(map[uint32]bool)
	for range 100_000 {
		n := rng.Uint32N(5000)
		if s.has(n) != model[n] {
			t.Fatal("has", n)
		}
		if s.add(n) == model[n] {
			t.Fatal("added twice, or not at all:", n)
		}
		model[n] = true
		if len(s.list) != len(model) {
			t.Fatal(len(s.list), len(model))
		}
		if rng.IntN(2000) == 0 || (len(model) < 20 && rng.IntN(20) == 0) {
			s.clear()
			clear(model)
		}
	}
}
