package diskq

import (
	"errors"
	"fmt"
	"io"

	"orbweaver/internal/vfs"
)

// position is a place in a segment.
type position struct {
	segment uint64
	offset  int64
}

// reader is the head: the current block and the position of the next one.
type reader struct {
	file       vfs.File // the segment fileOf, or nil
	fileOf     uint64
	buf        []byte // memory of payload
	payload    []byte // unread rest of the block
	remaining  uint32 // items in payload
	itemsTaken uint32 // items of the block that were already read

	block position // of the block's head
	size  int64    // bytes of the block with its head; the next block starts after it
}

// next returns the next item of the current block. It is valid until the next call of any method.
func (r *reader) next() []byte {
	item, rest, ok := nextItem(r.payload)
	if !ok {
		panic("BUG: diskq: a checked block does not parse")
	}
	r.payload = rest
	r.remaining--
	r.itemsTaken++
	return item
}

// tail returns the position of the next block to be written.
func (q *Queue) tail() position { return position{q.w.segment, q.w.offset} }

// follow returns the position of the next block to read, or the end of a full segment.
func (r *reader) follow() position { return position{r.block.segment, r.block.offset + r.size} }

// moveTo sets the position of the next block to read. The current block must be finished.
func (r *reader) moveTo(at position) {
	r.block, r.size, r.payload, r.itemsTaken = at, 0, nil, 0
}

// caughtUp reports whether the reader has finished its block and the next one is the building block.
func (q *Queue) caughtUp() bool { return q.r.remaining == 0 && q.r.follow() == q.tail() }

// load reads the next block from disk, or finds that it is the building block. The current block must be finished.
// After an error the reader is unchanged.
func (q *Queue) load() error {
	end, err := q.advance()
	if err != nil || q.caughtUp() {
		return err
	}
	at := q.r.follow()
	buf, payload, items, err := readBlock(q.r.file, at, end, q.r.buf)
	q.r.buf = buf
	if err != nil {
		return err
	}
	if uint64(items) > q.count {
		return corrupt(at.segment, at.offset, "%d items where %d are left in the queue", items, q.count)
	}
	q.r.payload, q.r.remaining, q.r.itemsTaken = payload, items, 0
	q.r.block, q.r.size = at, int64(blockHead+len(payload))
	q.stats.BlocksIn++
	q.stats.BytesIn += uint64(q.r.size)
	return nil
}

// advance moves to the next block, over the ends of full segments, and opens its segment. It returns the end of the
// blocks of that segment. If it reaches the tail, the building block must have unread items.
func (q *Queue) advance() (end int64, err error) {
	for !q.caughtUp() {
		at := q.r.follow()
		if at.segment > q.w.segment {
			panic("BUG: diskq: the head is behind the tail")
		}
		if err := q.openForReading(at.segment); err != nil {
			return 0, err
		}
		if end, err = q.segmentEnd(at.segment); err != nil {
			return 0, err
		}
		if at.offset == 0 {
			at.offset = int64(segmentHead)
		}
		if at.offset < end {
			q.r.moveTo(at)
			return end, nil
		}
		if at.segment == q.w.segment {
			return 0, corrupt(at.segment, at.offset, "behind the end at %d", end)
		}
		q.r.moveTo(position{segment: at.segment + 1})
	}
	if q.w.items == q.w.itemsTaken {
		at := q.tail()
		return 0, corrupt(at.segment, at.offset, "the queue ends here, with %d items to come", q.count)
	}
	return q.w.offset, nil
}

// segmentEnd returns the end of the blocks of the segment that is open for reading.
func (q *Queue) segmentEnd(segment uint64) (int64, error) {
	if segment == q.w.segment {
		return q.w.offset, nil
	}
	end, err := q.r.file.Size()
	if err != nil {
		return 0, fmt.Errorf("diskq: read: %w", err)
	}
	return end, nil
}

func (q *Queue) openForReading(segment uint64) error {
	if q.r.file != nil && q.r.fileOf == segment {
		return nil
	}
	file, err := openSegment(q.fsys, q.opts.Dir, segment)
	if err != nil {
		return err
	}
	old := q.r.file
	q.r.file, q.r.fileOf = file, segment
	if old == nil {
		return nil
	}
	if err := old.Close(); err != nil {
		return fmt.Errorf("diskq: read: %w", err)
	}
	return nil
}

// openSegment opens a segment for reading and verifies its head.
func openSegment(fsys vfs.FS, dir string, segment uint64) (vfs.File, error) {
	file, err := fsys.Open(segmentName(dir, segment))
	if err != nil {
		return nil, fmt.Errorf("diskq: read: %w", err)
	}
	head := make([]byte, segmentHead)
	n, err := file.ReadAt(head, 0)
	if err == nil || errors.Is(err, io.EOF) {
		err = checkSegmentHead(head[:n], segment)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// readBlock reads and verifies the block at a position of a segment that ends at end. It reads into buf or a larger
// buffer, which it returns. payload is a part of it.
func readBlock(file vfs.File, at position, end int64, buf []byte) (grown, payload []byte, items uint32, err error) {
	room := end - at.offset
	if room < blockHead {
		return buf, nil, 0, corrupt(at.segment, at.offset, "%d bytes are left for a block", room)
	}
	const guess = blockHead + blockTarget
	if cap(buf) < guess || cap(buf) > 8*blockTarget {
		buf = make([]byte, guess, guess+blockTarget/4)
	}
	buf = buf[:min(room, int64(cap(buf)))]
	if err := readFull(file, buf, at.offset); err != nil {
		return buf, nil, 0, err
	}
	length, items, sum, err := parseBlockHead(buf, at.segment, at.offset, room-blockHead)
	if err != nil {
		return buf, nil, 0, err
	}
	if have, need := len(buf), blockHead+length; need > have {
		buf = append(buf, make([]byte, need-have)...)
		if err := readFull(file, buf[have:need], at.offset+int64(have)); err != nil {
			return buf, nil, 0, err
		}
	}
	payload = buf[blockHead : blockHead+length]
	if checksum(payload, at.segment, at.offset, items) != sum {
		return buf, nil, 0, corrupt(at.segment, at.offset, "checksum does not hold")
	}
	rest := payload
	for range items {
		var ok bool
		if _, rest, ok = nextItem(rest); !ok {
			return buf, nil, 0, corrupt(at.segment, at.offset, "items do not fill the block")
		}
	}
	if len(rest) > 0 {
		return buf, nil, 0, corrupt(at.segment, at.offset, "%d bytes behind the items", len(rest))
	}
	return buf, payload, items, nil
}

func readFull(file vfs.File, buf []byte, offset int64) error {
	n, err := file.ReadAt(buf, offset)
	if n == len(buf) {
		return nil
	}
	return fmt.Errorf("diskq: read %d of %d bytes at %d: %w", n, len(buf), offset, errors.Join(ErrCorrupt, err))
}
