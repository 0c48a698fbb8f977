package virtualize

import (
	"encoding/binary"
	"errors"
	"runtime/debug"
)

const (
	mergeItems    = 320              // a queue with more items on disk is not worth reading whole
	mergeTargets  = 2                // in block targets: a queue of at most so many bytes is moved whole, into one block
	slotCharge    = int64(slotBytes) // budget for looking at a slot, live or not
	collectStride = 16 << 10         // budget that is spent under one hold of the lock
)

// Collect does one small step of reclaiming space and returns how many bytes it copied: it deletes segments that
// nothing needs, and copies live blocks of the emptiest full segment, if less than LiveRatioMin of that is live, to
// the end of the log. The budget bounds the bytes it looks at and copies; it may go over it by one block or one small
// queue. It holds the lock for some ten KB at a time only. Repeated with nothing else going on it ends with 0. It is
// never needed for correctness.
//
// An error that wraps ErrCorrupt names a segment that cannot be emptied; it is left alone from then on.
func (v *Virtualizer) Collect(budgetBytes int64) (moved int64, err error) {
	if err := v.checkWritable(); err != nil {
		return 0, err
	}
	if err := v.deleteDead(); err != nil {
		return 0, err
	}
	for more := true; more && budgetBytes > 0; {
		var n, spent int64
		n, spent, more, err = v.collectSome(min(budgetBytes, collectStride))
		moved += n
		budgetBytes -= spent
		if err != nil {
			return moved, err
		}
	}
	return moved, v.deleteDead()
}

// collectSome does what can be done under one hold of the lock.
func (v *Virtualizer) collectSome(budget int64) (moved, spent int64, more bool, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if err := v.writable(); err != nil {
		return 0, 0, false, err
	}
	for spent < budget {
		if v.victim == nil && !v.chooseVictim() {
			return moved, spent, false, nil
		}
		n, err := v.collectSlot()
		moved += n
		v.count.Collected += n
		spent += n + slotCharge
		if err != nil {
			return moved, spent, false, err
		}
	}
	return moved, spent, true, nil
}

// chooseVictim picks the full segment with the least live bytes.
func (v *Virtualizer) chooseVictim() bool {
	limit := v.opts.LiveRatioMin
	for _, s := range v.segments {
		if s == nil || s == v.active || s.live <= 0 || s.bad {
			continue
		}
		if ratio := float64(s.live) / float64(len(s.data)); ratio < limit {
			v.victim, v.victimSlot, limit = s, 0, ratio
		}
	}
	return v.victim != nil
}

// collectSlot looks at the victim's next slot and moves its block if it is live.
func (v *Virtualizer) collectSlot() (moved int64, err error) {
	s := v.victim
	if s.live > 0 && v.victimSlot < s.slots {
		moved, err = v.collectBlock(s, v.victimSlot)
		if err == nil {
			v.victimSlot++
		}
	}
	if err != nil {
		if errors.Is(err, ErrCorrupt) {
			s.bad = true
			v.victim = nil
		}
		return moved, err // Else it is the disk's fault, and it goes on at this slot when there is room.
	}
	if s.live > 0 && v.victimSlot < s.slots {
		return moved, nil
	}
	v.victim = nil
	if s.live > 0 && !v.leaky {
		s.bad = true
		return moved, corrupt("segment %d: %d bytes should be live, and no block is", s.number, s.live)
	}
	s.live = 0 // What is left in the accounts are blocks that a damaged chain lost when its queue was dropped.
	return moved, nil
}

// collectBlock moves a block if it is live. Nothing but free space of the mapping changes before all of the mapping has been
// read and written that is needed, so that after a fault all is as it was.
func (v *Virtualizer) collectBlock(s *segment, i uint32) (moved int64, err error) {
	defer v.guard(writing, debug.SetPanicOnFault(true), &err)
	sl, _, body, err := s.body(i)
	if err != nil {
		return 0, err
	}
	id, e, born := v.claims(s, i, sl, body)
	if e == nil {
		return 0, nil
	}
	if moved, err = v.merge(id, e); moved != 0 || err != nil {
		return moved, err
	}
	return v.moveBlock(s, i, born, sl.key, max(sl.first, e.first))
}

// claims returns the queue that a block says it is a living part of, and the address at which the rest of the queue
// knows it; nil if it is dead. Check proves that no block claims this in vain.
func (v *Virtualizer) claims(s *segment, i uint32, sl slot, body []byte) (id uint32, e *entry, born address) {
	id, ok := v.idx.find(sl.key)
	if !ok {
		return 0, nil, 0
	}
	e = v.idx.at(id)
	if e.disk == 0 || sl.first+uint64(sl.items) <= e.first || sl.first >= e.first+uint64(e.disk) {
		return 0, nil, 0 // Taken, or of a queue that was dropped: ordinals are never used again.
	}
	born = makeAddress(s.number, i)
	if sl.moved {
		born = address(binary.LittleEndian.Uint64(body))
	}
	if at, slot := v.locate(born); at != s || slot != i {
		return 0, nil, 0 // This is an old copy.
	}
	return id, e, born
}

// merge moves a queue whole, if it is small, and makes one block of its blocks on disk. It moves nothing and returns 0
// if the queue is large.
func (v *Virtualizer) merge(id uint32, e *entry) (moved int64, err error) {
	limit := mergeTargets * v.opts.blockTarget()
	if e.disk > mergeItems || v.ordinal+uint64(e.disk) > maxOrdinal {
		return 0, nil
	}
	v.pile.begin()
	v.chain = v.chain[:0]
	for walk := *e; walk.disk > 0; {
		b, left, after, err := v.headBlock(&walk)
		if err != nil {
			return 0, err
		}
		if err := v.items(&b, walk.head, left, v.pile.add); err != nil {
			return 0, err
		}
		if v.pile.plain() > limit {
			return 0, nil
		}
		v.chain = append(v.chain, spent{walk.head, b.segment, b.cost})
		walk = after
	}
	to, err := v.segmentFor(v.pile.plain())
	if err != nil {
		return 0, err
	}
	v.pile.packInto(&v.pack, to.codes)
	payload := v.pack.payload()
	end := to.place(slot{key: e.key, first: v.ordinal, items: e.disk}, 0, 0, payload)
	v.touch(id)
	v.killChain()
	e.first, e.head, e.tail = v.ordinal, to.nextAddress(), to.nextAddress()
	to.seal(end)
	v.ordinal += uint64(e.disk)
	return slotBytes + int64(len(payload)), nil
}

// moveBlock copies one block and notes where it lives now under the address that the rest of its chain knows. It is
// packed anew, since its new segment may have other codes.
func (v *Virtualizer) moveBlock(s *segment, i uint32, born address, key, ordinal uint64) (moved int64, err error) {
	b, err := v.blockAt(born, key, ordinal)
	if err != nil {
		return 0, err
	}
	v.pile.begin()
	if err := v.items(&b, born, b.items, v.pile.add); err != nil {
		return 0, err
	}
	to, err := v.segmentFor(8 + v.pile.plain())
	if err != nil {
		return 0, err
	}
	v.pile.packInto(&v.pack, to.codes)
	payload := v.pack.payload()
	end := to.place(slot{key: key, first: b.first, items: b.items, moved: true}, born, b.next, payload)
	s.live -= b.cost
	v.setRelocation(born, to.nextAddress())
	to.seal(end)
	return slotBytes + 8 + int64(len(payload)), nil
}

// pile holds items on their way from old blocks into a new one.
type pile struct {
	text []byte
	ends []int
}

func (p *pile) begin() { p.text, p.ends = p.text[:0], p.ends[:0] }

// add takes a copy of an item. It always wants more.
func (p *pile) add(item []byte) bool {
	p.text = append(p.text, item...)
	p.ends = append(p.ends, len(p.text))
	return true
}

// plain is what the items' payload takes at most.
func (p *pile) plain() int {
	head := itemBytes(len(p.text)) - len(p.text) // of an item that is as long as all of them
	return 1 + len(p.text) + len(p.ends)*head
}

func (p *pile) packInto(to *packer, c *codes) {
	to.begin(c)
	start := 0
	for _, end := range p.ends {
		to.add(p.text[start:end])
		start = end
	}
}
