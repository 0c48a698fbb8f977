package dedup

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// index is a log-structured merge tree: a multimap from the hash of a digest to the offset of its entry. Each pair is
// always found, in a table or in a run; while a merge moves it, in both.
//
// Lock order: turn before the Map's mu.
type index struct {
	memoryBytes int64 // for tables and filters
	runs        runSet
	turn        sync.Mutex // held by the goroutine that merges
	searches    searchCounts

	mu          *sync.Mutex // that of the Map; it guards the fields below
	tables      tables
	merge       *merge // changed under turn and mu, used under turn
	count       uint64 // pairs
	merges      uint64
	merged      uint64 // records written by them
	writeErrors uint64
}

// searchCounts are counted without a lock.
type searchCounts struct{ blocks, errors atomic.Uint64 }

// open opens the runs of a Checkpoint and returns where the entries begin that are in none.
func (x *index) open(checkpoint *Checkpoint) (begin int64, err error) {
	begin, err = x.runs.open(checkpoint)
	for _, r := range x.runs.live {
		x.count += r.keys
	}
	return begin, err
}

// add adds a pair that the index does not have. The filling table must not be full. The caller holds mu.
func (x *index) add(hash uint64, offset int64) {
	x.tables.filling.insert(hash, offset)
	x.count++
}

// searchRuns sets p.offsets to the offsets of a hash in all runs. mu is not held.
func (x *index) searchRuns(p *probe, hash uint64) error {
	for {
		p.reads, p.errs, p.offsets = 0, 0, p.offsets[:0]
		whole, err := x.runs.search(p, hash)
		x.searches.blocks.Add(p.reads)
		x.searches.errors.Add(p.errs)
		if err != nil || whole {
			return err
		}
	}
}

// tendIfDue continues the merge as far as it is due, unless another goroutine does. mu is not held.
func (x *index) tendIfDue() error {
	if !x.turn.TryLock() {
		return nil
	}
	defer x.turn.Unlock()
	return x.tend(x.isBehind)
}

// completeMerge continues the merge to its end. mu is not held.
func (x *index) completeMerge() error {
	x.turn.Lock()
	defer x.turn.Unlock()
	return x.tend(func() bool { return true })
}

// paceAhead over four: the merge is done when the other table is four fifths full.
const paceAhead = 5

// isBehind reports whether the merge should be further than it is. turn is held.
func (x *index) isBehind() bool {
	x.mu.Lock()
	used, limit := uint64(x.tables.filling.used), uint64(x.tables.filling.limit)
	x.mu.Unlock()
	return x.merge == nil || x.merge.worked*limit*4 <= x.merge.work*used*paceAhead
}

// tend continues the merge while wanted returns true, until the frozen table is part of a run. The caller holds turn,
// but not mu.
func (x *index) tend(wanted func() bool) error {
	for wanted() {
		if x.merge == nil {
			if started, err := x.startMerge(); err != nil || !started {
				return x.countError(err)
			}
		}
		complete, err := x.merge.step()
		if err != nil {
			return x.countError(err)
		}
		if complete {
			return x.install()
		}
	}
	return nil
}

// countError counts and returns an error of a write. Damage is not counted.
func (x *index) countError(err error) error {
	if err != nil && !isCorrupt(err) {
		x.mu.Lock()
		x.writeErrors++
		x.mu.Unlock()
	}
	return err
}

// startMerge begins a merge, if there is a frozen table. turn is held.
func (x *index) startMerge() (started bool, err error) {
	x.mu.Lock()
	if x.tables.frozen == nil {
		x.mu.Unlock()
		return false, nil
	}
	serial, all := x.runs.serial, x.count
	x.runs.serial++
	kept := tier(x.runs.live, uint64(x.tables.frozen.used))
	inputs := slices.Clone(x.runs.live[kept:])
	memory := x.memoryBytes - x.tables.budget()
	begin := int64(headBytes)
	for _, r := range x.runs.live[:kept] {
		memory -= r.filterMemory()
		begin = r.end
	}
	x.mu.Unlock()
	file, err := x.runs.fsys.Create(runName(x.runs.dir, serial))
	if err != nil {
		return false, fmt.Errorf("dedup: %w", err)
	}
	g := newMerge(file, serial, inputs, x.tables.frozen, x.tables.frozenEnd)
	g.out.start = begin
	// A quarter stays for the runs that come until this one is merged again.
	g.bits = bitsFor(g.out.keys, max(all, g.out.keys), memory-memory/(tierRatio+1))
	x.mu.Lock()
	x.merge = g
	x.runs.publish(g, kept)
	x.mu.Unlock()
	return true, nil
}

// install makes the complete run take the place of what it was made of. turn is held.
func (x *index) install() error {
	x.mu.Lock()
	g := x.merge
	x.merge = nil
	unused := x.runs.replace(g.inputs, g.out)
	table := x.tables.release()
	x.merges++
	x.merged += g.written
	x.mu.Unlock()
	table.clear()
	x.mu.Lock()
	x.tables.recycle(table)
	x.mu.Unlock()
	return x.discard(unused)
}

// discard removes runs that are not needed. Release repeats failed removals. mu is not held.
func (x *index) discard(unused []*run) error {
	left, err := x.runs.discard(unused)
	if len(left) > 0 {
		x.mu.Lock()
		x.runs.obsolete = append(x.runs.obsolete, left...)
		x.mu.Unlock()
	}
	return err
}

// unfinished returns the run that a merge is writing, or nil. The caller holds mu.
func (x *index) unfinished() *run {
	if x.merge == nil {
		return nil
	}
	return x.merge.out
}

// addTo adds the counters and sizes of the index. The caller holds mu.
func (x *index) addTo(st *Stats) {
	st.Digests, st.Runs = x.count, len(x.runs.live)
	st.BlocksRead, st.FilterErrors = x.searches.blocks.Load(), x.searches.errors.Load()
	st.Merges, st.Merged = x.merges, x.merged
	st.WriteErrors += x.writeErrors
	st.MemoryBytes += x.tables.memory()
	for _, r := range x.runs.live {
		st.RunBytes += r.bytes
		st.MemoryBytes += r.filterMemory()
	}
	if r := x.unfinished(); r != nil {
		st.MemoryBytes += r.filterMemory()
	}
}

// close closes all files. The caller is alone.
func (x *index) close() []error {
	faults := x.runs.close()
	if r := x.unfinished(); r != nil {
		faults = append(faults, r.file.Close())
	}
	return faults
}
