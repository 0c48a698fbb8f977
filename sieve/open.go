package sieve

import (
	"errors"
	"fmt"
	"path"

	"orbweaver/internal/vfs"
)

// Open makes a new sieve if cut is nil, and removes the files of an older one. Otherwise it restores exactly this
// checkpoint: it removes files that the checkpoint does not name and truncates what was written later. It returns an
// error that wraps vfs.ErrCorrupt if the files do not match the checkpoint, and errors of vfs otherwise. It removes
// nothing before it has verified the files of the checkpoint.
func Open(fsys vfs.FS, o Options, cut *Checkpoint) (*Sieve, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if err := fsys.MkdirAll(o.Dir); err != nil {
		return nil, fmt.Errorf("sieve: %w", err)
	}
	s := &Sieve{
		fsys: fsys, o: o,
		wake:    make(chan struct{}, 1),
		ranks:   newByteRanks(),
		room:    make(chan struct{}),
		filling: newBucket(o.BucketBytes / 2),
		spare:   newBucket(o.BucketBytes / 2),
	}
	if cut != nil {
		if err := s.load(cut); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	if err := s.sweep(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.stats.Added = uint64(s.pending())
	if s.frozen != nil || s.filling.flushDue() {
		s.signalWake()
	}
	return s, nil
}

// load opens the files of the checkpoint.
func (s *Sieve) load(cut *Checkpoint) error {
	s.generation, s.serial = cut.Generation, cut.Serial
	if err := cut.validate(); err != nil {
		return err
	}
	for _, c := range cut.Runs {
		r, err := openRun(s.fsys, fileName(s.o.Dir, kindRun, c.Serial), c, cut.Generation)
		if err != nil {
			return err
		}
		s.runs = append(s.runs, r)
	}
	if cut.Frozen != nil {
		if err := s.loadFrozen(cut); err != nil {
			return err
		}
	}
	if c := cut.Filling; c != nil {
		name := fileName(s.o.Dir, kindPending, c.Serial)
		if err := loadPending(s.fsys, name, *c, cut.Generation, nil, s.filling); err != nil {
			return err
		}
	}
	s.checkpointFiles = s.liveFiles()
	return nil
}

// loadFrozen opens the bucket that a failed Flush left, and the mask of the payloads that must still be emitted.
func (s *Sieve) loadFrozen(cut *Checkpoint) error {
	b, c := s.spare, cut.Frozen
	var live []uint64
	if m := cut.FrozenMask; m != nil {
		var err error
		b.live.mask.file, live, err = openMask(s.fsys, fileName(s.o.Dir, kindMask, m.Serial), *m, cut.Generation, c.Count)
		if err != nil {
			return err
		}
		b.live.mask.bytes, b.live.mask.unemitted = m.Bytes, int64(m.Count)
	}
	s.frozen, s.spare = b, nil // so that Close closes it after an error
	if err := loadPending(s.fsys, fileName(s.o.Dir, kindPending, c.Serial), *c, cut.Generation, live, b); err != nil {
		return err
	}
	if cut.FrozenStored {
		b.entries.empty()
		b.stage = stageStored
	}
	s.frozenSize = b.size()
	return nil
}

// validate returns an error for values that Write never returns.
func (c *Checkpoint) validate() error {
	seen := map[uint64]bool{}
	files := append([]FileCheckpoint(nil), c.Runs...)
	for _, f := range []*FileCheckpoint{c.Frozen, c.FrozenMask, c.Filling} {
		if f != nil {
			files = append(files, *f)
		}
	}
	if c.FrozenStored && c.FrozenMask == nil || c.FrozenMask != nil && c.Frozen == nil {
		return fmt.Errorf("%w: the checkpoint has no mask of the payloads to emit", vfs.ErrCorrupt)
	}
	for _, f := range files {
		if f.Serial >= c.Serial || seen[f.Serial] || f.Count == 0 || f.Bytes <= 0 || c.Generation == 0 {
			return fmt.Errorf("%w: the checkpoint has an invalid entry for file %d", vfs.ErrCorrupt, f.Serial)
		}
		seen[f.Serial] = true
	}
	return nil
}

// sweep removes files of a sieve that are not live.
func (s *Sieve) sweep() error {
	live := map[string]bool{}
	for _, f := range s.liveFiles() {
		live[path.Base(f.Name())] = true
	}
	names, err := s.fsys.List(s.o.Dir)
	if err != nil {
		return fmt.Errorf("sieve: %w", err)
	}
	for _, name := range names {
		if ours(name) && !live[name] {
			if err := vfs.RemoveIfExists(s.fsys, path.Join(s.o.Dir, name)); err != nil {
				return fmt.Errorf("sieve: %w", err)
			}
		}
	}
	return nil
}
