package sieve

import (
	"errors"
	"slices"
	"testing"

	"orbweaver/internal/vfs"
)

// Distributes keys to runs and a bucket, and merges them.
func TestSideBySideAgainstAMap(t *testing.T) {
	rng := newRand(11)
	for name, draw := range shapes() {
		for _, sizes := range [][]int{{1}, {1, 1}, {5000, 1}, {1, 5000}, {9000, 4000, 2000, 900, 1}, {3000, 3000, 3000}} {
			taken := map[key]bool{}
			var all []key
			sorted := func(n int) (out []key) {
				for range n {
					if k := draw(rng); !taken[k] {
						taken[k] = true
						out = append(out, k)
					}
				}
				all = append(all, out...)
				slices.SortFunc(out, key.compare)
				return out
			}
			var runs []*run
			for _, n := range sizes[1:] {
				if keys := sorted(n); len(keys) > 0 {
					runs = append(runs, writeRun(t, vfs.NewMem(1), keys))
				}
			}
			d := newDrawers(64 << 10)
			var tr sorter
			for i, k := range sorted(sizes[0]) {
				d.add(k, uint64(i))
			}
			d.distribute()
			for i := range d.all {
				tr.load(&d.all[i], d.shift)
				d.replace(&d.all[i], tr.entries)
			}
			slices.SortFunc(all, key.compare)
			if !slices.Equal(readAll(t, mergeSources(fromDrawers(&d), runs)), all) {
				t.Fatalf("%s, %v: the merged keys are others", name, sizes)
			}
		}
	}
}

// Equal keys at the ends of blocks, at the ends of what a source returns at a time, and between these.
func TestS3_TwoEqualKeysAreFoundWhereverTheyLie(t *testing.T) {
	rng := newRand(12)
	even, odd := make([]key, 3000), make([]key, 3000)
	for i := range even {
		even[i] = key{hi: uint64(i) << 40, lo: 2}
		odd[i] = key{hi: uint64(i)<<40 + uint64(i%2), lo: 1} // half of them differ in lo only
	}
	slices.SortFunc(odd, key.compare)
	mem := vfs.NewMem(1)
	r := writeRun(t, mem, even)
	if n := len(readAll(t, mergeSources(fromRun(writeRun(t, vfs.NewMem(1), odd)), []*run{r}))); n != 6000 {
		t.Fatalf("%d keys of 6000", n)
	}
	for range 50 {
		i := rng.IntN(len(odd))
		twins := slices.Clone(odd)
		twins[i] = even[i]
		slices.SortFunc(twins, key.compare)
		err := drain(mergeSources(fromRun(writeRun(t, vfs.NewMem(1), twins)), []*run{r}))
		if !errors.Is(err, vfs.ErrCorrupt) {
			t.Fatalf("key %d is in both: %v", i, err)
		}
	}
}
