package sieve

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// shapes are distributions of fingerprints, even and uneven.
func shapes() map[string]func(rng *rand.Rand) key {
	return map[string]func(rng *rand.Rand) key{
		"even":       func(rng *rand.Rand) key { return key{rng.Uint64(), uint8(rng.Uint32())} },
		"one drawer": func(rng *rand.Rand) key { return key{rng.Uint64N(1 << 20), uint8(rng.Uint32N(3))} },
		"one pile":   func(rng *rand.Rand) key { return key{math.MaxUint64 - rng.Uint64N(50), uint8(rng.Uint32N(3))} },
		"one key":    func(*rand.Rand) key { return key{1 << 63, 1} },
	}
}

// Adds, sorts, drops, replaces and reads, repeatedly with the same drawers.
func TestDrawersAgainstASortedSlice(t *testing.T) {
	for name, draw := range shapes() {
		for _, bytes := range []int64{2 << 10, 64 << 10, 4 << 20} {
			t.Run(fmt.Sprint(name, " ", bytes), func(t *testing.T) {
				rng := newRand(uint64(bytes))
				d := newDrawers(bytes)
				var tr sorter
				for range 3 {
					n := rng.IntN(int(bytes) / entryBytes)
					arrival := rng.Uint64N(1000)
					var all []entry
					for range n {
						k := draw(rng)
						d.add(k, arrival)
						all = append(all, newEntry(k, arrival))
						if arrival++; rng.IntN(1000) == 0 {
							arrival += offsetMask // more than fits into the offset of a slab
						}
					}
					slices.SortFunc(all, compareEntries)
					checkDrawers(t, &d, &tr, all)
					d.empty()
					if d.usedBytes() != 0 || d.n != 0 {
						t.Fatalf("%d entries in %d slabs of empty drawers", d.n, d.used)
					}
				}
				made := d.made
				if d.trim(d.madeBytes() / 2); d.made > made/2 {
					t.Fatalf("%d slabs of %d are left", d.made, made)
				}
			})
		}
	}
}

// checkDrawers compares the drawers with a sorted slice, and leaves every second entry in them.
func checkDrawers(t *testing.T, d *drawers, tr *sorter, all []entry) {
	t.Helper()
	if d.n != len(all) {
		t.Fatalf("%d entries, want %d", d.n, len(all))
	}
	d.distribute()
	var got, left []entry
	for i := range d.all {
		tr.load(&d.all[i], d.shift)
		got = append(got, tr.entries...)
		n := len(tr.entries)
		twice := tr.dropRepeated()
		if len(tr.dropped) != twice || len(tr.entries) != n-twice {
			t.Fatalf("of %d entries %d were dropped, %d are left, %d were said to be twice", n, len(tr.dropped),
				len(tr.entries), twice)
		}
		for i := range tr.entries {
			tr.hits[i] = uint8(i % 2)
			if i%2 == 0 {
				left = append(left, tr.entries[i])
			}
		}
		tr.dropHits()
		d.replace(&d.all[i], tr.entries)
	}
	if !slices.Equal(got, all) {
		t.Fatal("the drawers do not hold what was added, sorted")
	}
	var wanted []key
	for _, e := range left {
		wanted = append(wanted, e.key())
	}
	if keys := readAll(t, fromDrawers(d)); !slices.Equal(keys, wanted) || d.n != len(wanted) {
		t.Fatalf("%d keys, %d counted, want %d", len(keys), d.n, len(wanted))
	}
}

// The sorter drops all entries of a key except the earliest, and returns their arrivals.
func TestTheTrayDropsAllButTheEarliest(t *testing.T) {
	d := newDrawers(4 << 10)
	for i, hi := range []uint64{5, 3, 5, 5, 3, 9} {
		d.add(key{hi: hi}, uint64(10*i))
	}
	d.distribute()
	var tr sorter
	tr.load(&d.all[0], d.shift)
	if n := tr.dropRepeated(); n != 3 || !slices.Equal(tr.dropped, []uint64{40, 20, 30}) {
		t.Fatalf("%d dropped: %v", n, tr.dropped)
	}
	if !slices.Equal(tr.entries, []entry{newEntry(key{hi: 3}, 10), newEntry(key{hi: 5}, 0), newEntry(key{hi: 9}, 50)}) {
		t.Fatalf("kept %v", tr.entries)
	}
}

// For any amount of memory, a flush sorts only as much at a time as fits into a cache, and slabs waste little memory.
func TestAFullDrawerIsSmall(t *testing.T) {
	for bytes := int64(2 << 10); bytes <= 1<<30; bytes *= 2 {
		d := newDrawers(bytes)
		if each := bytes / entryBytes / int64(len(d.all)); each > drawerMax || len(d.all) > 1 && each < drawerMax/2 {
			t.Errorf("%d bytes: %d entries in each of %d drawers", bytes, each, len(d.all))
		}
		if begun := int64(len(d.all)) * d.slabBytes() / 2; begun > bytes/16 {
			t.Errorf("%d bytes: half a slab in each of %d drawers is %d", bytes, len(d.all), begun)
		}
	}
}
