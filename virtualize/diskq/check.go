package diskq

import (
	"errors"
	"fmt"
	"io"
)

// Check reads every unread block and verifies heads, checksums, items and their number. It takes as long as reading the
// queue, and other calls wait meanwhile.
func (q *Queue) Check() error {
	if err := q.lock(); err != nil {
		return err
	}
	defer q.mu.Unlock()
	return q.unlocked(q.check)
}

func (q *Queue) check() (err error) {
	w, r := &q.w, &q.r
	if w.pos > reserved && !q.caughtUp() {
		return errors.New("diskq: items of the building block were read before older ones")
	}
	found := uint64(r.remaining) + uint64(w.items-w.itemsTaken)
	at := position{r.block.segment, r.block.offset + r.size}
	var buf []byte
	for at != q.tail() && at.segment <= w.segment {
		var items uint64
		if items, buf, err = q.checkSegment(at, buf); err != nil {
			return err
		}
		found += items
		at = position{segment: at.segment + 1}
	}
	if found != q.count {
		return fmt.Errorf("%w: %d items found, %d expected", ErrCorrupt, found, q.count)
	}
	return nil
}

// checkSegment verifies the blocks of a segment from a position on.
func (q *Queue) checkSegment(at position, buf []byte) (items uint64, grown []byte, err error) {
	file, err := openSegment(q.fsys, q.opts.Dir, at.segment)
	if err != nil {
		return 0, buf, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	end, err := file.Size()
	if err != nil {
		return 0, buf, err
	}
	if at.segment == q.w.segment {
		if end < q.w.offset {
			return 0, buf, corrupt(at.segment, q.w.offset, "%v: the file ends at %d", io.ErrUnexpectedEOF, end)
		}
		end = q.w.offset
	}
	for at.offset = max(at.offset, int64(segmentHead)); at.offset < end; {
		var payload []byte
		var n uint32
		if buf, payload, n, err = readBlock(file, at, end, buf); err != nil {
			return 0, buf, err
		}
		items += uint64(n)
		at.offset += int64(blockHead + len(payload))
	}
	return items, buf, nil
}
