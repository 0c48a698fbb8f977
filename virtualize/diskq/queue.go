package diskq

import (
	"errors"
	"fmt"
	"sync"

	"orbweaver/internal/vfs"
)

// Options say where a queue lies. The zero value of every field but Dir is the default.
type Options struct {
	// Dir is the directory of the segment files; it is made if missing. Only files named q-* are touched in it.
	Dir string
	// SegmentBytes is the length at which a new segment file begins; 16 MiB if 0.
	SegmentBytes int64
}

// WithDefaults returns a copy with zero values replaced.
func (o Options) WithDefaults() Options {
	if o.SegmentBytes == 0 {
		o.SegmentBytes = 16 << 20
	}
	return o
}

// Validate returns all faults of the options, joined.
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

// Cut is a position pair of a queue: what lies between head and tail was unread. It goes into the manifest.
type Cut struct {
	HeadSegment uint64 `json:"head_segment"`
	HeadOffset  uint64 `json:"head_offset"` // of a block
	HeadSkip    uint64 `json:"head_skip"`   // items of that block that were read
	TailSegment uint64 `json:"tail_segment"`
	TailOffset  uint64 `json:"tail_offset"`
	Count       uint64 `json:"count"` // unread items
}

// Stats are counters since Open, but for those that say otherwise.
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

// Queue is one FIFO on disk. Several goroutines may Append, one may Read and one may Cut, Sync and Release at a time.
type Queue struct {
	fsys vfs.FS
	opts Options

	mu    sync.Mutex
	idle  sync.Cond // signalled when busy or maintaining ends
	busy  bool      // somebody does I/O on the state below
	maint bool      // somebody does Sync, Release or Close
	done  bool      // closed
	err   error     // a failed write or sync; nothing is written any more

	low   uint64 // first segment that may have a file
	count uint64 // unread items
	stats Stats

	w writer
	r reader
}

// writer is the tail: the building block and where it will go.
type writer struct {
	segment uint64
	offset  int64
	file    vfs.File   // nil until the segment's first block is written
	sealed  []vfs.File // full segments that are not synced yet
	dirty   bool       // file has unsynced blocks
	newName bool       // a file was made since the last sync of the directory
	litter  bool       // a write failed half-way: there may be bytes behind offset

	buf   []byte // reserved bytes, then the payload
	items uint32 // in buf
	pos   int    // where in buf the reader goes on; beyond reserved only if it has caught up
	taken uint32 // items before pos
}

// lock takes the state for one call. Waiting for I/O of another is waiting on a condition, for the sake of tests in
// virtual time.
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

// unlocked runs I/O on the state with nobody else at it and the lock free. The caller holds the lock.
func (q *Queue) unlocked(io func() error) error {
	q.busy = true
	q.mu.Unlock()
	err := io()
	q.mu.Lock()
	q.busy = false
	q.idle.Broadcast()
	return err
}

// Append adds an item at the end. It borrows the item. After an error the item is not in the queue; if vfs.IsFull says
// so of the error the call may be repeated later, any other error of a write is returned by all later calls too.
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

// Read appends the oldest item to dst. ok is false, and dst returned as it came, when the queue is empty or the read
// failed; a failed read takes nothing and may be repeated.
func (q *Queue) Read(dst []byte) (item []byte, ok bool, err error) {
	if err := q.lock(); err != nil {
		return dst, false, err
	}
	defer q.mu.Unlock()
	if q.count == 0 {
		return dst, false, nil
	}
	if q.r.left == 0 && (q.w.items == 0 || !q.caughtUp()) {
		if err := q.unlocked(q.load); err != nil {
			return dst, false, err
		}
	}
	if q.r.left > 0 {
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

// Stats returns the counters. It waits for I/O that is under way.
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
