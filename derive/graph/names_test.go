package graph

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Names have the order of their bytes, however much they share: also those that end in zeros, or are very long.
func TestNames_sorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	pieces := []string{"http://", "www.", "a", "b", "\x00", "\xff", "/section-00/", strings.Repeat("x", 700)}
	for range 200 {
		set := map[string]bool{}
		for range rng.IntN(300) {
			name := ""
			for range rng.IntN(6) {
				name += pieces[rng.IntN(len(pieces))]
			}
			set[name] = true
		}
		var n names
		var want, got []string
		for name := range set {
			n.add([]byte(name))
			want = append(want, name)
		}
		slices.Sort(want)
		for _, o := range n.sorted() {
			got = append(got, string(n.get(o.number)))
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q, want %q", got, want)
		}
	}
}

// Each fingerprint gets the next number once, also while the table grows and after it was cleared.
func TestCollector_numbersNames(t *testing.T) {
	var c collector
	for range 2 {
		for i := range 5000 {
			name := []byte(strings.Repeat("n", i%7) + string(rune('a'+i)))
			if number, isNew := c.node(name); number != uint32(i) || !isNew {
				t.Fatalf("name %d has number %d", i, number)
			}
			if number, isNew := c.node(name); number != uint32(i) || isNew {
				t.Fatalf("name %d has number %d the second time", i, number)
			}
		}
		if err := c.write(&strings.Builder{}, pages, &runCoder{}); err != nil {
			t.Fatal(err)
		}
	}
}
