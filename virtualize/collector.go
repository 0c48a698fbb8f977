package virtualize

import (
	"errors"
	"runtime/debug"
)

const (
	mergeItems    = 320              // a queue with more items on disk is not read as a whole
	mergeTargets  = 2                // in block targets: a queue of at most this size is moved as a whole
	slotCharge    = int64(slotBytes) // budget for each examined slot, live or dead
	collectStride = 16 << 10         // budget per hold of the lock
)

// collector empties full segments with few live bytes, one at a time. It moves a block only if a queue claims it, and
// changes nothing of the queue before the copy is complete. Which segment is being emptied is not saved: a new
// collector may start with any.
type collector struct {
	liveRatioMin float64
	victim       *segment // being emptied; nil before the next is selected
	slot         uint32   // the next one to examine
	items        itemList // of the block or queue that is being moved
	moved        int64    // bytes copied since Open
}

// step collects until it has used up the budget or no segment is worth it. It returns the bytes copied and the budget
// spent.
func (c *collector) step(q *queues, budget int64) (moved, spent int64, more bool, err error) {
	for spent < budget {
		if c.victim == nil && !c.choose(&q.log.segments) {
			return moved, spent, false, nil
		}
		n, err := c.collectSlot(q)
		moved += n
		c.moved += n
		spent += n + slotCharge
		if err != nil {
			return moved, spent, false, err
		}
	}
	return moved, spent, true, nil
}

// choose selects the full segment with the fewest live bytes.
func (c *collector) choose(l *segmentList) bool {
	limit := c.liveRatioMin
	for _, s := range l.byNumber {
		if s == nil || s == l.active || s.live <= 0 || s.bad {
			continue
		}
		if ratio := float64(s.live) / float64(len(s.data)); ratio < limit {
			c.victim, c.slot, limit = s, 0, ratio
		}
	}
	return c.victim != nil
}

// forget must be called before a segment is deleted.
func (c *collector) forget(s *segment) {
	if c.victim == s {
		c.victim = nil
	}
}

// collectSlot examines the next slot of the victim and moves its block if it is live.
func (c *collector) collectSlot(q *queues) (moved int64, err error) {
	s := c.victim
	if s.live > 0 && c.slot < s.slots {
		moved, err = c.collectBlock(q, s, c.slot)
		if err == nil {
			c.slot++
		}
	}
	if err != nil {
		if errors.Is(err, ErrCorrupt) {
			s.bad = true
			c.victim = nil
		}
		return moved, err // Otherwise it is an error of the disk. The next call continues at this slot.
	}
	if s.live > 0 && c.slot < s.slots {
		return moved, nil
	}
	c.victim = nil
	if s.live > 0 && !q.log.segments.leaky {
		s.bad = true
		return moved, corrupt("segment %d: %d bytes should be live, and no block is", s.number, s.live)
	}
	s.live = 0 // The remaining live bytes are of blocks that were lost when a damaged queue was dropped.
	return moved, nil
}

// collectBlock moves a block if it is live. It reads and writes the mapping completely before it changes anything
// except free space. So after a fault everything is unchanged.
func (c *collector) collectBlock(q *queues, s *segment, i uint32) (moved int64, err error) {
	defer q.log.guard(writing, debug.SetPanicOnFault(true), &err)
	sl, _, body, err := s.body(i)
	if err != nil {
		return 0, err
	}
	id, e, born := q.claims(s, i, sl, body)
	if e == nil {
		return 0, nil
	}
	if moved, err = c.merge(q, id, e); moved != 0 || err != nil {
		return moved, err
	}
	return c.moveBlock(&q.log, s, born, sl.key, max(sl.first, e.first))
}

// merge moves a small queue as a whole and makes one block of its blocks on disk. For a large queue it moves nothing
// and returns 0.
func (c *collector) merge(q *queues, id uint32, e *entry) (moved int64, err error) {
	l := &q.log
	if e.disk > mergeItems || l.ordinal+uint64(e.disk) > maxOrdinal {
		return 0, nil
	}
	c.items.begin()
	l.chain = l.chain[:0]
	for walk := *e; walk.disk > 0; {
		b, left, after, err := l.headBlock(&walk)
		if err != nil {
			return 0, err
		}
		if err := l.items(&b, walk.head, left, c.items.add); err != nil {
			return 0, err
		}
		if c.items.plain() > mergeTargets*l.target {
			return 0, nil
		}
		l.chain = append(l.chain, spent{walk.head, b.segment, b.cost})
		walk = after
	}
	to, err := l.segmentFor(c.items.plain())
	if err != nil {
		return 0, err
	}
	c.items.packInto(&l.pack, to.codes)
	payload := l.pack.payload()
	end := to.place(slot{key: e.key, first: l.ordinal, items: e.disk}, 0, 0, payload)
	q.touch(id)
	l.killChain()
	e.first, e.head, e.tail = l.ordinal, to.nextAddress(), to.nextAddress()
	to.seal(end)
	l.ordinal += uint64(e.disk)
	return slotBytes + int64(len(payload)), nil
}

// moveBlock copies one block. It stores the new address in the relocation table, under the address that the chain uses.
// The block is packed again, because its new segment may have other codes.
func (c *collector) moveBlock(l *blockLog, s *segment, born address, key, ordinal uint64) (moved int64, err error) {
	b, err := l.blockAt(born, key, ordinal)
	if err != nil {
		return 0, err
	}
	c.items.begin()
	if err := l.items(&b, born, b.items, c.items.add); err != nil {
		return 0, err
	}
	to, err := l.segmentFor(8 + c.items.plain())
	if err != nil {
		return 0, err
	}
	c.items.packInto(&l.pack, to.codes)
	payload := l.pack.payload()
	end := to.place(slot{key: key, first: b.first, items: b.items, moved: true}, born, b.next, payload)
	s.live -= b.cost
	l.segments.relocate(born, to.nextAddress())
	to.seal(end)
	return slotBytes + 8 + int64(len(payload)), nil
}
