package diskq

import (
	"errors"
	"fmt"

	"orbweaver/internal/vfs"
)

// Options configure a Queue. A zero field has its default, except Dir.
type Options struct {
	// Dir is the directory of the segment files. It is required, and created if missing. Only files named q-* in it are
	// changed.
	Dir string
	// SegmentBytes is the length in bytes at which a new segment file starts. Default 16 MiB.
	SegmentBytes int64
}

// WithDefaults returns a copy of o whose zero fields have their defaults.
func (o Options) WithDefaults() Options {
	if o.SegmentBytes == 0 {
		o.SegmentBytes = 16 << 20
	}
	return o
}

// Validate returns all faults of o as a joined error, or nil.
func (o Options) Validate() error {
	var faults []error
	if o.Dir == "" {
		faults = append(faults, errors.New("diskq: Dir is empty"))
	}
	if o.SegmentBytes < 64 || o.SegmentBytes > 1<<40 {
		faults = append(faults, fmt.Errorf("diskq: SegmentBytes %d is not within 64 and 2^40", o.SegmentBytes))
	}
	return errors.Join(faults...)
}

// Checkpoint is the position of head and tail: the items between them are unread. It belongs into the manifest.
type Checkpoint struct {
	HeadSegment uint64 `json:"head_segment"`
	HeadOffset  uint64 `json:"head_offset"` // of a block
	HeadSkip    uint64 `json:"head_skip"`   // items of that block that were read
	TailSegment uint64 `json:"tail_segment"`
	TailOffset  uint64 `json:"tail_offset"`
	Count       uint64 `json:"count"` // unread items
}

// Stats are counters since Open, except where stated.
type Stats struct {
	Items        uint64 // unread now
	Segments     uint64 // files now, or about to be made
	Appended     uint64
	Read         uint64
	BlocksOut    uint64 // blocks written
	BlocksIn     uint64 // blocks read from disk
	BytesOut     uint64 // bytes written
	BytesIn      uint64 // bytes read from disk, whole blocks
	FullFailures uint64 // writes refused by a full disk
}

// Queue is a FIFO queue on disk. Several goroutines may call Append. One may call Read, and one Checkpoint, Sync and
// Release.
type Queue struct {
	files directory
	calls callLock // guards the following fields

	err   error  // the error of a failed write or sync; nothing is written any more
	low   uint64 // first segment that may have a file
	count uint64 // unread items
	stats Stats

	w writer
	r reader
}

// newQueue returns an empty queue without files.
func newQueue(fsys vfs.FS, o Options) *Queue {
	files := directory{fsys: fsys, dir: o.Dir}
	q := &Queue{files: files, w: writer{files: files, segmentBytes: o.SegmentBytes}, r: reader{files: files}}
	q.calls.idle.L = &q.calls.mu
	q.w.reset()
	return q
}

// Append adds an item at the end. It borrows the item. After an error the item is not in the queue. If vfs.IsFull
// reports true for the error, the call may be repeated later. Any other write error is returned by all later calls too.
func (q *Queue) Append(item []byte) error {
	if len(item) > MaxItem {
		return fmt.Errorf("%w: %d bytes", ErrTooLarge, len(item))
	}
	if err := q.calls.lock(); err != nil {
		return err
	}
	defer q.calls.unlock()
	if q.err != nil {
		return q.err
	}
	if q.w.items > 0 && len(q.w.buf)-reserved+len(item) > blockTarget {
		if err := q.flush(); err != nil {
			return err
		}
	}
	q.w.add(item)
	q.count++
	q.stats.Appended++
	return nil
}

// Read appends the oldest item to dst. If the queue is empty or the read failed, ok is false and dst is returned
// unchanged. A failed read removes nothing and may be repeated.
func (q *Queue) Read(dst []byte) (item []byte, ok bool, err error) {
	if err := q.calls.lock(); err != nil {
		return dst, false, err
	}
	defer q.calls.unlock()
	if q.count == 0 {
		return dst, false, nil
	}
	if q.r.remaining == 0 && (q.w.items == 0 || !q.caughtUp()) {
		if err := q.calls.unlocked(q.load); err != nil {
			return dst, false, err
		}
	}
	if q.r.remaining > 0 {
		dst = append(dst, q.r.next()...)
	} else {
		dst = append(dst, q.w.next()...)
	}
	q.count--
	q.stats.Read++
	return dst, true, nil
}

// Peek calls f with the items that the next calls of Read return, up to most of them, as far as they are in one block
// in memory. It removes none. f borrows the item and must not call the queue. Peek is for the goroutine that calls
// Read.
func (q *Queue) Peek(most int, f func(item []byte)) {
	q.calls.mu.Lock()
	defer q.calls.unlock()
	block, n := q.r.payload, int(q.r.remaining)
	switch {
	case q.calls.closed || q.calls.busy:
		return
	case n == 0 && q.caughtUp():
		block, n = q.w.buf[q.w.pos:], int(q.w.unread())
	}
	for range min(n, most) {
		item, rest, ok := nextItem(block)
		if !ok {
			panic("BUG: diskq: a checked block does not parse")
		}
		f(item)
		block = rest
	}
}

// Len returns the number of unread items; 0 once closed.
func (q *Queue) Len() uint64 {
	q.calls.mu.Lock()
	defer q.calls.unlock()
	return q.count
}

// Stats returns the counters. It waits for running I/O.
func (q *Queue) Stats() Stats {
	q.calls.lockIdle()
	defer q.calls.unlock()
	s := q.stats
	s.Items = q.count
	s.Segments = q.w.segment - q.low + 1
	return s
}

// flush writes the unread part of the building block. After an error the queue is unchanged. The caller holds the lock.
func (q *Queue) flush() error {
	if q.w.items == 0 {
		return nil
	}
	err := q.calls.unlocked(q.writeBlock)
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

// writeBlock writes the building block. If the reader has read everything before it, it becomes the reader's block.
func (q *Queue) writeBlock() error {
	follow := q.caughtUp()
	err := q.w.roll()
	if tail := q.w.tail(); follow && q.r.follow() != tail {
		q.r.moveTo(tail) // a new segment has begun
	}
	if err != nil {
		return fmt.Errorf("diskq: new segment: %w", err)
	}
	items := q.w.unread()
	at, payload, written, err := q.w.write()
	if err != nil {
		return err
	}
	q.stats.BlocksOut++
	q.stats.BytesOut += uint64(written)
	if follow {
		// The reader was in this block. It keeps the bytes, and the writer gets the reader's old buffer.
		q.w.buf, q.r.buf = q.r.buf, q.w.buf
		q.r.set(at, payload, items)
	}
	q.w.reset()
	return nil
}

// caughtUp reports whether the reader has finished its block and the next one is the building block.
func (q *Queue) caughtUp() bool { return q.r.remaining == 0 && q.r.follow() == q.w.tail() }

// load reads the next block from disk, or finds that it is the building block. The current block must be finished.
// After an error the reader is unchanged.
func (q *Queue) load() error {
	end, err := q.advance()
	if err != nil || q.caughtUp() {
		return err
	}
	if err := q.r.load(end, q.count); err != nil {
		return err
	}
	q.stats.BlocksIn++
	q.stats.BytesIn += uint64(q.r.size)
	return nil
}

// advance moves the reader to the next block. If it reaches the tail, the building block must have unread items.
func (q *Queue) advance() (end int64, err error) {
	tail := q.w.tail()
	if end, err = q.r.advance(tail); err == nil && q.caughtUp() && q.w.unread() == 0 {
		err = corrupt(tail.segment, tail.offset, "the queue ends here, with %d items to come", q.count)
	}
	return end, err
}
