package virtualize

import (
	"errors"
	"fmt"
	"runtime/debug"

	"orbweaver/internal/vfs"
)

// makeRoom sees to it that the buffer can take one more item, and writes what is owed for the room of before.
func (v *Virtualizer) makeRoom(item []byte) error {
	b := &v.buf
	if !b.fits(item) {
		if err := v.drain(len(b.other().dirty)); err != nil {
			return err
		}
		b.turn()
	}
	if owed := b.owed(); owed >= drainStep {
		return v.drain(owed)
	}
	return nil
}

// drainStep is how many queues are written at a time at least, lest each waits for its own cache misses.
const drainStep = 16

// drain writes all that is buffered of so many queues more of the half that is not being filled. When it fails, what was
// written stays written and the rest stays buffered: every queue is whole at any time.
func (v *Virtualizer) drain(queues int) error {
	h := v.buf.other()
	for ; queues > 0 && h.items > 0; queues-- {
		if err := v.writeQueue(h.dirty[h.done]); err != nil {
			return err
		}
		if h.items > 0 { // else the half was reset
			h.done++
		}
	}
	return nil
}

// flush writes all that is buffered.
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

// writeQueue writes all that is buffered of one queue.
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

// writeBlock writes one block of a queue's oldest buffered items.
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

// placeLinked writes the packed block to free space, and then its address into the slot of the queue's tail, where it means
// nothing until the entry has a newer tail. After an error the queue is what it was.
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

// segmentFor returns the active segment with room for a block of so many bytes, a new one if need be.
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

// codesFor returns the codes of a new segment. The model is learned anew when the number of segments has doubled, from
// what was written into the last one.
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

// spent is a block that leaves the accounts: what was read of it, so that the mapping is not touched again.
type spent struct {
	at      address
	segment *segment
	cost    int64
}

// kill takes a block out of the accounts when its last item has gone. It does not touch the mapping, so it cannot fail.
func (v *Virtualizer) kill(b spent) {
	b.segment.live -= b.cost
	v.setRelocation(b.at, 0)
}

// killChain does so with all blocks that were listed.
func (v *Virtualizer) killChain() {
	for _, b := range v.chain {
		v.kill(b)
	}
	if v.chain = v.chain[:0]; cap(v.chain) > chainKept {
		v.chain = nil
	}
}

// deletable says that nothing needs a segment: no queue, and no cut that somebody may go back to.
func (v *Virtualizer) deletable(s *segment) bool {
	return s != nil && s != v.active && s.live <= 0 && s.named < max(1, v.released) && s.syncing == 0
}

// takeDead takes the segments out that nothing needs.
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

// deleteDead deletes the segments that nothing needs. The lock is not held while the files are removed.
func (v *Virtualizer) deleteDead() error {
	v.mu.Lock()
	dead := v.takeDead()
	v.mu.Unlock()
	var errs []error
	for _, s := range dead {
		err := errors.Join(s.close(), vfs.RemoveIfExists(v.fsys, segmentName(v.opts.Dir, s.number)))
		if err != nil {
			// A file that stays behind is named by no cut, so the next Open removes it.
			errs = append(errs, fmt.Errorf("virtualize: delete segment %d: %w", s.number, err))
		}
	}
	return errors.Join(errs...)
}
