package diskq

import (
	"errors"
	"fmt"

	"orbweaver/internal/vfs"
)

// Open opens the queue in o.Dir. If cut is nil, it is new and empty, and old files are removed. Otherwise Open restores
// exactly this checkpoint, which must be the last released one or a later one, and removes later items. An error that
// wraps ErrCorrupt means that the files do not match the checkpoint. Only the items of the first block are verified
// now, the others by Read or Check.
func Open(fsys vfs.FS, o Options, cut *Checkpoint) (*Queue, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	q := newQueue(fsys, o)
	if err := fsys.MkdirAll(o.Dir); err != nil {
		return nil, fmt.Errorf("diskq: open: %w", err)
	}
	var from Checkpoint
	if cut != nil {
		from = *cut
	}
	if err := from.validate(); err != nil {
		return nil, err
	}
	if err := q.files.removeOutside(cut); err != nil {
		return nil, fmt.Errorf("diskq: open: %w", err)
	}
	if err := q.goBack(from); err != nil {
		return nil, errors.Join(err, q.Close())
	}
	return q, nil
}

// validate returns an error for values that Checkpoint never returns.
func (c Checkpoint) validate() error {
	const limit = 1 << 62 // offsets stay far from overflow
	head := position{c.HeadSegment, int64(c.HeadOffset)}
	tail := position{c.TailSegment, int64(c.TailOffset)}
	switch {
	case c.HeadOffset > limit || c.TailOffset > limit || c.TailSegment > limit || c.HeadSegment > c.TailSegment,
		c.HeadOffset != 0 && c.HeadOffset < uint64(segmentHead),
		c.TailOffset != 0 && c.TailOffset <= uint64(segmentHead+blockHead),
		c.Count == 0 && (head != tail || c.HeadSkip != 0),
		c.Count > 0 && c.HeadSegment == c.TailSegment && c.HeadOffset >= c.TailOffset:
		return fmt.Errorf("%w: impossible cut %+v", ErrCorrupt, c)
	}
	return nil
}

// goBack sets head and tail to a valid checkpoint.
func (q *Queue) goBack(c Checkpoint) error {
	q.low, q.count = c.HeadSegment, c.Count
	q.w.segment, q.w.offset = c.TailSegment, int64(c.TailOffset)
	q.r.block = position{c.HeadSegment, int64(c.HeadOffset)}
	if c.TailOffset > 0 {
		if err := q.w.cutTail(); err != nil {
			return err
		}
	}
	if c.Count == 0 {
		return nil
	}
	// The count is compared with complete blocks, so items of the first block that were already read count here.
	if q.count += c.HeadSkip; q.count < c.Count {
		return fmt.Errorf("%w: impossible cut %+v", ErrCorrupt, c)
	}
	if err := q.load(); err != nil {
		return err
	}
	if c.HeadSkip >= uint64(q.r.remaining) {
		return corrupt(c.HeadSegment, int64(c.HeadOffset), "the cut skips %d items of %d", c.HeadSkip, q.r.remaining)
	}
	for range c.HeadSkip {
		q.r.next()
	}
	q.count = c.Count
	return nil
}
