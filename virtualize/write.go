package virtualize

import (
	"errors"
	"fmt"
	"runtime/debug"

	"orbweaver/internal/vfs"
)

// makeRoom makes space in the buffer for one more item. It writes the queues that are due.
func (v *Virtualizer) makeRoom(item []byte) error {
	b := &v.buf
	if !b.fits(item) {
		if err := v.drain(len(b.other().dirty)); err != nil {
			return err
		}
		b.turn()
	}
	if owed := b.dueWrites(); owed >= drainStep {
		return v.drain(owed)
	}
	return nil
}

// drainStep is the least number of queues written together, so that their cache misses overlap.
const drainStep = 16

// drain writes the buffered items of the next n queues of the half that is not filled. After an error, written items
// stay written and the others stay in the buffer, so every queue is complete at any time.
func (v *Virtualizer) drain(queues int) error {
	h := v.buf.other()
	for ; queues > 0 && h.items > 0; queues-- {
		if err := v.writeQueue(h.dirty[h.done]); err != nil {
			return err
		}
		if h.items > 0 { // otherwise the half was reset
			h.done++
		}
	}
	return nil
}

// flush writes all buffered items.
func (v *Virtualizer) flush() error {
	for range v.buf.halves {
		if err := v.drain(len(v.buf.other().dirty)); err != nil {
			return err
		}
		v.buf.turn()
	}
	if v.buf.items != 0 {
		panic("BUG: virtualize: buffered items of a queue that is not listed")
	}
	return nil
}

// writeQueue writes all buffered items of a queue.
func (v *Virtualizer) writeQueue(id uint32) error {
	e := v.idx.at(id)
	if e.buffered == 0 {
		return nil
	}
	v.touch(id)
	for e.buffered > 0 {
		if err := v.writeBlock(e); err != nil {
			return err
		}
	}
	return nil
}

// writeBlock writes one block of the oldest buffered items of a queue.
func (v *Virtualizer) writeBlock(e *entry) error {
	items, plain := uint32(0), 1
	for at := v.buf.oldest(e); items < min(e.buffered, maxItems); items++ {
		item, next := v.buf.record(at)
		if items > 0 && plain+itemBytes(len(item)) > v.opts.blockTarget() {
			break
		}
		plain += itemBytes(len(item))
		at = next
	}
	first := e.first + uint64(e.disk)
	if first+uint64(items) > maxOrdinal {
		return fmt.Errorf("%w: 2^48 items were written", ErrTooMany)
	}
	s, err := v.segmentFor(plain)
	if err != nil {
		return err
	}
	v.pack.begin(s.codes)
	for at := v.buf.oldest(e); v.pack.items < items; {
		var item []byte
		item, at = v.buf.record(at)
		v.pack.add(item)
	}
	end, err := v.placeLinked(s, e, slot{key: e.key, first: first, items: items})
	if err != nil {
		return err
	}
	v.count.BytesWritten += slotBytes + int64(end-s.dataEnd)
	e.tail = s.nextAddress()
	if e.head == 0 {
		e.head = e.tail
	}
	s.seal(end)
	e.disk += items
	v.ordinal = max(v.ordinal, first+uint64(items))
	v.buf.drop(e, items)
	v.count.BlocksWritten++
	return nil
}

// placeLinked writes the packed block to free space, and then its address into the slot of the queue's last block. That
// address has no meaning until the entry has a newer tail. After an error the queue is unchanged.
func (v *Virtualizer) placeLinked(s *segment, e *entry, sl slot) (end uint32, err error) {
	defer v.guard(writing, debug.SetPanicOnFault(true), &err)
	end = s.place(sl, 0, 0, v.pack.payload())
	if e.head == 0 {
		return end, nil
	}
	if tail, i := v.locate(e.tail); tail != nil && i < tail.slots {
		tail.setNext(i, s.nextAddress())
	}
	return end, nil
}

// segmentFor returns the active segment if it has space for a block of this size, otherwise a new one.
func (v *Virtualizer) segmentFor(bytes int) (*segment, error) {
	if v.active != nil && v.active.room() >= bytes {
		return v.active, nil
	}
	number := uint32(len(v.segments))
	if number >= maxSegments {
		return nil, fmt.Errorf("%w: 2^24 segments were written", ErrTooMany)
	}
	s, err := createSegment(v.fsys, v.opts.Dir, number, v.opts.SegmentBytes, v.codesFor(number))
	if err != nil {
		if vfs.IsFull(err) {
			v.count.FullFailures++
		}
		return nil, err
	}
	v.segments = append(v.segments, s)
	v.active = s
	return s, nil
}

// codesFor returns the codes of a new segment. When the number of segments has doubled, a new model is computed from
// the items in the last one.
func (v *Virtualizer) codesFor(number uint32) *codes {
	c := v.codes
	if v.pack.seen != nil && number&(number-1) == 0 {
		if c = newCodes(v.pack.seen.learn(c.model)); c == nil {
			panic("BUG: virtualize: learned a model that has no codes")
		}
		v.keepCodes(c)
		v.codes = c
	}
	v.pack.seen = nil
	if (number+1)&number == 0 {
		v.pack.seen = &tally{}
	}
	return c
}

// spent is a block that will not count as live any more, with what was read of it, so that the mapping is not read
// again.
type spent struct {
	at      address
	segment *segment
	cost    int64
}

// kill stops counting a block as live after its last item was taken. It does not use the mapping, so it cannot fail.
func (v *Virtualizer) kill(b spent) {
	b.segment.live -= b.cost
	v.setRelocation(b.at, 0)
}

// killChain calls kill for all listed blocks.
func (v *Virtualizer) killChain() {
	for _, b := range v.chain {
		v.kill(b)
	}
	if v.chain = v.chain[:0]; cap(v.chain) > chainKept {
		v.chain = nil
	}
}

// deletable reports whether neither a queue nor a checkpoint that may be opened needs a segment.
func (v *Virtualizer) deletable(s *segment) bool {
	return s != nil && s != v.active && s.live <= 0 && s.named < max(1, v.released) && s.syncing == 0
}

// takeDead removes the deletable segments from the list and returns them.
func (v *Virtualizer) takeDead() (dead []*segment) {
	for _, s := range v.segments {
		if v.deletable(s) {
			delete(v.pending.segments, s)
			if v.victim == s {
				v.victim = nil
			}
			v.segments[s.number] = nil
			v.count.SegmentsDeleted++
			dead = append(dead, s)
		}
	}
	return dead
}

// deleteDead deletes the segments that are not needed. The lock is not held while files are removed.
func (v *Virtualizer) deleteDead() error {
	v.mu.Lock()
	dead := v.takeDead()
	v.mu.Unlock()
	var errs []error
	for _, s := range dead {
		err := errors.Join(s.close(), vfs.RemoveIfExists(v.fsys, segmentName(v.opts.Dir, s.number)))
		if err != nil {
			// No checkpoint names a file that could not be removed, so the next Open removes it.
			errs = append(errs, fmt.Errorf("virtualize: delete segment %d: %w", s.number, err))
		}
	}
	return errors.Join(errs...)
}
