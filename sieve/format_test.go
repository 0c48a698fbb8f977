package sieve

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"orbweaver/internal/vfs"
)

// keySets are sorted sets of keys with several distributions.
func keySets() map[string][]key {
	rng := newRand(1)
	sets := map[string][]key{
		"one":      {{hi: 77, lo: 5}},
		"extremes": {{0, 0}, {0, 1}, {math.MaxUint64, math.MaxUint8 - 1}, {math.MaxUint64, math.MaxUint8}},
	}
	for i := range 5000 {
		sets["even"] = append(sets["even"], key{rng.Uint64(), uint8(rng.Uint32())})
		sets["next hi"] = append(sets["next hi"], key{hi: 9 + uint64(i/256), lo: uint8(i)})
		sets["dense"] = append(sets["dense"], key{hi: uint64(i / 3), lo: uint8(i % 3)})
		sets["lumps"] = append(sets["lumps"], key{hi: rng.Uint64N(5)<<61 + rng.Uint64N(1<<20), lo: uint8(i)})
	}
	for name, keys := range sets {
		slices.SortFunc(keys, key.compare)
		sets[name] = slices.Compact(keys)
	}
	return sets
}

func flat(sorted []key) (k keys) {
	for _, one := range sorted {
		k.hi, k.lo = append(k.hi, one.hi), append(k.lo, one.lo)
	}
	return k
}

// readAll returns all keys of a source.
func readAll(t testing.TB, src source) (out []key) {
	t.Helper()
	for {
		k, err := src.next()
		must(t, err)
		if k.len() == 0 {
			return out
		}
		for i := range k.len() {
			out = append(out, k.at(i))
		}
	}
}

func writeRun(t testing.TB, fsys vfs.FS, keys []key) *run {
	t.Helper()
	must(t, fsys.MkdirAll("sieve"))
	f, err := fsys.Create(fileName("sieve", kindRun, 0))
	must(t, err)
	w := newRunWriter(&storeFile{File: f}, uint64(len(keys)))
	must(t, w.add(flat(keys)))
	r, err := w.finish()
	must(t, err)
	return r
}

func TestARunGivesBackItsKeys(t *testing.T) {
	for name, keys := range keySets() {
		t.Run(name, func(t *testing.T) {
			disk := vfs.NewMem(1)
			w := writeRun(t, disk, keys)
			r, err := openRun(disk, fileName("sieve", kindRun, 0), FileCheckpoint{Count: w.count, Bytes: w.bytes}, 1)
			must(t, err)
			if !slices.Equal(readAll(t, fromRun(r)), keys) {
				t.Fatal("it gives others")
			}
			t.Logf("%d keys, %.2f bytes each", len(keys), float64(r.bytes)/float64(len(keys)))
		})
	}
}

// Looks up keys that exist, that are close to existing ones, and that are far away; few and many.
func TestLookup(t *testing.T) {
	rng := newRand(2)
	for name, keys := range keySets() {
		r := writeRun(t, vfs.NewMem(1), keys)
		there := map[key]bool{}
		for _, k := range keys {
			there[k] = true
		}
		for _, n := range []int{1, 3, 40, 3000} {
			var ask []entry
			for i := range n {
				k := keys[rng.IntN(len(keys))]
				switch rng.IntN(4) {
				case 0:
					k.lo++
				case 1:
					k.hi--
				case 2:
					k = key{rng.Uint64(), uint8(rng.Uint32())}
				}
				ask = append(ask, newEntry(k, uint64(i)))
			}
			slices.SortFunc(ask, compareEntries)
			hits := make([]uint8, n)
			l := newLookup(r, n, newByteRanks())
			half := rng.IntN(n) // in two parts, as one drawer follows another
			must(t, l.find(ask[:half], hits))
			must(t, l.find(ask[half:], hits[half:]))
			for i, e := range ask {
				if got := hits[i] == 1; got != there[e.key()] {
					t.Fatalf("%s: key %v is known: %v", name, e.key(), got)
				}
			}
		}
	}
}

// A small bucket does not read the whole of a large store.
func TestAFewKeysCostAFewBlocks(t *testing.T) {
	rng := newRand(5)
	keys := make([]key, 40_000)
	for i := range keys {
		keys[i] = key{rng.Uint64(), uint8(rng.Uint32())}
	}
	slices.SortFunc(keys, key.compare)
	r := writeRun(t, vfs.NewMem(1), keys)
	for _, n := range []int{1, 4, 7} {
		var ask []entry
		for i := range n {
			ask = append(ask, newEntry(keys[i*len(keys)/n], uint64(i)))
		}
		hits := make([]uint8, n)
		l := newLookup(r, n, newByteRanks())
		must(t, l.find(ask, hits))
		if slices.Contains(hits, 0) || l.w.bytes > int64(n)*blockBytes || l.w.blocks > uint64(n) {
			t.Errorf("%d keys of %d blocks: hits %v, %d bytes read", n, r.blocks(), hits, l.w.bytes)
		}
	}
}

// Changes each byte of a run and of a pending file.
func TestS3_DamageIsFound(t *testing.T) {
	mem := vfs.NewMem(1)
	s := open(t, mem, small, nil)
	for i := range uint64(700) { // two blocks
		addAll(s, i)
	}
	flush(t, s)
	addAll(s, 998, 1, 999)
	refuseAfter(t, s, 1)
	addAll(s, 1, 1000, 1001)
	cut := durable(t, s)
	for _, name := range []string{
		fileName("sieve", kindRun, cut.Runs[0].Serial), fileName("sieve", kindMask, cut.FrozenMask.Serial),
		fileName("sieve", kindPending, cut.Frozen.Serial), fileName("sieve", kindPending, cut.Filling.Serial),
	} {
		whole, err := vfs.ReadFile(mem, name)
		must(t, err)
		for i := range whole {
			if i > 100 && i < len(whole)-200 && i%29 != 0 { // all bytes would take too long under the race detector
				continue
			}
			bad := bytes.Clone(whole)
			bad[i] ^= 1 << rand.N(8)
			replace(t, mem, name, bad)
			again, err := Open(mem, small, cut)
			if err == nil {
				err = again.Check()
				must(t, again.Close())
			}
			if !errors.Is(err, vfs.ErrCorrupt) {
				t.Fatalf("%s: byte %d of %d changed: %v", name, i, len(whole), err)
			}
		}
		replace(t, mem, name, whole[:len(whole)-1])
		if _, err := Open(mem, small, cut); !errors.Is(err, vfs.ErrCorrupt) {
			t.Fatalf("%s too short: %v", name, err)
		}
		must(t, mem.Remove(name))
		if _, err := Open(mem, small, cut); err == nil {
			t.Fatalf("%s missing, and it opens", name)
		}
		replace(t, mem, name, whole)
	}
	again := open(t, mem, small, cut)
	must(t, again.Check())
	want(t, flush(t, again), urls(999, 1000, 1001))
}

func replace(t testing.TB, fsys vfs.FS, name string, content []byte) {
	t.Helper()
	f, err := fsys.Create(name)
	must(t, err)
	_, err = f.Write(content)
	must(t, err)
	must(t, f.Close())
}

// A store that contains a key twice, as a bug could make it: Check reports it, and a merge refuses it.
func TestAKeyInTwoRunsIsFound(t *testing.T) {
	s := open(t, vfs.NewMem(1), small, nil)
	addAll(s, 1)
	flush(t, s)
	s.store.runs = append(s.store.runs, s.store.runs[0])
	if err := s.Check(); !errors.Is(err, vfs.ErrCorrupt) {
		t.Fatalf("Check: %v", err)
	}
	addAll(s, 2)
	if _, err := s.Flush(func([]byte) error { return nil }); !errors.Is(err, vfs.ErrCorrupt) {
		t.Fatalf("Flush: %v", err)
	}
	s.store.runs = s.store.runs[:1]
	want(t, flush(t, s), urls(2))
}

func TestOnlyOurFilesAreSwept(t *testing.T) {
	mem := vfs.NewMem(1)
	must(t, mem.MkdirAll("sieve"))
	for _, name := range []string{
		"run-000000000007", "pending-000000000001", "mask-000000000002", "fpcache", "run-7", "run-00000000000x",
	} {
		replace(t, mem, "sieve/"+name, nil)
	}
	open(t, mem, small, nil)
	if names, _ := mem.List("sieve"); !slices.Equal(names, []string{"fpcache", "run-00000000000x", "run-7"}) {
		t.Fatalf("left: %q", names)
	}
}

func TestTier(t *testing.T) {
	for _, c := range []struct {
		counts []uint64
		n      uint64
		max    int
		kept   int
	}{
		{nil, 5, 8, 0},
		{[]uint64{100}, 5, 8, 1},
		{[]uint64{100, 5}, 5, 8, 1},
		{[]uint64{100, 50, 27, 10}, 10, 8, 3},
		{[]uint64{100, 50, 25, 10}, 10, 8, 0},
		{[]uint64{200, 60, 20, 12}, 10, 8, 2},
		{[]uint64{80, 40, 20, 10}, 10, 8, 0},
		{[]uint64{1000, 40, 20, 10}, 10, 8, 1},
		{[]uint64{1000, 500, 200, 90}, 10, 4, 3},
		{[]uint64{1000, 500, 200, 90}, 10, 1, 0},
	} {
		var runs []*run
		for _, n := range c.counts {
			runs = append(runs, &run{count: n})
		}
		if kept := tier(runs, c.n, c.max); kept != c.kept {
			t.Errorf("runs %v and %d new, at most %d: %d kept, want %d", c.counts, c.n, c.max, kept, c.kept)
		}
	}
}
