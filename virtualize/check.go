package virtualize

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime/debug"
)

// checker verifies the queues. It adds up what it reaches, and compares the sums with the accounts.
type checker struct {
	q       *queues
	live    []int64              // by segment: bytes of the blocks of queues
	reached map[address]struct{} // original addresses of the moved blocks of queues
}

func (q *queues) check() (err error) {
	l := &q.log
	defer l.guard(reading, debug.SetPanicOnFault(true), &err)
	c := checker{
		q:       q,
		live:    make([]int64, len(l.segments.byNumber)),
		reached: make(map[address]struct{}, l.segments.moved.count),
	}
	if err := c.checkQueues(); err != nil {
		return err
	}
	if len(c.reached) != l.segments.moved.count {
		return fmt.Errorf("%w: %d blocks were moved, and %d are in the table",
			ErrCorrupt, len(c.reached), l.segments.moved.count)
	}
	return c.checkSegments()
}

// checkQueues verifies all queues and the number of their items.
func (c *checker) checkQueues() error {
	q := c.q
	var disk, buffered uint64
	err := q.idx.each(func(id uint32, e *entry) error {
		if found, ok := q.idx.find(e.key); !ok || found != id {
			return corrupt("queue %x is not found by its key", e.key)
		}
		if e.disk == 0 && e.buffered == 0 {
			return corrupt("queue %x is empty and known", e.key)
		}
		disk += uint64(e.disk)
		buffered += uint64(e.buffered)
		return c.checkQueue(*e)
	})
	if err != nil {
		return err
	}
	if disk+buffered != q.total || buffered != q.buf.items {
		return fmt.Errorf("%w: %d items on disk and %d buffered, want %d with %d buffered",
			ErrCorrupt, disk, buffered, q.total, q.buf.items)
	}
	return nil
}

// checkQueue verifies one queue.
func (c *checker) checkQueue(e entry) error {
	l := &c.q.log
	for at := e.head; e.disk > 0; at = e.head {
		b, left, after, err := l.headBlock(&e)
		if err != nil {
			return err
		}
		if err := l.items(&b, at, left, func([]byte) bool { return true }); err != nil {
			return err
		}
		if !l.unpack.atEnd() {
			return corrupt("block %v: something follows its items", at)
		}
		s, i := l.segments.locate(at)
		_, moved := l.segments.moved.get(at)
		if moved {
			c.reached[at] = struct{}{}
		}
		if moved != b.moved {
			return corrupt("block %v: moved %v, and in the table: %v", at, b.moved, moved)
		}
		_, _, body, err := s.body(i)
		if err != nil {
			return err
		}
		if b.moved && address(binary.LittleEndian.Uint64(body)) != at {
			return corrupt("block %v: moved, and it says that it was born elsewhere", at)
		}
		c.live[s.number] += cost(body)
		e = after
	}
	return nil
}

// checkSegments compares the accounts of the segments with what the queues reach.
func (c *checker) checkSegments() error {
	l := &c.q.log.segments
	var errs []error
	moved := make([]uint32, len(l.byNumber))
	for _, table := range l.moved.tables {
		for born := range table {
			moved[born.segment()]++
		}
	}
	for n, s := range l.byNumber {
		if s == nil {
			continue
		}
		// After the drop of a damaged queue, a segment may count more live bytes than were found, until Collect.
		if c.live[n] > s.live || c.live[n] < s.live && !l.leaky {
			errs = append(errs,
				fmt.Errorf("%w: segment %d has %d live bytes, accounts say %d", ErrCorrupt, n, c.live[n], s.live))
		}
		if claimed := c.claimedBytes(s); claimed != c.live[n] {
			errs = append(
				errs,
				fmt.Errorf("%w: segment %d has blocks of %d bytes that no queue leads to, and that say they are live",
					ErrCorrupt, n, claimed-c.live[n]),
			)
		}
		if moved[n] != s.moved {
			errs = append(errs,
				fmt.Errorf("%w: segment %d lost %d blocks, accounts say %d", ErrCorrupt, n, moved[n], s.moved))
		}
		if s.used() < s.live {
			errs = append(errs,
				fmt.Errorf("%w: segment %d has %d live bytes of %d used", ErrCorrupt, n, s.live, s.used()))
		}
	}
	return errors.Join(errs...)
}

// claimedBytes returns the size of the blocks that Collect would treat as live. Damage in dead blocks is ignored.
func (c *checker) claimedBytes(s *segment) (sum int64) {
	for i := range s.slots {
		sl, _, body, err := s.body(i)
		if err != nil {
			continue
		}
		if _, e, _ := c.q.claims(s, i, sl, body); e != nil {
			sum += cost(body)
		}
	}
	return sum
}
