package virtualize

import (
	"errors"
	"fmt"
	"sync"

	"orbweaver/internal/vfs"
)

// Options configure a Virtualizer. A zero field has its default, except Dir.
type Options struct {
	// Dir is the directory of the files. It is required, and created if missing. Only files named seg-* and idx-* in it
	// are changed.
	Dir string
	// SegmentBytes is the size of a segment file, a multiple of 4096. Default 64 MiB, range 8 KiB to 1 GiB.
	SegmentBytes int64
	// LiveRatioMin is the smallest share of live bytes of a full segment: Collect empties segments with less. Default
	// 0.6.
	LiveRatioMin float64
	// BufferBytes is the most memory for items that are not yet written, for all queues together. Default 16 MiB, range
	// 4 KiB to 1 GiB.
	BufferBytes int
	// ReadAheadFrom is the length of the log in bytes from which ReadAhead does something. Default 256 MiB: what is less
	// is in memory.
	ReadAheadFrom int64
	// Only has the keys of queues that are read with Peek. If it is not nil, Open loads the buffered items of no others,
	// and the Virtualizer must not be used for anything else.
	Only []uint64
}

// WithDefaults returns a copy of o whose zero fields have their defaults.
func (o Options) WithDefaults() Options {
	if o.SegmentBytes == 0 {
		o.SegmentBytes = 64 << 20
	}
	if o.LiveRatioMin == 0 {
		o.LiveRatioMin = 0.6
	}
	if o.BufferBytes == 0 {
		o.BufferBytes = 16 << 20
	}
	if o.ReadAheadFrom == 0 {
		o.ReadAheadFrom = 256 << 20
	}
	return o
}

// Validate returns all faults of o as a joined error, or nil.
func (o Options) Validate() error {
	var faults []error
	if o.Dir == "" {
		faults = append(faults, errors.New("virtualize: Dir is empty"))
	}
	if o.SegmentBytes < 8192 || o.SegmentBytes > 1<<30 || o.SegmentBytes%4096 != 0 {
		faults = append(faults,
			fmt.Errorf("virtualize: SegmentBytes %d is not a multiple of 4096 from 2^13 to 2^30", o.SegmentBytes))
	}
	if !(o.LiveRatioMin > 0 && o.LiveRatioMin <= 1) {
		faults = append(faults, fmt.Errorf("virtualize: LiveRatioMin %v is not within 0 and 1", o.LiveRatioMin))
	}
	if o.BufferBytes < 4096 || o.BufferBytes > 1<<30 {
		faults = append(faults, fmt.Errorf("virtualize: BufferBytes %d is not within 2^12 and 2^30", o.BufferBytes))
	}
	return errors.Join(faults...)
}

// MaxItem returns the size in bytes of the largest item: a quarter of a segment or of the buffer.
func (o Options) MaxItem() int { return int(min(o.SegmentBytes, int64(o.BufferBytes)) / 4) }

// blockTarget returns the number of bytes of items at which a block ends. Small segments have smaller blocks.
func (o Options) blockTarget() int { return int(min(blockTarget, o.SegmentBytes/8)) }

// Stats are current sizes, and counters since Open.
type Stats struct {
	Queues   int64 // now
	Items    int64 // now
	Buffered int64 // of these, not yet written
	Segments int64 // files now
	Live     int64 // bytes of blocks with items that are not yet taken, including slots
	Used     int64 // bytes of all blocks, live or dead
	Disk     int64 // bytes of all segment files
	Index    int64 // length of the index file at the last checkpoint
	Moved    int64 // current size of the relocation table
	Memory   int64 // approximate bytes of index, buffer, relocation table and recorded changes

	BufferMemory int64 // of these, in the buffer

	Appended        int64 // items
	ItemsTaken      int64 // items
	Dropped         int64 // items of dropped queues
	BlocksWritten   int64 // from the buffer; moved blocks are not included
	BytesWritten    int64 // of these blocks
	BlocksExpected  int64 // that ReadAhead asked for
	Collected       int64 // bytes copied by Collect
	SegmentsDeleted int64
	FullFailures    int64 // writes refused by a full disk
}

// Virtualizer is a set of FIFO queues in one log. All methods may be called by any goroutine at any time. The order of
// items in a queue is the order in which the calls got the lock.
type Virtualizer struct {
	fsys    vfs.FS
	opts    Options
	portion int // bytes per portion of a snapshot; tests use small ones

	syncing sync.Mutex // held by Sync, Write and Close; locked before mu
	mu      sync.Mutex // guards the following fields; not held during I/O, except to create a segment

	queues      queues
	collector   collector
	checkpoints checkpoints
	stopped     stopped
}

// stopped says why a Virtualizer refuses calls. The zero value is that of one that is open.
type stopped struct {
	closed bool
	failed error // nothing is written any more
}

// fail makes an error of a sync the result of all later writes.
func (s *stopped) fail(err error) error {
	s.failed = &failure{err}
	return s.failed
}

// writable returns the error that prevents writes, or nil.
func (s *stopped) writable() error {
	if s.closed {
		return ErrClosed
	}
	return s.failed
}

// failure is the error after which nothing is written any more. vfs.IsFull returns false for it: a file system that
// reports a full disk only at a sync has already lost accepted bytes.
type failure struct{ err error }

func (f *failure) Error() string { return f.err.Error() }

func (f *failure) Unwrap() error {
	if vfs.IsFull(f.err) {
		return nil
	}
	return f.err
}

// Append adds an item at the end of a queue, and creates the queue if needed. It borrows the item. After an error
// nothing has changed. If vfs.IsFull reports true for the error, the call may be repeated when the disk has space.
// Other errors of the mapping wrap ErrMapped.
func (v *Virtualizer) Append(key uint64, item []byte) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.stopped.writable(); err != nil {
		return err
	}
	if len(item) > v.opts.MaxItem() {
		return fmt.Errorf("%w: %d bytes, and %d are allowed", ErrTooLarge, len(item), v.opts.MaxItem())
	}
	return v.queues.append(key, item)
}

// Take removes up to limit items from the front of a queue and passes each to emit, oldest first. emit borrows the
// bytes and must not call the Virtualizer. n is the number of emitted items. They are removed even if an error follows,
// which wraps ErrCorrupt or ErrMapped.
func (v *Virtualizer) Take(key uint64, limit int, emit func(item []byte)) (n int, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.stopped.closed {
		return 0, ErrClosed
	}
	return v.queues.takeItems(key, limit, emit)
}

// ReadAhead says that Take will be called for these queues, with the same limit. What it will read and is not in memory
// is read from the disk for all of them together, which saves time on a disk that answers many reads at once. It waits
// for slots alone, holding the lock. It does nothing while the log is shorter than ReadAheadFrom.
func (v *Virtualizer) ReadAhead(keys []uint64, limit int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.stopped.closed && v.queues.log.segments.diskBytes() >= v.opts.ReadAheadFrom {
		v.queues.readAhead(keys, limit)
	}
}

// Each calls f with the items of a queue, oldest first, without taking them, until f returns false. f borrows the bytes
// and must not call the Virtualizer. Errors wrap ErrCorrupt or ErrMapped.
func (v *Virtualizer) Each(key uint64, f func(item []byte) bool) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.stopped.closed {
		return ErrClosed
	}
	_, err := v.queues.eachFrom(key, 0, f)
	return err
}

// Peek is Each for up to most items from ordinal from on. A caller that goes on from next sees every item that is not
// taken meanwhile, however long the queue is, and no call holds the lock for long. next is from at the end of the
// queue. The ordinal of the first call is 0.
func (v *Virtualizer) Peek(key, from uint64, most int, f func(item []byte)) (next uint64, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.stopped.closed {
		return from, ErrClosed
	}
	seen := 0
	first, err := v.queues.eachFrom(key, from, func(item []byte) bool {
		f(item)
		seen++
		return seen < most
	})
	if seen == 0 {
		return from, err
	}
	return first + uint64(seen), err
}

// Drop deletes a queue and returns the number of its items. It reads a few bytes of each block. If the error wraps
// ErrCorrupt, the queue is deleted nevertheless, and Collect reclaims the space of lost blocks. If it wraps ErrMapped,
// nothing has changed.
func (v *Virtualizer) Drop(key uint64) (n uint64, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.stopped.closed {
		return 0, ErrClosed
	}
	return v.queues.drop(key)
}

// Len returns the number of items of a queue.
func (v *Virtualizer) Len(key uint64) uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.stopped.closed {
		return 0
	}
	return v.queues.len(key)
}

// Total returns the number of items of all queues.
func (v *Virtualizer) Total() uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.queues.total
}

// Stats returns sizes and counters. Its cost is proportional to the number of segments.
func (v *Virtualizer) Stats() Stats {
	v.mu.Lock()
	defer v.mu.Unlock()
	c := Stats{
		Index: int64(v.checkpoints.file.length), Collected: v.collector.moved,
		FullFailures: v.checkpoints.fullFailures,
	}
	v.queues.addStats(&c)
	return c
}

// Check reads every block of every queue and verifies links, ordinals, checksums, items, the live bytes of each
// segment, the relocation table and the totals. It takes as long as reading all items.
func (v *Virtualizer) Check() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.stopped.closed {
		return ErrClosed
	}
	return v.queues.check()
}

// Collect does a small step of reclaiming space and returns the number of bytes copied. It deletes segments that are
// not needed. It also copies live blocks to the end of the log, from the full segment with the fewest live bytes, if
// less than LiveRatioMin of its bytes is live. budget bounds the bytes examined and copied; one block or small queue
// may exceed it. The lock is held for about ten KB at a time. With no other calls, repeated calls end with 0. Collect
// only saves space; correctness does not depend on it.
//
// An error that wraps ErrCorrupt names a segment that cannot be emptied. Later calls ignore it.
func (v *Virtualizer) Collect(budgetBytes int64) (moved int64, err error) {
	if err := v.checkWritable(); err != nil {
		return 0, err
	}
	if err := v.deleteDead(); err != nil {
		return 0, err
	}
	for more := true; more && budgetBytes > 0; {
		var n, spent int64
		n, spent, more, err = v.collectStep(min(budgetBytes, collectStride))
		moved += n
		budgetBytes -= spent
		if err != nil {
			return moved, err
		}
	}
	return moved, v.deleteDead()
}

func (v *Virtualizer) checkWritable() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.stopped.writable()
}

// collectStep collects under one hold of the lock.
func (v *Virtualizer) collectStep(budget int64) (moved, spent int64, more bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.stopped.writable(); err != nil {
		return 0, 0, false, err
	}
	return v.collector.step(&v.queues, budget)
}

// deleteDead deletes the segments that neither a queue nor a checkpoint needs. The lock is not held while files are
// removed.
func (v *Virtualizer) deleteDead() error {
	v.mu.Lock()
	l := &v.queues.log.segments
	// V3: only segments without live records that no checkpoint from released on names
	dead := l.takeDead(v.checkpoints.released)
	for _, s := range dead {
		v.checkpoints.forget(s)
		v.collector.forget(s)
	}
	v.mu.Unlock()
	var errs []error
	for _, s := range dead {
		errs = append(errs, l.removeFile(s))
	}
	return errors.Join(errs...)
}
