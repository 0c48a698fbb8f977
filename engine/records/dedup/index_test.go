package dedup

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"orbweaver/internal/vfs"
)

func newIndex(t *testing.T, fsys vfs.FS, mu *sync.Mutex) *index {
	t.Helper()
	must(t, fsys.MkdirAll(small.Dir))
	x := &index{mu: mu, memoryBytes: small.MemoryBytes, tables: newTables(16)}
	x.runs.fsys, x.runs.dir = fsys, small.Dir
	x.runs.publish(nil, 0)
	t.Cleanup(func() {
		for _, err := range x.close() {
			must(t, err)
		}
	})
	return x
}

// fillIndex adds n pairs, and merges all that become due. The offsets continue those that the index has.
func fillIndex(t *testing.T, x *index, n int, hash func() uint64) (added map[uint64][]int64) {
	t.Helper()
	added = make(map[uint64][]int64)
	for range n {
		if x.tables.filling.full() {
			x.tables.freeze(headBytes + int64(x.count))
			must(t, x.completeMerge())
		}
		h, offset := hash(), headBytes+int64(x.count)
		x.add(h, offset)
		added[h] = append(added[h], offset)
	}
	return added
}

// The index finds all offsets of a hash, whether they are in a table or in a run.
func TestIndexIsAMultimap(t *testing.T) {
	var mu sync.Mutex
	x := newIndex(t, vfs.NewMem(1), &mu)
	rng := rand.New(rand.NewPCG(1, 2))
	model := fillIndex(t, x, 500, func() uint64 { return rng.Uint64N(90) << 57 })
	if x.merges < 20 {
		t.Fatalf("only %d merges", x.merges)
	}
	var p probe
	for _, hash := range slices.Collect(maps.Keys(model)) {
		must(t, x.searchRuns(&p, hash))
		got := x.tables.appendOffsets(slices.Clone(p.offsets), hash)
		slices.Sort(got)
		if !slices.Equal(got, model[hash]) {
			t.Errorf("hash %x: offsets %v, want %v", hash, got, model[hash])
		}
	}
	if must(t, x.searchRuns(&p, 1)); len(p.offsets) > 0 {
		t.Errorf("offsets %v of a hash that was not added", p.offsets)
	}
}

// The file of a run that a merge has replaced stays until no Checkpoint names it; one without a Checkpoint is removed
// at once.
func TestRunSetKeepsTheFilesOfACut(t *testing.T) {
	var mu sync.Mutex
	disk := vfs.NewMem(1)
	x := newIndex(t, disk, &mu)
	hash := rand.New(rand.NewPCG(1, 2)).Uint64
	fillIndex(t, x, 17, hash)
	_, named := x.runs.checkpoint()
	if len(named) != 1 || named[0].Digests != 16 {
		t.Fatalf("the checkpoint names %+v", named)
	}
	exists := func(serial uint64) bool {
		_, err := disk.Size(runName(small.Dir, serial))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return err == nil
	}
	fillIndex(t, x, 48, hash)
	if !exists(named[0].Serial) || exists(named[0].Serial+1) {
		t.Fatalf("only the run of the checkpoint should stay: %v, %v", exists(named[0].Serial), exists(named[0].Serial+1))
	}
	must(t, x.discard(x.runs.takeObsolete(x.runs.generation)))
	if !exists(named[0].Serial) {
		t.Fatal("the file is gone while its checkpoint may be the last durable one")
	}
	x.runs.checkpoint()
	must(t, x.discard(x.runs.takeObsolete(x.runs.generation)))
	if exists(named[0].Serial) {
		t.Error("the file of a run that no checkpoint needs is still there")
	}
}
