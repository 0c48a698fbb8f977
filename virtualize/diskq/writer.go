package diskq

import (
	"encoding/binary"
	"errors"
	"fmt"

	"orbweaver/internal/vfs"
)

// maxSealed is the number of full segments that may wait for a Sync. Above it the writer syncs one itself. This bounds
// the number of open files.
const maxSealed = 8

func (w *writer) reset() {
	if cap(w.buf) < reserved || cap(w.buf) > 4*blockTarget {
		w.buf = make([]byte, reserved, reserved+blockTarget+blockTarget/4)
	}
	w.buf, w.items, w.pos, w.itemsTaken = w.buf[:reserved], 0, reserved, 0
}

func (w *writer) add(item []byte) {
	w.buf = binary.AppendUvarint(w.buf, uint64(len(item)))
	w.buf = append(w.buf, item...)
	w.items++
}

// next returns the first unread item of the building block. It is valid until the next call of any method.
func (w *writer) next() []byte {
	item, rest, ok := nextItem(w.buf[w.pos:])
	if !ok {
		panic("BUG: diskq: the building block does not parse")
	}
	w.pos = len(w.buf) - len(rest)
	w.itemsTaken++
	if w.itemsTaken == w.items {
		// All items were read before they were written, so the block need not be written. The bytes stay until the next
		// add.
		w.buf, w.items, w.pos, w.itemsTaken = w.buf[:reserved], 0, reserved, 0
	}
	return item
}

// flush writes the unread part of the building block. After an error the queue is unchanged. The caller holds the lock.
func (q *Queue) flush() error {
	if q.w.items == 0 {
		return nil
	}
	err := q.unlocked(q.writeBlock)
	switch {
	case err == nil:
		return nil
	case vfs.IsFull(err):
		q.stats.FullFailures++
		return err
	case vfs.IsPassing(err):
		return err
	default:
		q.err = &stickyError{err}
		return q.err
	}
}

func (q *Queue) writeBlock() error {
	w := &q.w
	if err := q.roll(); err != nil {
		return fmt.Errorf("diskq: new segment: %w", err)
	}
	payload := w.buf[w.pos:]
	items := w.items - w.itemsTaken
	start := w.pos - blockHead
	putBlockHead(w.buf[start:], payload, w.segment, w.blockOffset(), items)
	if w.offset == 0 {
		start -= segmentHead
		putSegmentHead(w.buf[start:], w.segment)
	}
	out := w.buf[start:]
	if _, err := w.file.WriteAt(out, w.offset); err != nil {
		w.litter = true
		return fmt.Errorf("diskq: write: %w", err)
	}
	follow := q.caughtUp()
	block := position{segment: w.segment, offset: w.blockOffset()}
	w.offset += int64(len(out))
	w.dirty = true
	q.stats.BlocksOut++
	q.stats.BytesOut += uint64(len(out))
	if follow {
		// The reader was in this block. It keeps the bytes, and the writer gets the reader's old buffer.
		w.buf, q.r.buf = q.r.buf, w.buf
		q.r.payload, q.r.remaining, q.r.itemsTaken = payload, items, 0
		q.r.block, q.r.size = block, int64(blockHead+len(payload))
	}
	w.reset()
	return nil
}

// blockOffset returns the position of the next block.
func (w *writer) blockOffset() int64 { return max(w.offset, int64(segmentHead)) }

// roll makes sure that a segment with space is open. A full segment is truncated if a failed write left bytes after its
// end. It stays open for the next Sync.
func (q *Queue) roll() error {
	w := &q.w
	length := int64(len(w.buf) - w.pos + blockHead)
	if w.offset > int64(segmentHead) && w.offset+length > q.opts.SegmentBytes {
		if w.litter {
			if err := w.file.Truncate(w.offset); err != nil {
				return err
			}
			w.litter = false
		}
		next, err := q.fsys.Create(segmentName(q.opts.Dir, w.segment+1))
		if err != nil {
			return err
		}
		if q.caughtUp() {
			q.r.moveTo(position{segment: w.segment + 1})
		}
		w.sealed = append(w.sealed, w.file)
		w.file, w.segment, w.offset, w.dirty, w.newName = next, w.segment+1, 0, true, true
	}
	if len(w.sealed) > maxSealed {
		oldest := w.sealed[0]
		if err := oldest.Sync(); err != nil {
			return &stickyError{err}
		}
		w.sealed = w.sealed[1:]
		if err := oldest.Close(); err != nil {
			return &stickyError{err}
		}
	}
	if w.file != nil {
		return nil
	}
	file, err := q.fsys.Create(segmentName(q.opts.Dir, w.segment))
	if err != nil {
		return err
	}
	w.file, w.newName = file, true
	return nil
}

// stickyError is an error after which nothing is written any more. vfs.IsFull returns false for it: a file system that
// reports a full disk only at a sync has already lost accepted bytes, and another attempt would not restore them.
type stickyError struct{ err error }

func (e *stickyError) Error() string { return e.err.Error() }

func (e *stickyError) Unwrap() error {
	if vfs.IsFull(e.err) {
		return nil
	}
	return e.err
}

// closeAll closes the writer's files.
func (w *writer) closeAll() error {
	var errs []error
	for _, f := range w.sealed {
		errs = append(errs, f.Close())
	}
	if w.file != nil {
		errs = append(errs, w.file.Close())
	}
	w.sealed, w.file = nil, nil
	return errors.Join(errs...)
}
