package sieve

import (
	"errors"
	"sync"
	"time"

	"github.com/zeebo/xxh3"
)

// store has the known fingerprints on disk, in sorted runs. No key is in two runs (S3). Only a flush changes it.
type store struct {
	files   *fileSet
	runsMax int
	ranks   *byteRanks

	// mu is held for a few instructions, never during I/O. No other lock is taken while it is held.
	mu   sync.Mutex
	runs []*run // largest and oldest first; the slice is replaced, never changed
}

// load opens the runs of a checkpoint. After an error the store has the runs that are open already.
func (t *store) load(cut *Checkpoint) error {
	for _, c := range cut.Runs {
		r, err := openRun(t.files.fsys, t.files.name(kindRun, c.Serial), c, cut.Generation)
		if err != nil {
			return err
		}
		t.runs = append(t.runs, r)
	}
	return nil
}

// current returns the current runs.
func (t *store) current() []*run {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.runs
}

// len returns the number of fingerprints.
func (t *store) len() (n uint64) {
	for _, r := range t.current() {
		n += r.count
	}
	return n
}

// blocks returns the number of blocks of all runs.
func (t *store) blocks() (n int) {
	for _, r := range t.current() {
		n += r.blocks()
	}
	return n
}

// fill sets the sizes of the store in st.
func (t *store) fill(st *Stats) {
	runs := t.current()
	st.Runs = len(runs)
	for _, r := range runs {
		st.Keys += r.count
		st.StoreBytes += r.bytes
		st.IndexBytes += int64(r.blocks()) * indexBytes
	}
}

// checkpoint returns the files of the runs, and how a checkpoint names them.
func (t *store) checkpoint() (files []*storeFile, named []FileCheckpoint) {
	for _, r := range t.current() {
		files = append(files, r.file)
		named = append(named, FileCheckpoint{Serial: r.file.serial, Count: r.count, Bytes: r.bytes})
	}
	return files, named
}

// contains reads one block per run.
func (t *store) contains(fp xxh3.Uint128) (bool, error) {
	ask, hit := []entry{newEntry(keyOf(fp), 0)}, []uint8{0}
	for _, r := range t.current() {
		if err := newLookup(r, 1, t.ranks).find(ask, hit); err != nil || hit[0] == 1 {
			return err == nil, err
		}
	}
	return false, nil
}

// add drops the known fingerprints of a frozen bucket and puts the rest into the store. It continues where an earlier
// attempt failed.
func (t *store) add(b *bucket, st *FlushStats) error {
	runs := t.current()
	if err := b.decide(runs, t.ranks, st); err != nil {
		return err
	}
	if b.entries.n > 0 {
		began := time.Now()
		kept := tier(runs, uint64(b.entries.n), t.runsMax)
		merged := runs[kept:]
		r, err := t.merge(&b.entries, merged, st)
		if err != nil {
			return err
		}
		t.mu.Lock()
		t.runs = append(runs[:kept:kept], r)
		t.mu.Unlock()
		for _, old := range merged {
			t.files.drop(old.file)
		}
		st.RunsMerged += len(merged)
		st.Merge += time.Since(began)
	}
	b.entries.empty()
	b.stage = stageStored
	return nil
}

// check reads all runs and returns the faults.
func (t *store) check() error {
	var faults []error
	runs := t.current()
	for _, r := range runs {
		// Each run alone first, so that a fault in one run does not hide a fault in another.
		if err := drain(fromRun(r)); err != nil {
			faults = append(faults, err)
		}
	}
	if len(faults) == 0 && len(runs) > 1 {
		if err := drain(mergeSources(fromRun(runs[len(runs)-1]), runs[:len(runs)-1])); err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// drain reads a source to its end.
func drain(src source) error {
	for {
		if k, err := src.next(); err != nil || k.len() == 0 {
			return err
		}
	}
}
