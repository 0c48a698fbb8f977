package diskq

import (
	"errors"
	"fmt"

	"orbweaver/internal/vfs"
)

// Open opens the queue in o.Dir. With a nil cut it is new and empty, and old files are removed. Otherwise it goes back
// to exactly that cut, which must be the last one that was released or a later one; what was appended after it is
// removed. Errors that wrap ErrCorrupt say that the files are not those that the cut names; all items but those of
// the first block are checked only when they are read, or by Check.
func Open(fsys vfs.FS, o Options, cut *Cut) (*Queue, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	q := &Queue{fsys: fsys, opts: o}
	q.idle.L = &q.mu
	q.w.reset()
	if err := fsys.MkdirAll(o.Dir); err != nil {
		return nil, fmt.Errorf("diskq: open: %w", err)
	}
	var from Cut
	if cut != nil {
		from = *cut
	}
	if err := from.validate(); err != nil {
		return nil, err
	}
	if err := removeOutside(fsys, o.Dir, cut); err != nil {
		return nil, fmt.Errorf("diskq: open: %w", err)
	}
	if err := q.goBack(from); err != nil {
		return nil, errors.Join(err, q.Close())
	}
	return q, nil
}

// validate looks for what no Cut can return.
func (c Cut) validate() error {
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

// removeOutside deletes the segments that the cut does not name; all of them if it is nil.
func removeOutside(fsys vfs.FS, dir string, cut *Cut) error {
	names, err := fsys.List(dir)
	if err != nil {
		return err
	}
	for _, base := range names {
		segment, ok := parseSegmentName(base)
		if !ok || (cut != nil && segment >= cut.HeadSegment && segment <= cut.TailSegment) {
			continue
		}
		if err := vfs.RemoveIfExists(fsys, segmentName(dir, segment)); err != nil {
			return err
		}
	}
	return nil
}

// goBack sets head and tail to a cut that was validated.
func (q *Queue) goBack(c Cut) error {
	q.low, q.count = c.HeadSegment, c.Count
	q.w.segment, q.w.offset = c.TailSegment, int64(c.TailOffset)
	q.r.block = position{c.HeadSegment, int64(c.HeadOffset)}
	if c.TailOffset > 0 {
		if err := q.cutTail(); err != nil {
			return err
		}
	}
	if c.Count == 0 {
		return nil
	}
	// The count is checked against whole blocks, and what was read of the first one counts there.
	if q.count += c.HeadSkip; q.count < c.Count {
		return fmt.Errorf("%w: impossible cut %+v", ErrCorrupt, c)
	}
	if err := q.load(); err != nil {
		return err
	}
	if c.HeadSkip >= uint64(q.r.left) {
		return corrupt(c.HeadSegment, int64(c.HeadOffset), "the cut skips %d items of %d", c.HeadSkip, q.r.left)
	}
	for range c.HeadSkip {
		q.r.next()
	}
	q.count = c.Count
	return nil
}

// cutTail opens the last segment and takes away what lies behind the cut.
func (q *Queue) cutTail() error {
	file, err := openSegment(q.fsys, q.opts.Dir, q.w.segment)
	if err != nil {
		return err
	}
	size, err := file.Size()
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("diskq: open: %w", err)
	}
	if size < q.w.offset {
		return corrupt(q.w.segment, q.w.offset, "the file ends at %d", size)
	}
	q.w.file, err = q.fsys.OpenRW(segmentName(q.opts.Dir, q.w.segment))
	if err == nil && size > q.w.offset {
		err = q.w.file.Truncate(q.w.offset)
	}
	if err != nil {
		return fmt.Errorf("diskq: open: %w", err)
	}
	// The caller may have come from a crash whose cut was written but whose disk was slower: sync it again.
	q.w.dirty, q.w.newName = true, true
	return nil
}
