package sieve

import (
	"errors"
	"fmt"

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
	s := newSieve(fsys, o)
	if err := s.load(cut); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.files.restore(s.liveFiles()); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// newSieve returns a sieve without files.
func newSieve(fsys vfs.FS, o Options) *Sieve {
	s := &Sieve{
		files: fileSet{fsys: fsys, dir: o.Dir},
		store: store{runsMax: o.RunsMax, ranks: newByteRanks()},
		buckets: buckets{
			wake: newSignal(), room: newBroadcast(),
			filling: newBucket(o.BucketBytes / 2), spare: newBucket(o.BucketBytes / 2),
		},
	}
	s.store.files = &s.files
	for _, fp := range o.Only {
		s.buckets.filling.only = append(s.buckets.filling.only, keyOf(fp))
	}
	s.buckets.spare.only = s.buckets.filling.only
	s.spiller.files, s.spiller.store, s.spiller.buckets = &s.files, &s.store, &s.buckets
	return s
}

// load opens the files of a checkpoint, if there is one.
func (s *Sieve) load(cut *Checkpoint) error {
	if cut == nil {
		return nil
	}
	if err := cut.validate(); err != nil {
		return err
	}
	s.files.generation, s.files.serial = cut.Generation, cut.Serial
	if err := s.store.load(cut); err != nil {
		return err
	}
	return s.buckets.load(&s.files, cut)
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
