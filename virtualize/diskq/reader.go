package diskq

import (
	"errors"
	"fmt"

	"orbweaver/internal/vfs"
)

// position is a place in a segment.
type position struct {
	segment uint64
	offset  int64
}

// reader is the head: the current block and the position of the next one.
type reader struct {
	files      directory
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

// follow returns the position of the next block to read, or the end of a full segment.
func (r *reader) follow() position { return position{r.block.segment, r.block.offset + r.size} }

// moveTo sets the position of the next block to read. The current block must be finished.
func (r *reader) moveTo(at position) {
	r.block, r.size, r.payload, r.itemsTaken = at, 0, nil, 0
}

// advance moves to the next block, over the ends of full segments up to the tail, and opens its segment. It returns the
// end of the blocks of that segment. The current block must be finished.
func (r *reader) advance(tail position) (end int64, err error) {
	for r.follow() != tail {
		at := r.follow()
		if at.segment > tail.segment {
			panic("BUG: diskq: the head is behind the tail")
		}
		if err := r.openFile(at.segment); err != nil {
			return 0, err
		}
		if end, err = r.segmentEnd(at.segment, tail); err != nil {
			return 0, err
		}
		if at.offset == 0 {
			at.offset = int64(segmentHead)
		}
		if at.offset < end {
			r.moveTo(at)
			return end, nil
		}
		if at.segment == tail.segment {
			return 0, corrupt(at.segment, at.offset, "behind the end at %d", end)
		}
		r.moveTo(position{segment: at.segment + 1})
	}
	return tail.offset, nil
}

// segmentEnd returns the end of the blocks of the open segment.
func (r *reader) segmentEnd(segment uint64, tail position) (int64, error) {
	if segment == tail.segment {
		return tail.offset, nil
	}
	end, err := r.file.Size()
	if err != nil {
		return 0, fmt.Errorf("diskq: read: %w", err)
	}
	return end, nil
}

// openFile opens a segment, unless it is open.
func (r *reader) openFile(segment uint64) error {
	if r.file != nil && r.fileOf == segment {
		return nil
	}
	file, err := r.files.open(segment)
	if err != nil {
		return err
	}
	old := r.file
	r.file, r.fileOf = file, segment
	if old == nil {
		return nil
	}
	if err := old.Close(); err != nil {
		return fmt.Errorf("diskq: read: %w", err)
	}
	return nil
}

// load reads the block that advance has found. It must not have more than the given number of items. After an error the
// reader is unchanged.
func (r *reader) load(end int64, itemsMost uint64) error {
	at := r.follow()
	buf, payload, items, err := readBlock(r.file, at, end, r.buf)
	r.buf = buf
	if err != nil {
		return err
	}
	if uint64(items) > itemsMost {
		return corrupt(at.segment, at.offset, "%d items where %d are left in the queue", items, itemsMost)
	}
	r.set(at, payload, items)
	return nil
}

// set makes a block the current one. payload is in buf.
func (r *reader) set(at position, payload []byte, items uint32) {
	r.payload, r.remaining, r.itemsTaken = payload, items, 0
	r.block, r.size = at, int64(blockHead+len(payload))
}

// close closes the file.
func (r *reader) close() error {
	if r.file == nil {
		return nil
	}
	err := r.file.Close()
	r.file = nil
	return err
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
