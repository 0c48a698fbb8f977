package diskq

import (
	"errors"
	"fmt"

	"orbweaver/internal/invariants"
	"orbweaver/internal/vfs"
)

// Checkpoint writes all items in memory to the files, without syncing, and returns the positions of head and tail.
// Items read before it are not in the checkpoint. Their files stay until Release.
func (q *Queue) Checkpoint() (Checkpoint, error) {
	if err := q.calls.lock(); err != nil {
		return Checkpoint{}, err
	}
	defer q.calls.unlock()
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
		err := q.calls.unlocked(func() error { _, err := q.advance(); return err })
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
	if err := q.calls.lockMaintenance(); err != nil {
		return err
	}
	defer q.calls.unlockMaintenance()
	if q.err != nil {
		return q.err
	}
	work := q.w.takeUnsynced()
	q.calls.unlock()
	err := work.sync(q.files)
	q.calls.lockIdle()
	if err != nil {
		q.err = &stickyError{fmt.Errorf("diskq: sync: %w", err)}
		return q.err
	}
	return nil
}

// Release must be called when the manifest with c is durable. It deletes the segments before the head of c. If a file
// cannot be deleted, the next Release tries again.
func (q *Queue) Release(c Checkpoint) error {
	if err := q.calls.lockMaintenance(); err != nil {
		return err
	}
	defer q.calls.unlockMaintenance()
	low, high := q.low, c.HeadSegment
	if high > q.w.segment {
		return fmt.Errorf("diskq: release of segment %d, and there are %d", high, q.w.segment)
	}
	q.calls.unlock()
	var err error
	for low < high {
		if err = vfs.RemoveIfExists(q.files.fsys, q.files.name(low)); err != nil {
			err = fmt.Errorf("diskq: release: %w", err)
			break
		}
		low++
	}
	q.calls.lockIdle()
	q.low = low
	return err
}

// Close closes the files. Items since the last checkpoint may be lost.
func (q *Queue) Close() error {
	if err := q.calls.lockMaintenance(); err != nil {
		return err
	}
	defer q.calls.unlockMaintenance()
	q.calls.closed = true
	q.count = 0
	if err := errors.Join(q.w.closeAll(), q.r.close()); err != nil {
		return fmt.Errorf("diskq: close: %w", err)
	}
	return nil
}
