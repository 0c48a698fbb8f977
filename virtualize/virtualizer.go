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
	return o
}

// Validate returns all faults of o as a joined error, or nil.
func (o Options) Validate() error {
	var faults []error
	if o.Dir == "" {
		faults = append(faults, errors.New("virtualize: Dir is empty"))
	}
	if o.SegmentBytes < 8192 || o.SegmentBytes > 1<<30 || o.SegmentBytes%4096 != 0 {
		faults = append(
			faults,
			fmt.Errorf("virtualize: SegmentBytes %d is not a multiple of 4096 from 2^13 to 2^30", o.SegmentBytes),
		)
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
	Collected       int64 // bytes copied by Collect
	SegmentsDeleted int64
	FullFailures    int64 // writes refused by a full disk
}

// Virtualizer is a set of FIFO queues in one log. All methods may be called by any goroutine at any time. The order of
// items in a queue is the order in which the calls got the lock.
type Virtualizer struct {
	fsys vfs.FS
	opts Options

	portion int // bytes per portion of a snapshot; tests use small ones

	mu sync.Mutex // guards the following fields; not held during I/O, except to create a segment

	idx     *index
	buf     buffer
	pack    packer
	unpack  unpacker
	pile    itemList
	chain   []spent // blocks of a queue that will be deleted or moved
	total   uint64
	ordinal uint64 // greater than the ordinal of any block

	segments []*segment // by number; nil where there is none
	active   *segment   // the segment to write to; nil before the first write
	reloc    relocations
	first    *codes // of the first segment, and of items in the index file
	codes    *codes // of the next segment
	models   map[model]*codes

	changes    changes
	spare      set       // empty: alternates with that of changes
	image      *Snapshot // the open one
	file       indexFile
	generation uint64   // of the last checkpoint or snapshot
	written    uint64   // of the last written checkpoint
	released   uint64   // of the last checkpoint that was released or opened
	old        []uint64 // older index files that are not yet removed

	victim     *segment // being emptied by Collect
	victimSlot uint32

	checked address // the last block with a verified checksum
	leaky   bool    // a damaged queue was dropped: segments may count too many live bytes
	closed  bool
	failed  *failure
	count   Stats
	pending work

	syncing sync.Mutex // held by Sync, Write and Close; locked before mu
}

// work is what the next Sync must make durable.
type work struct {
	segments map[*segment]struct{}
	index    string
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

// writable returns the error that prevents writes, or nil.
func (v *Virtualizer) writable() error {
	if v.closed {
		return ErrClosed
	}
	if v.failed != nil {
		return v.failed
	}
	return nil
}

func (v *Virtualizer) checkWritable() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.writable()
}

// Append adds an item at the end of a queue, and creates the queue if needed. It borrows the item. After an error
// nothing has changed. If vfs.IsFull reports true for the error, the call may be repeated when the disk has space.
// Other errors of the mapping wrap ErrMapped.
func (v *Virtualizer) Append(key uint64, item []byte) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.writable(); err != nil {
		return err
	}
	if len(item) > v.opts.MaxItem() {
		return fmt.Errorf("%w: %d bytes, and %d are allowed", ErrTooLarge, len(item), v.opts.MaxItem())
	}
	if err := v.makeRoom(item); err != nil {
		return err
	}
	id, ok := v.idx.find(key)
	if !ok {
		id = v.insert(key)
		v.idx.at(id).first = v.ordinal
	}
	e := v.idx.at(id)
	if e.items() == 1<<32-1 {
		return fmt.Errorf("%w: queue %x has 2^32-1 items", ErrTooMany, key)
	}
	if ok {
		v.touch(id)
	}
	v.buf.add(id, e, item)
	v.total++
	v.count.Appended++
	return nil
}

// Len returns the number of items of a queue.
func (v *Virtualizer) Len(key uint64) uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return 0
	}
	id, ok := v.idx.find(key)
	if !ok {
		return 0
	}
	return v.idx.at(id).items()
}

// Total returns the number of items of all queues.
func (v *Virtualizer) Total() uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.total
}

// Stats returns sizes and counters. Its cost is proportional to the number of segments.
func (v *Virtualizer) Stats() Stats {
	v.mu.Lock()
	defer v.mu.Unlock()
	c := v.count
	c.Queues, c.Items, c.Buffered = int64(v.idx.count), int64(v.total), int64(v.buf.items)
	c.Moved, c.Index = int64(v.reloc.count), int64(v.file.length)
	for _, s := range v.segments {
		if s != nil {
			c.Live += max(s.live, 0)
			c.Used += s.used()
			c.Disk += int64(len(s.data))
			c.Segments++
		}
	}
	sets := int64(cap(v.changes.queues)+cap(v.spare)) * 8
	if v.image != nil {
		sets += int64(cap(v.image.changes.queues))*8 + int64(cap(v.image.copiedEarly))
	}
	c.BufferMemory = v.buf.bytesHeld()
	c.Memory = v.idx.bytes() + c.BufferMemory + sets + int64(v.reloc.count)*32 +
		int64(cap(v.changes.deleted))*8 + int64(cap(v.changes.moves))*16
	return c
}
