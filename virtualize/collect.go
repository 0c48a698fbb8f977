package virtualize

import (
	"encoding/binary"
	"errors"
	"runtime/debug"
)

const (
	mergeItems    = 320              // a queue with more items on disk is not read as a whole
	mergeTargets  = 2                // in block targets: a queue of at most this size is moved as a whole
	slotCharge    = int64(slotBytes) // budget for each examined slot, live or dead
	collectStride = 16 << 10         // budget per hold of the lock
)

// Collect does a small step of reclaiming space and returns the number of bytes copied. It deletes segments that are
// not needed. It also copies live blocks to the end of the log, from the full segment with the fewest live bytes, if
// less than LiveRatioMin of its bytes is live. budget bounds the bytes examined and copied; one block or small queue
// may exceed it. The lock is held for about ten KB at a time. With no other calls, repeated calls end with 0. Collect
// only saves space; correctness does not depend on it.
//
// An error that wraps ErrCorrupt names a segment that cannot be emptied. Later calls ignore it.
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

// collectSome collects under one hold of the lock.
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

// chooseVictim selects the full segment with the fewest live bytes.
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

// collectSlot examines the next slot of the victim and moves its block if it is live.
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
		return moved, err // Otherwise it is an error of the disk. The next call continues at this slot.
	}
	if s.live > 0 && v.victimSlot < s.slots {
		return moved, nil
	}
	v.victim = nil
	if s.live > 0 && !v.leaky {
		s.bad = true
		return moved, corrupt("segment %d: %d bytes should be live, and no block is", s.number, s.live)
	}
	s.live = 0 // The remaining live bytes are of blocks that were lost when a damaged queue was dropped.
	return moved, nil
}

// collectBlock moves a block if it is live. It reads and writes the mapping completely before it changes anything
// except free space. So after a fault everything is unchanged.
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

// claims returns the queue of a live block and the address by which its chain refers to it, or nil if the block is
// dead. Check verifies that only live blocks are claimed.
func (v *Virtualizer) claims(s *segment, i uint32, sl slot, body []byte) (id uint32, e *entry, born address) {
	id, ok := v.idx.find(sl.key)
	if !ok {
		return 0, nil, 0
	}
	e = v.idx.at(id)
	if e.disk == 0 || sl.first+uint64(sl.items) <= e.first || sl.first >= e.first+uint64(e.disk) {
		return 0, nil, 0 // Taken, or of a dropped queue: ordinals are never used again.
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

// merge moves a small queue as a whole and makes one block of its blocks on disk. For a large queue it moves nothing
// and returns 0.
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

// moveBlock copies one block. It stores the new address in the relocation table, under the address that the chain uses.
// The block is packed again, because its new segment may have other codes.
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

// itemList holds items that are copied from old blocks into a new one.
type itemList struct {
	text []byte
	ends []int
}

func (p *itemList) begin() { p.text, p.ends = p.text[:0], p.ends[:0] }

// add copies an item. It always returns true.
func (p *itemList) add(item []byte) bool {
	p.text = append(p.text, item...)
	p.ends = append(p.ends, len(p.text))
	return true
}

// plain returns the largest size of the payload of the items.
func (p *itemList) plain() int {
	head := itemBytes(len(p.text)) - len(p.text) // of an item as long as all of them together
	return 1 + len(p.text) + len(p.ends)*head
}

func (p *itemList) packInto(to *packer, c *codes) {
	to.begin(c)
	start := 0
	for _, end := range p.ends {
		to.add(p.text[start:end])
		start = end
	}
}
