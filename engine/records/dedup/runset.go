package dedup

import (
	"fmt"
	"path"
	"slices"
	"sync"
	"sync/atomic"

	"orbweaver/internal/vfs"
)

// runSet owns the runs and their files. A file stays open while the view has its run. It stays on disk until no view,
// no Sync and no Checkpoint that may be durable needs it.
//
// Lock order: reading before the Map's mu.
type runSet struct {
	fsys vfs.FS
	dir  string
	// reading is held shared while runs are read, and exclusively to close one.
	reading sync.RWMutex
	view    atomic.Pointer[view]

	// The Map's mu guards what follows.
	live       []*run // oldest first
	obsolete   []obsolete
	serial     uint64 // of the next run
	generation uint64 // of the last Checkpoint
	syncing    *run   // an unfinished run that Sync uses: it must not be closed
}

// view is the runs as lookups see them: runs[:kept], and then for each segment either the other runs or the merge's
// output.
type view struct {
	runs []*run
	kept int
	m    *merge // nil: all runs
}

// obsolete is a run that is needed only by Checkpoints up to lastCheckpoint; the last durable Checkpoint may be among
// them.
type obsolete struct {
	run            *run
	lastCheckpoint uint64
}

// open opens the runs of a Checkpoint and returns where the entries begin that are in none.
func (s *runSet) open(checkpoint *Checkpoint) (begin int64, err error) {
	begin = headBytes
	s.generation = max(checkpoint.Generation, 1)
	count := uint64(0)
	for _, c := range checkpoint.Runs {
		r, err := openRun(s.fsys, s.dir, c)
		if err != nil {
			return 0, err
		}
		s.live = append(s.live, r)
		count += r.keys
		s.serial = max(s.serial, r.serial+1)
		r.firstCheckpoint = s.generation
		if r.start != begin || r.end > checkpoint.Length || count > checkpoint.Count {
			return 0, r.corrupt(0, fmt.Sprintf("it has entries %d to %d, where those from %d to at most %d are wanted",
				r.start, r.end, begin, checkpoint.Length))
		}
		begin = r.end
	}
	return begin, nil
}

// sweep removes the files of runs that are not live, and makes sure that their numbers are not used again.
func (s *runSet) sweep() error {
	names, err := s.fsys.List(s.dir)
	if err != nil {
		return fmt.Errorf("dedup: %w", err)
	}
	for _, name := range names {
		serial, ok := runSerial(name)
		if !ok || slices.ContainsFunc(s.live, func(r *run) bool { return r.serial == serial }) {
			continue
		}
		s.serial = max(s.serial, serial+1)
		if err := vfs.RemoveIfExists(s.fsys, path.Join(s.dir, name)); err != nil {
			return fmt.Errorf("dedup: %w", err)
		}
	}
	return nil
}

// publish makes lookups use the live runs, and what a merge has completed of them. The caller holds mu, or is alone.
func (s *runSet) publish(m *merge, kept int) {
	s.view.Store(&view{runs: slices.Clone(s.live), kept: kept, m: m})
}

// search appends the offsets of a hash in all runs. It returns false if a merge went on meanwhile: search again. mu is
// not held.
func (s *runSet) search(p *probe, hash uint64) (whole bool, err error) {
	s.reading.RLock()
	defer s.reading.RUnlock()
	v := s.view.Load()
	runs := v.runs
	if v.m != nil && int32(hash>>segmentShift) < v.m.done.Load() {
		runs = runs[:v.kept]
		if whole, err := v.m.out.search(p, hash); !whole {
			return false, err
		}
	}
	for _, r := range runs {
		if whole, err := r.search(p, hash); !whole {
			return false, err
		}
	}
	return true, nil
}

// replace puts the output of a merge in the place of its inputs, the youngest runs. It returns the inputs that no
// Checkpoint and no Sync needs; the caller must discard them. The caller holds mu.
func (s *runSet) replace(inputs []*run, out *run) (unused []*run) {
	kept := len(s.live) - len(inputs)
	s.live = append(slices.Clone(s.live[:kept]), out)
	s.publish(nil, len(s.live))
	for _, r := range inputs {
		if r.firstCheckpoint == 0 && r != s.syncing {
			unused = append(unused, r)
		} else {
			s.obsolete = append(s.obsolete, obsolete{run: r, lastCheckpoint: s.generation})
		}
	}
	return unused
}

// checkpoint names the live runs for a new Checkpoint. The caller holds mu.
func (s *runSet) checkpoint() (runs []*run, named []RunCheckpoint) {
	s.generation++
	runs = slices.Clone(s.live)
	for _, r := range runs {
		named = append(named, RunCheckpoint{Serial: r.serial, Digests: r.keys, Bytes: r.bytes})
		if r.firstCheckpoint == 0 {
			r.firstCheckpoint = s.generation
		}
	}
	return runs, named
}

// sync makes the files of runs durable. mu is not held.
func (s *runSet) sync(runs []*run) error {
	for _, r := range runs {
		if r.synced {
			continue
		}
		if err := r.file.Sync(); err != nil {
			return err
		}
		r.synced = true
	}
	return s.fsys.SyncDir(s.dir)
}

// takeObsolete returns the runs that only Checkpoints before a generation name; the caller must discard them. The
// caller holds mu.
func (s *runSet) takeObsolete(generation uint64) (unused []*run) {
	var kept []obsolete
	for _, o := range s.obsolete {
		if o.lastCheckpoint < generation {
			unused = append(unused, o.run)
		} else {
			kept = append(kept, o)
		}
	}
	s.obsolete = kept
	return unused
}

// discard closes runs that are in no view, once no goroutine reads them, and removes their files. It returns the runs
// whose files could not be removed. mu is not held.
func (s *runSet) discard(unused []*run) (left []obsolete, failed error) {
	if len(unused) == 0 {
		return nil, nil
	}
	s.reading.Lock()
	for _, r := range unused {
		if r.file != nil {
			_ = r.file.Close() // it was only read, or is of no use
			r.file = nil
		}
	}
	s.reading.Unlock()
	for _, r := range unused {
		if err := vfs.RemoveIfExists(s.fsys, runName(s.dir, r.serial)); err != nil {
			failed = fmt.Errorf("dedup: %w", err)
			left = append(left, obsolete{run: r})
		}
	}
	return left, failed
}

// close closes all files. The caller is alone.
func (s *runSet) close() (faults []error) {
	runs := s.live
	for _, o := range s.obsolete {
		runs = append(slices.Clip(runs), o.run)
	}
	for _, r := range runs {
		if r.file != nil {
			faults = append(faults, r.file.Close())
		}
	}
	return faults
}
