package sieve

import (
	"errors"
	"fmt"
	"path"

	"orbweaver/internal/vfs"
)

// Open makes a new sieve if cut is nil, removing the files of an older one, or goes back to exactly the cut: files it
// does not name are removed, and what was written behind it is cut off. Errors wrap ErrCorrupt if the files are not
// those of the cut, and vfs's errors otherwise; nothing is removed unless all that the cut names is sound.
func Open(fsys vfs.FS, o Options, cut *Cut) (*Sieve, error) {
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
	if s.frozen != nil || s.filling.ripe() {
		s.signal()
	}
	return s, nil
}

// load opens what the cut names.
func (s *Sieve) load(cut *Cut) error {
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
		if err := loadPending(s.fsys, fileName(s.o.Dir, kindPending, c.Serial), *c, cut.Generation, nil, s.filling); err != nil {
			return err
		}
	}
	s.cutFiles = s.liveFiles()
	return nil
}

// loadFrozen opens the bucket that a failed Flush left, and the mask of what it has still to emit.
func (s *Sieve) loadFrozen(cut *Cut) error {
	b, c := s.spare, cut.Frozen
	var live []uint64
	if m := cut.FrozenMask; m != nil {
		var err error
		b.mask, live, err = openMask(s.fsys, fileName(s.o.Dir, kindMask, m.Serial), *m, cut.Generation, c.Count)
		if err != nil {
			return err
		}
		b.maskBytes, b.maskLeft = m.Bytes, int64(m.Count)
	}
	s.frozen, s.spare = b, nil // to be closed if the rest does not hold
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

// validate refuses a cut that no Cut can have returned.
func (c *Cut) validate() error {
	seen := map[uint64]bool{}
	files := append([]FileCut(nil), c.Runs...)
	for _, f := range []*FileCut{c.Frozen, c.FrozenMask, c.Filling} {
		if f != nil {
			files = append(files, *f)
		}
	}
	if c.FrozenStored && c.FrozenMask == nil || c.FrozenMask != nil && c.Frozen == nil {
		return fmt.Errorf("%w: the cut leaves open what is still to be emitted", ErrCorrupt)
	}
	for _, f := range files {
		if f.Serial >= c.Serial || seen[f.Serial] || f.Count == 0 || f.Bytes <= 0 || c.Generation == 0 {
			return fmt.Errorf("%w: the cut names file %d in a way no cut does", ErrCorrupt, f.Serial)
		}
		seen[f.Serial] = true
	}
	return nil
}

// sweep removes the files of a sieve that are not live.
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
