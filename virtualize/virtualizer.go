package virtualize

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"orbweaver/internal/vfs"
)

// Options say where a Virtualizer lies. The zero value of every field but Dir is the default.
type Options struct {
	// Dir is the directory of the files; it is made if missing. Only files named seg-* and idx-* are touched in it.
	Dir string
	// SegmentBytes is the size of a segment file, a multiple of 4096 and at most 1 GiB; 64 MiB if 0.
	SegmentBytes int64
	// LiveRatioMin is the part of a full segment's bytes that must be live lest Collect empties it; 0.5 if 0.
	LiveRatioMin float64
	// BufferBytes bounds the memory of items that are not written yet, all queues together; 16 MiB if 0, at least
	// 4 KiB and at most 1 GiB.
	BufferBytes int
}

// WithDefaults returns a copy with zero values replaced.
func (o Options) WithDefaults() Options {
	if o.SegmentBytes == 0 {
		o.SegmentBytes = 64 << 20
	}
	if o.LiveRatioMin == 0 {
		o.LiveRatioMin = 0.5
	}
	if o.BufferBytes == 0 {
		o.BufferBytes = 16 << 20
	}
	return o
}

// Validate returns all faults of the options, joined.
func (o Options) Validate() error {
	var faults []error
	if o.Dir == "" {
		faults = append(faults, errors.New("virtualize: Dir is empty"))
	}
	if o.SegmentBytes < 4096 || o.SegmentBytes > 1<<30 || o.SegmentBytes%4096 != 0 {
		faults = append(faults, fmt.Errorf("virtualize: SegmentBytes %d is not a multiple of 4096 up to 2^30", o.SegmentBytes))
	}
	if !(o.LiveRatioMin > 0 && o.LiveRatioMin <= 1) {
		faults = append(faults, fmt.Errorf("virtualize: LiveRatioMin %v is not within 0 and 1", o.LiveRatioMin))
	}
	if o.BufferBytes < 4096 || o.BufferBytes > 1<<30 {
		faults = append(faults, fmt.Errorf("virtualize: BufferBytes %d is not within 2^12 and 2^30", o.BufferBytes))
	}
	return errors.Join(faults...)
}

// MaxItem is the largest item in bytes that these options allow: a quarter of a segment or of the buffer.
func (o Options) MaxItem() int { return int(min(o.SegmentBytes, int64(o.BufferBytes)) / 4) }

// blockTarget is the payload at which a block ends; small segments have smaller blocks.
func (o Options) blockTarget() int { return int(min(blockTarget, o.SegmentBytes/8)) }

// Stats are sizes now and counters since Open.
type Stats struct {
	Queues   int64 // now
	Items    int64 // now
	Buffered int64 // of them not written yet
	Segments int64 // files now
	Live     int64 // bytes of blocks with items that are still to come, their slots included
	Disk     int64 // bytes of all segment files
	Moved    int64 // addresses in the relocation table now
	Memory   int64 // about the bytes of index, buffer and relocation table

	Appended        int64 // items
	Taken           int64 // items
	Dropped         int64 // items of dropped queues
	BlocksWritten   int64 // when the buffer was written, moved ones not included
	Collected       int64 // bytes copied by Collect
	SegmentsDeleted int64
	FullFailures    int64 // writes refused by a full disk
}

// counters are what Stats reads. Only the owner writes them.
type counters struct {
	queues, items, buffered, segments, live, disk, moved, memory                      atomic.Int64
	appended, taken, dropped, blocksWritten, collected, segmentsDeleted, fullFailures atomic.Int64
}

// Virtualizer is millions of FIFO queues in one log. All methods belong to one goroutine, but for Stats and Sync.
type Virtualizer struct {
	fsys vfs.FS
	opts Options

	idx     index
	buf     buffer
	total   uint64
	ordinal uint64 // no ordinal of any block is as large

	segments []*segment // by number; nil where there is none
	active   *segment   // the one written to; nil before the first write
	reloc    map[address]address

	generation uint64 // of the last cut
	released   uint64 // of the last cut that was released, or opened
	oldest     uint64 // no generation file is older

	victim     *segment // being emptied by Collect
	victimSlot uint32
	scratch    []byte // of Collect

	checked address // the block whose checksum held last
	leaky   bool    // a damaged queue was dropped: segments may have less live bytes than the accounts say
	closed  bool
	count   counters

	mu      sync.Mutex // guards pending and segment.syncing; never held during I/O
	pending work
	syncing sync.Mutex // held by Sync and Close as a whole
	failed  atomic.Pointer[failure]
}

// work is what the next Sync has to make durable.
type work struct {
	segments map[*segment]struct{}
	index    string
}

// failure is the error after which nothing is written any more. It hides from vfs.IsFull: a file system that finds
// only at a sync that it is full has lost bytes that it had taken.
type failure struct{ err error }

func (f *failure) Error() string { return f.err.Error() }

func (f *failure) Unwrap() error {
	if vfs.IsFull(f.err) {
		return nil
	}
	return f.err
}

// writable says why nothing may be written, if so.
func (v *Virtualizer) writable() error {
	if v.closed {
		return ErrClosed
	}
	if f := v.failed.Load(); f != nil {
		return f
	}
	return nil
}

// Append adds an item at the end of a queue, which need not exist. It borrows the item. After an error nothing has
// changed; if vfs.IsFull says so of the error the call may be repeated when there is room.
func (v *Virtualizer) Append(key uint64, item []byte) error {
	if err := v.writable(); err != nil {
		return err
	}
	if len(item) > v.opts.MaxItem() {
		return fmt.Errorf("%w: %d bytes, and %d are allowed", ErrTooLarge, len(item), v.opts.MaxItem())
	}
	if !v.buf.fits(item) {
		if err := v.flush(); err != nil {
			return err
		}
	}
	id, ok := v.idx.find(key)
	if !ok {
		id = v.idx.insert(key)
		v.idx.at(id).first = v.ordinal
		v.count.queues.Store(int64(v.idx.count))
	}
	e := v.idx.at(id)
	if uint64(e.disk)+uint64(e.buffered) == 1<<32-1 {
		return fmt.Errorf("%w: queue %x has 2^32-1 items", ErrTooMany, key)
	}
	v.buf.add(id, e, item)
	v.total++
	v.count.appended.Add(1)
	v.count.items.Store(int64(v.total))
	return nil
}

// Len returns how many items a queue has.
func (v *Virtualizer) Len(key uint64) uint64 {
	id, ok := v.idx.find(key)
	if !ok {
		return 0
	}
	e := v.idx.at(id)
	return uint64(e.disk) + uint64(e.buffered)
}

// Total returns how many items all queues have.
func (v *Virtualizer) Total() uint64 { return v.total }

// gone forgets a queue that has no items.
func (v *Virtualizer) gone(id uint32) {
	v.idx.remove(id)
	v.count.queues.Store(int64(v.idx.count))
}

// Stats returns the counters. Any goroutine may call it; Buffered, Memory, Moved, Live, Disk and Segments are as of the
// last time the owner wrote or collected.
func (v *Virtualizer) Stats() Stats {
	c := &v.count
	return Stats{
		Queues: c.queues.Load(), Items: c.items.Load(), Buffered: c.buffered.Load(), Segments: c.segments.Load(),
		Live: c.live.Load(), Disk: c.disk.Load(), Moved: c.moved.Load(), Memory: c.memory.Load(),
		Appended: c.appended.Load(), Taken: c.taken.Load(), Dropped: c.dropped.Load(),
		BlocksWritten: c.blocksWritten.Load(), Collected: c.collected.Load(),
		SegmentsDeleted: c.segmentsDeleted.Load(), FullFailures: c.fullFailures.Load(),
	}
}

// publish brings the counters up to date that would cost too much to keep with every call.
func (v *Virtualizer) publish() {
	var live, disk, segments int64
	for _, s := range v.segments {
		if s != nil {
			live += s.live
			disk += int64(len(s.data))
			segments++
		}
	}
	v.count.live.Store(live)
	v.count.disk.Store(disk)
	v.count.segments.Store(segments)
	v.count.buffered.Store(int64(v.buf.items))
	v.count.moved.Store(int64(len(v.reloc)))
	v.count.memory.Store(v.idx.bytes() + int64(cap(v.buf.arena)) + int64(cap(v.buf.dirty))*4 + int64(len(v.reloc))*32)
}
