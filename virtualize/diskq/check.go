package diskq

import (
	"errors"
	"fmt"
	"io"
)

// Check reads every unread block and verifies heads, checksums, items and their number. It takes as long as reading the
// queue, and other calls wait meanwhile.
func (q *Queue) Check() error {
	if err := q.calls.lock(); err != nil {
		return err
	}
	defer q.calls.unlock()
	return q.calls.unlocked(q.check)
}

func (q *Queue) check() error {
	if q.w.pos > reserved && !q.caughtUp() {
		return errors.New("diskq: items of the building block were read before older ones")
	}
	c := checker{files: q.files, tail: q.w.tail(), items: uint64(q.r.remaining) + uint64(q.w.unread())}
	for at := q.r.follow(); at != c.tail && at.segment <= c.tail.segment; at = (position{segment: at.segment + 1}) {
		if err := c.segment(at); err != nil {
			return err
		}
	}
	if c.items != q.count {
		return fmt.Errorf("%w: %d items found, %d expected", ErrCorrupt, c.items, q.count)
	}
	return nil
}

// checker verifies blocks and counts their items.
type checker struct {
	files directory
	tail  position // the end of the blocks
	items uint64   // that were found
	buf   []byte
}

// segment verifies the blocks of a segment from a position on.
func (c *checker) segment(at position) (err error) {
	file, err := c.files.open(at.segment)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	end, err := file.Size()
	if err != nil {
		return err
	}
	if at.segment == c.tail.segment {
		if end < c.tail.offset {
			return corrupt(at.segment, c.tail.offset, "%v: the file ends at %d", io.ErrUnexpectedEOF, end)
		}
		end = c.tail.offset
	}
	for at.offset = max(at.offset, int64(segmentHead)); at.offset < end; {
		buf, payload, items, err := readBlock(file, at, end, c.buf)
		c.buf = buf
		if err != nil {
			return err
		}
		c.items += uint64(items)
		at.offset += int64(blockHead + len(payload))
	}
	return nil
}
