package virtualize

import (
	"errors"
	"fmt"

	"orbweaver/internal/vfs"
)

// Open opens the queues in o.Dir. If cut is nil there are none, and old files are removed. Otherwise the queues are
// exactly those of this checkpoint, which must be the last released one or a later one. Files that it does not name are
// removed. An error that wraps ErrCorrupt means that the files do not match the checkpoint. Open verifies the whole
// index; blocks are verified when they are read, or by Check.
func Open(fsys vfs.FS, o Options, cut *Checkpoint) (*Virtualizer, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	v := &Virtualizer{
		fsys: fsys, opts: o, portion: imagePortion,
		queues:      newQueues(fsys, o),
		collector:   collector{liveRatioMin: o.LiveRatioMin},
		checkpoints: newCheckpoints(o.Dir),
	}
	if err := fsys.MkdirAll(o.Dir); err != nil {
		return nil, fmt.Errorf("virtualize: open: %w", err)
	}
	if cut != nil {
		if err := v.restore(*cut); err != nil {
			return nil, errors.Join(err, v.Close())
		}
	}
	if err := v.removeUnnamed(); err != nil {
		return nil, errors.Join(fmt.Errorf("virtualize: open: %w", err), v.Close())
	}
	return v, nil
}

// removeUnnamed deletes segments and index files that are not in use.
func (v *Virtualizer) removeUnnamed() error {
	names, err := v.fsys.List(v.opts.Dir)
	if err != nil {
		return err
	}
	segments := v.queues.log.segments.byNumber
	for _, base := range names {
		stale := ""
		if n, ok := parseName(base, "seg-", 8); ok && (n >= uint64(len(segments)) || segments[n] == nil) {
			stale = segmentName(v.opts.Dir, uint32(n))
		}
		if n, ok := parseName(base, "idx-", 16); ok && n != v.checkpoints.file.base {
			stale = indexName(v.opts.Dir, n)
		}
		if stale == "" {
			continue
		}
		if err := vfs.RemoveIfExists(v.fsys, stale); err != nil {
			return err
		}
	}
	return nil
}

// restore reads an index file and opens its segments.
func (v *Virtualizer) restore(cut Checkpoint) error {
	if cut.Generation > 0 && cut.Base == 0 {
		return corrupt("generation %d was written by an older version, in another format", cut.Generation)
	}
	if cut.Generation == 0 || cut.Base > cut.Generation {
		return corrupt("a cut has no generation %d from %d", cut.Generation, cut.Base)
	}
	data, err := vfs.ReadFile(v.fsys, indexName(v.opts.Dir, cut.Base))
	if err != nil {
		return fmt.Errorf("virtualize: open: %w", err)
	}
	if uint64(len(data)) < cut.Length {
		return corrupt("index %d has %d bytes, want %d", cut.Base, len(data), cut.Length)
	}
	l := loader{q: &v.queues, only: v.opts.Only, data: data[:cut.Length], buffered: map[uint32][]byte{}}
	if err := l.sections(cut); err != nil {
		return err
	}
	v.checkpoints.resume(l.head.generation, l.file)
	return l.finish()
}
