package diskq

import (
	"errors"
	"fmt"
	"io/fs"

	"orbweaver/internal/invariants"
	"orbweaver/internal/vfs"
)

// Checkpoint writes all items in memory to the files, without syncing, and returns the positions of head and tail.
// Items read before it are not in the checkpoint. Their files stay until Release.
func (q *Queue) Checkpoint() (Checkpoint, error) {
	if err := q.lock(); err != nil {
		return Checkpoint{}, err
	}
	defer q.mu.Unlock()
	if q.err != nil {
		return Checkpoint{}, q.err
	}
	if err := q.flush(); err != nil {
		return Checkpoint{}, err
	}
	c := Checkpoint{TailSegment: q.w.segment, TailOffset: uint64(q.w.offset), Count: q.count}
	switch {
	case q.count == 0:
		invariants.Check(q.caughtUp(), "diskq: all was read, and the reader is not at the tail")
		c.HeadSegment, c.HeadOffset = c.TailSegment, c.TailOffset
	case q.r.remaining > 0:
		c.HeadSegment, c.HeadOffset, c.HeadSkip = q.r.block.segment, uint64(q.r.block.offset), uint64(q.r.itemsTaken)
	default:
		err := q.unlocked(func() error { _, err := q.advance(); return err })
		if err != nil {
			return Checkpoint{}, err
		}
		head := q.r.follow()
		c.HeadSegment, c.HeadOffset = head.segment, uint64(head.offset)
	}
	return c, nil
}

// Sync makes everything up to the last checkpoint durable. Read and Append continue meanwhile. After a failed sync
// nothing can be appended any more, because the content of the disk is unknown. Continue with Open and the last durable
// checkpoint.
func (q *Queue) Sync() error {
	if err := q.lockMaintenance(); err != nil {
		return err
	}
	defer q.unlockMaintenance()
	if q.err != nil {
		return q.err
	}
	sealed, tail, newName := q.w.sealed, q.w.file, q.w.newName
	if !q.w.dirty {
		tail = nil
	}
	q.w.sealed, q.w.dirty, q.w.newName = nil, false, false
	q.mu.Unlock()
	err := syncFiles(sealed, tail)
	if newName && err == nil {
		err = q.fsys.SyncDir(q.opts.Dir)
	}
	q.mu.Lock()
	for q.busy {
		q.idle.Wait()
	}
	if err != nil {
		q.err = &stickyError{fmt.Errorf("diskq: sync: %w", err)}
		return q.err
	}
	return nil
}

// syncFiles syncs and closes the full files and syncs the tail. If the writer has sealed, synced and closed the tail in
// the meantime, it is durable already.
func syncFiles(sealed []vfs.File, tail vfs.File) error {
	var errs []error
	for _, f := range sealed {
		errs = append(errs, f.Sync(), f.Close())
	}
	if tail != nil {
		if err := tail.Sync(); !errors.Is(err, fs.ErrClosed) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Release must be called when the manifest with c is durable. It deletes the segments before the head of c. If a file
// cannot be deleted, the next Release tries again.
func (q *Queue) Release(c Checkpoint) error {
	if err := q.lockMaintenance(); err != nil {
		return err
	}
	defer q.unlockMaintenance()
	low, high := q.low, c.HeadSegment
	if high > q.w.segment {
		return fmt.Errorf("diskq: release of segment %d, and there are %d", high, q.w.segment)
	}
	q.mu.Unlock()
	var err error
	for low < high {
		if err = vfs.RemoveIfExists(q.fsys, segmentName(q.opts.Dir, low)); err != nil {
			err = fmt.Errorf("diskq: release: %w", err)
			break
		}
		low++
	}
	q.mu.Lock()
	for q.busy {
		q.idle.Wait()
	}
	q.low = low
	return err
}

// Close closes the files. Items since the last checkpoint may be lost.
func (q *Queue) Close() error {
	if err := q.lockMaintenance(); err != nil {
		return err
	}
	defer q.unlockMaintenance()
	q.done = true
	q.count = 0
	err := q.w.closeAll()
	if q.r.file != nil {
		err = errors.Join(err, q.r.file.Close())
		q.r.file = nil
	}
	if err != nil {
		return fmt.Errorf("diskq: close: %w", err)
	}
	return nil
}

// lockMaintenance waits until no Sync, Release or Close runs, and takes the lock. Until unlockMaintenance it keeps
// others out, even while the lock is free.
func (q *Queue) lockMaintenance() error {
	q.mu.Lock()
	for q.busy || q.maint {
		q.idle.Wait()
	}
	if q.done {
		q.mu.Unlock()
		return ErrClosed
	}
	q.maint = true
	return nil
}

func (q *Queue) unlockMaintenance() {
	q.maint = false
	q.idle.Broadcast()
	q.mu.Unlock()
}
