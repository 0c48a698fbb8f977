package diskq

import (
	"errors"
	"fmt"
	"sync"

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
	fsys vfs.FS
	opts Options

	mu    sync.Mutex
	idle  sync.Cond // signalled when busy or maintaining ends
	busy  bool      // a call does I/O on the state below
	maint bool      // a Sync, Release or Close runs
	done  bool      // closed
	err   error     // the error of a failed write or sync; nothing is written any more

	low   uint64 // first segment that may have a file
	count uint64 // unread items
	stats Stats

	w writer
	r reader
}

// writer is the tail: the building block and its position on disk.
type writer struct {
	segment uint64
	offset  int64
	file    vfs.File   // nil until the segment's first block is written
	sealed  []vfs.File // full segments that are not yet synced
	dirty   bool       // file has unsynced blocks
	newName bool       // a file was created since the last sync of the directory
	litter  bool       // a write failed in the middle: there may be bytes after offset

	buf        []byte // reserved bytes, then the payload
	items      uint32 // in buf
	pos        int    // read position in buf; after reserved only if the reader has read all files
	itemsTaken uint32 // items before pos
}

// lock locks the state for a call. Waiting for I/O of another call uses a condition, which works in virtual time.
func (q *Queue) lock() error {
	q.mu.Lock()
	for q.busy {
		q.idle.Wait()
	}
	if q.done {
		q.mu.Unlock()
		return ErrClosed
	}
	return nil
}

// unlocked runs I/O on the state with the lock free, while no other call can use the state. The caller holds the lock.
func (q *Queue) unlocked(io func() error) error {
	q.busy = true
	q.mu.Unlock()
	err := io()
	q.mu.Lock()
	q.busy = false
	q.idle.Broadcast()
	return err
}

// Append adds an item at the end. It borrows the item. After an error the item is not in the queue. If vfs.IsFull
// reports true for the error, the call may be repeated later. Any other write error is returned by all later calls too.
func (q *Queue) Append(item []byte) error {
	if len(item) > MaxItem {
		return fmt.Errorf("%w: %d bytes", ErrTooLarge, len(item))
	}
	if err := q.lock(); err != nil {
		return err
	}
	defer q.mu.Unlock()
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
	if err := q.lock(); err != nil {
		return dst, false, err
	}
	defer q.mu.Unlock()
	if q.count == 0 {
		return dst, false, nil
	}
	if q.r.remaining == 0 && (q.w.items == 0 || !q.caughtUp()) {
		if err := q.unlocked(q.load); err != nil {
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

// Len returns the number of unread items; 0 once closed.
func (q *Queue) Len() uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.count
}

// Stats returns the counters. It waits for running I/O.
func (q *Queue) Stats() Stats {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.busy {
		q.idle.Wait()
	}
	s := q.stats
	s.Items = q.count
	s.Segments = q.w.segment - q.low + 1
	return s
}
