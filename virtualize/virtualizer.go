package virtualize

import (
	"errors"
	"fmt"
	"sync"

	"orbweaver/internal/vfs"
)

// Options say where a Virtualizer lies. The zero value of every field but Dir is the default.
type Options struct {
	// Dir is the directory of the files; it is made if missing. Only files named seg-* and idx-* are touched in it.
	Dir string
	// SegmentBytes is the size of a segment file, a multiple of 4096, at least 8 KiB and at most 1 GiB; 64 MiB if 0.
	SegmentBytes int64
	// LiveRatioMin is the part of a full segment's bytes that must be live lest Collect empties it; 0.6 if 0.
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
		o.LiveRatioMin = 0.6
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
	if o.SegmentBytes < 8192 || o.SegmentBytes > 1<<30 || o.SegmentBytes%4096 != 0 {
		faults = append(faults, fmt.Errorf("virtualize: SegmentBytes %d is not a multiple of 4096 from 2^13 to 2^30", o.SegmentBytes))
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

// blockTarget is how many bytes of items end a block; small segments have smaller blocks.
func (o Options) blockTarget() int { return int(min(blockTarget, o.SegmentBytes/8)) }

// Stats are sizes now and counters since Open.
type Stats struct {
	Queues   int64 // now
	Items    int64 // now
	Buffered int64 // of them not written yet
	Segments int64 // files now
	Live     int64 // bytes of blocks with items that are still to come, their slots included
	Used     int64 // bytes of all blocks, dead or alive
	Disk     int64 // bytes of all segment files
	Index    int64 // bytes of the index file, as far as the last cut names it
	Moved    int64 // addresses in the relocation table now
	Memory   int64 // about the bytes of index, buffer, relocation table and what the next cut has to hold

	BufferMemory int64 // of these, the buffer's

	Appended        int64 // items
	Taken           int64 // items
	Dropped         int64 // items of dropped queues
	BlocksWritten   int64 // when the buffer was written, moved ones not included
	BytesWritten    int64 // of these blocks
	Collected       int64 // bytes copied by Collect
	SegmentsDeleted int64
	FullFailures    int64 // writes refused by a full disk
}

// Virtualizer is millions of FIFO queues in one log. All methods may be called by anybody at any time; the order of
// items in a queue is the order in which the calls got their turn.
type Virtualizer struct {
	fsys vfs.FS
	opts Options

	portion int // of an image; tests make it small

	mu sync.Mutex // guards what follows; never held during I/O but for the making of a segment

	idx     *index
	buf     buffer
	pack    packer
	unpack  unpacker
	pile    pile
	chain   []spent // blocks of a queue that is about to leave the log or to be moved
	total   uint64
	ordinal uint64 // no ordinal of any block is as large

	segments []*segment // by number; nil where there is none
	active   *segment   // the one written to; nil before the first write
	reloc    relocations
	first    *codes // of the first segment, and of items in the index file
	codes    *codes // of the next segment
	models   map[model]*codes

	changes    changes
	spare      set    // empty: takes turns with that of changes
	image      *Image // the one that is being written
	file       indexFile
	generation uint64   // of the last cut or image
	written    uint64   // of the last cut
	released   uint64   // of the last cut that was released, or opened
	old        []uint64 // index files before the present one that were not removed yet

	victim     *segment // being emptied by Collect
	victimSlot uint32

	checked address // the block whose checksum held last
	leaky   bool    // a damaged queue was dropped: segments may have less live bytes than the accounts say
	closed  bool
	failed  *failure
	count   Stats
	pending work

	syncing sync.Mutex // held by Sync, Write and Close as a whole, and taken before mu
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

// Append adds an item at the end of a queue, which need not exist. It borrows the item. After an error nothing has
// changed; if vfs.IsFull says so of the error the call may be repeated when there is room. Other errors of the mapping
// wrap ErrMapped.
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

// Len returns how many items a queue has.
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

// Total returns how many items all queues have.
func (v *Virtualizer) Total() uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.total
}

// Stats returns sizes and counters. It looks at each segment.
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
		sets += int64(cap(v.image.changes.queues))*8 + int64(cap(v.image.aside))
	}
	c.BufferMemory = v.buf.bytesHeld()
	c.Memory = v.idx.bytes() + c.BufferMemory + sets + int64(v.reloc.count)*32 +
		int64(cap(v.changes.deleted))*8 + int64(cap(v.changes.moves))*16
	return c
}
