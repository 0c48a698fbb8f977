package diskq

import (
	"fmt"

	"orbweaver/internal/vfs"
)

// Each calls f for every item that was unread at a checkpoint, in order, until f returns an error. f borrows the item.
// Each only reads, so the queue may be open elsewhere. If a later checkpoint is released there, files may be missing,
// and the error wraps fs.ErrNotExist.
func Each(fsys vfs.FS, dir string, c Checkpoint, f func(item []byte) error) error {
	if err := c.validate(); err != nil {
		return err
	}
	e := each{files: directory{fsys: fsys, dir: dir}, cut: c, remaining: c.Count, skip: c.HeadSkip}
	for segment := c.HeadSegment; segment <= c.TailSegment && e.remaining > 0; segment++ {
		if err := e.segment(segment, f); err != nil {
			return err
		}
	}
	if e.remaining > 0 {
		return corrupt(c.TailSegment, int64(c.TailOffset), "the queue ends here, with %d items to come", e.remaining)
	}
	return nil
}

type each struct {
	files     directory
	cut       Checkpoint
	remaining uint64 // items not yet visited
	skip      uint64 // items to skip first
	buf       []byte
}

func (e *each) segment(segment uint64, f func(item []byte) error) error {
	file, err := e.files.open(segment)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	end, err := file.Size()
	if err != nil {
		return fmt.Errorf("diskq: read: %w", err)
	}
	at := position{segment, int64(segmentHead)}
	if segment == e.cut.HeadSegment && e.cut.HeadOffset > 0 {
		at.offset = int64(e.cut.HeadOffset)
	}
	if segment == e.cut.TailSegment {
		end = min(end, int64(e.cut.TailOffset))
	}
	for at.offset < end && e.remaining > 0 {
		buf, payload, items, err := readBlock(file, at, end, e.buf)
		e.buf = buf
		if err != nil {
			return err
		}
		at.offset += int64(blockHead + len(payload))
		for range items {
			item, rest, _ := nextItem(payload) // readBlock has verified it
			payload = rest
			if e.skip > 0 {
				e.skip--
				continue
			}
			if e.remaining--; e.remaining == 1<<64-1 {
				return corrupt(segment, at.offset, "more items than the cut has")
			}
			if err := f(item); err != nil {
				return err
			}
		}
	}
	return nil
}
