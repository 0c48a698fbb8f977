package diskq

import (
	"errors"
	"fmt"
	"io/fs"

	"orbweaver/internal/invariants"
	"orbweaver/internal/vfs"
)

// Cut writes what is still in memory to the files, without syncing them, and returns where head and tail are. Items
// read before it are given out: a rollback to this cut does not bring them back. Their files stay until Release.
func (q *Queue) Cut() (Cut, error) {
	if err := q.lock(); err != nil {
		return Cut{}, err
	}
	defer q.mu.Unlock()
	if q.err != nil {
		return Cut{}, q.err
	}
	if err := q.flush(); err != nil {
		return Cut{}, err
	}
	c := Cut{TailSegment: q.w.segment, TailOffset: uint64(q.w.offset), Count: q.count}
	switch {
	case q.count == 0:
		invariants.Check(q.caughtUp(), "diskq: all was read, and the reader is not at the tail")
		c.HeadSegment, c.HeadOffset = c.TailSegment, c.TailOffset
	case q.r.left > 0:
		c.HeadSegment, c.HeadOffset, c.HeadSkip = q.r.block.segment, uint64(q.r.block.offset), uint64(q.r.taken)
	default:
		err := q.unlocked(func() error { _, err := q.advance(); return err })
		if err != nil {
			return Cut{}, err
		}
		head := q.r.follow()
		c.HeadSegment, c.HeadOffset = head.segment, uint64(head.offset)
	}
	return c, nil
}

// Sync makes everything up to the last Cut durable. Reading and appending go on meanwhile. After it has failed nothing
// can be appended any more: what the disk holds is unknown, and the way on is Open with the last durable cut.
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

// syncFiles syncs and closes the sealed files and syncs the tail. The tail may have been sealed, synced and closed by
// the writer in the meantime: then it is durable.
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

// Release says that the manifest that names c is durable: segments that lie wholly before its head are deleted.
// A file that could not be deleted is tried again by the next Release.
func (q *Queue) Release(c Cut) error {
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

// Close closes the files. What was not written by a Cut is forgotten, as a rollback to the last cut would forget it.
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

// lockMaintenance takes the lock when no other Sync, Release or Close is under way, and keeps those out until
// unlockMaintenance even while the lock is free.
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
