package cold

import (
	"errors"
	"fmt"

	"orbweaver/internal/vfs"
)

// Open opens the store in o.Dir. If cut is nil, the store is new and empty, and old files are removed. Otherwise Open
// restores exactly this checkpoint and removes everything after it. The checkpoint must be the last one that was
// released, or a later one. Open reads the whole log. An error that wraps vfs.ErrCorrupt means that the files do not
// match the checkpoint.
func Open(fsys vfs.FS, o Options, cut *Checkpoint) (*Store, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	head, tail := Position{1, segmentHead}, Position{1, 0}
	if err := fsys.MkdirAll(o.Dir); err != nil {
		return nil, fmt.Errorf("cold: open: %w", err)
	}
	if cut != nil {
		if err := cut.validate(); err != nil {
			return nil, err
		}
		head, tail = cut.Head, cut.Tail
	}
	s := newStore(fsys, o, head, tail)
	err := s.segments.removeOutside(head, tail)
	if err == nil && cut != nil {
		err = s.restore(cut)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}
