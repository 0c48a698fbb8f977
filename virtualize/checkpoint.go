package virtualize

import (
	"errors"
	"fmt"

	"orbweaver/internal/vfs"
)

// Checkpoint names an index file and the length up to which it is valid. The index names everything else. It belongs
// into the manifest.
type Checkpoint struct {
	Generation uint64 `json:"generation"`
	Base       uint64 `json:"base"`     // generation of the first snapshot in the index file, and part of its name
	Length     uint64 `json:"length"`   // of the index file in bytes, including the section of this checkpoint
	Checksum   uint64 `json:"checksum"` // of the section of this checkpoint, which contains the checksum of the one before
	Queues     uint64 `json:"queues"`
	Items      uint64 `json:"items"`
}

// ErrSnapshotOpen is returned if another snapshot is not yet written or abandoned.
var ErrSnapshotOpen = errors.New("virtualize: another cut is being written")

// Snapshot takes a snapshot. The caller must then call Write or Abandon. It takes microseconds, and a little more for
// each thousand segments and each million queues. It returns ErrSnapshotOpen if another one is open.
func (v *Virtualizer) Snapshot() (*Snapshot, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.stopped.writable(); err != nil {
		return nil, err
	}
	q := &v.queues
	if q.image.open {
		return nil, ErrSnapshotOpen
	}
	v.checkpoints.generation++ // no generation is used twice
	im := &Snapshot{
		v: v, generation: v.checkpoints.generation, base: v.checkpoints.file.wantsBase(),
		moves: q.log.segments.moved.takeChanged(), queues: uint64(q.idx.count), items: q.total,
	}
	im.head = q.appendHead(nil, im.header())
	q.image = image{open: true, entryCount: q.idx.made}
	q.image.queues, im.deleted = q.changes.begin()
	if im.base {
		q.image.queues.addBelow(q.image.entryCount)
	}
	q.log.segments.nameLive(im.generation, v.checkpoints.addUnsynced)
	return im, nil
}

// Sync makes the last written checkpoint durable. Other calls continue meanwhile. After a failed sync nothing can be
// written any more, because the content of the disk is unknown. Continue with Open and the last durable checkpoint.
func (v *Virtualizer) Sync() error {
	v.syncing.Lock()
	defer v.syncing.Unlock()
	v.mu.Lock()
	if err := v.stopped.failed; err != nil {
		defer v.mu.Unlock()
		return err
	}
	todo := v.checkpoints.takeUnsynced()
	v.mu.Unlock()
	err := todo.sync(v.fsys, v.opts.Dir)
	v.mu.Lock()
	defer v.mu.Unlock()
	repeat := vfs.IsPassing(err) // the index could not be opened, but no sync has failed
	v.checkpoints.endSync(todo, repeat)
	switch {
	case err == nil:
		return nil
	case repeat:
		return fmt.Errorf("virtualize: sync: %w", err)
	default:
		return v.stopped.fail(fmt.Errorf("virtualize: sync: %w", err))
	}
}

// Release must be called when the manifest with c is durable. It deletes what only older checkpoints need.
func (v *Virtualizer) Release(c Checkpoint) error {
	gone, err := v.release(c)
	if err != nil {
		return err
	}
	var errs []error
	for _, base := range gone {
		if err := vfs.RemoveIfExists(v.fsys, indexName(v.opts.Dir, base)); err != nil {
			errs = append(errs, fmt.Errorf("virtualize: release: %w", err)) // The next Open removes it.
		}
	}
	return errors.Join(append(errs, v.deleteDead())...)
}

func (v *Virtualizer) release(c Checkpoint) (gone []uint64, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.stopped.closed {
		return nil, ErrClosed
	}
	return v.checkpoints.release(c)
}

// Close unmaps and closes the files. Changes since the last written snapshot are lost. It waits for a running Write or
// Sync.
func (v *Virtualizer) Close() error {
	v.syncing.Lock()
	defer v.syncing.Unlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.stopped.closed {
		return ErrClosed
	}
	v.stopped.closed = true
	err := v.queues.close()
	v.collector.victim = nil
	v.checkpoints.unsynced = work{segments: map[*segment]struct{}{}}
	if err != nil {
		return fmt.Errorf("virtualize: close: %w", err)
	}
	return nil
}
