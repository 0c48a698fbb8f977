package virtualize

import (
	"encoding/binary"
	"errors"
	"fmt"

	"orbweaver/internal/vfs"
)

// flush writes all buffered items to the log, a queue's items together. When it fails, what was written stays written
// and the rest stays buffered: every queue is whole at any time.
func (v *Virtualizer) flush() error {
	if v.buf.items == 0 {
		v.buf.reset()
		return nil
	}
	defer v.publish()
	for _, id := range v.buf.dirty {
		for e := v.idx.at(id); e.buffered > 0; {
			if err := v.writeBuffered(e); err != nil {
				return err
			}
		}
	}
	if v.buf.items != 0 {
		panic("BUG: virtualize: buffered items of a queue that is not listed")
	}
	return nil
}

// writeBuffered writes one block of a queue's oldest buffered items.
func (v *Virtualizer) writeBuffered(e *entry) error {
	at := v.buf.oldest(e)
	item, next := v.buf.record(at)
	s, err := v.segmentFor(itemBytes(len(item)))
	if err != nil {
		return err
	}
	room, target := s.room(), v.opts.blockTarget()
	end, items := s.dataEnd, uint32(0)
	for {
		end += uint32(binary.PutUvarint(s.data[end:], uint64(len(item))))
		end += uint32(copy(s.data[end:], item))
		items++
		if items == e.buffered || items == maxItems {
			break
		}
		at = next
		item, next = v.buf.record(at)
		if size := int(end-s.dataEnd) + itemBytes(len(item)); size > room || size > target {
			next = at
			break
		}
	}
	first := e.first + uint64(e.disk)
	if first+uint64(items) > maxOrdinal {
		return fmt.Errorf("%w: 2^48 items were written", ErrTooMany)
	}
	v.link(e, makeAddress(s.number, s.seal(slot{key: e.key, first: first, items: items}, end)))
	e.disk += items
	v.ordinal = max(v.ordinal, first+uint64(items))
	v.buf.drop(e, items, next)
	v.count.blocksWritten.Add(1)
	return nil
}

// link makes a block that was just written the tail of its queue.
func (v *Virtualizer) link(e *entry, a address) {
	if e.head == 0 {
		e.head, e.headByte = a, 0
	} else if s, i := v.locate(e.tail); s != nil && i < s.slots {
		s.setNext(i, a)
	}
	e.tail = a
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
	s, err := createSegment(v.fsys, v.opts.Dir, number, v.opts.SegmentBytes)
	if err != nil {
		if vfs.IsFull(err) {
			v.count.fullFailures.Add(1)
		}
		return nil, err
	}
	v.segments = append(v.segments, s)
	v.active = s
	v.publish()
	return s, nil
}

// locate finds where a block lies now: its segment, nil if there is none, and slot.
func (v *Virtualizer) locate(a address) (*segment, uint32) {
	if int(a.segment()) >= len(v.segments) {
		return nil, 0
	}
	s := v.segments[a.segment()]
	if s == nil || s.moved > 0 {
		if to, ok := v.reloc[a]; ok {
			// Blocks in the table lie in segments that exist: a segment with live blocks is never deleted.
			return v.segments[to.segment()], to.slot()
		}
	}
	return s, a.slot()
}

// kill takes a block out of the accounts when its last item has gone.
func (v *Virtualizer) kill(a address) {
	s, i := v.locate(a)
	if s == nil {
		return
	}
	if _, _, body, err := s.body(i); err == nil {
		s.live -= cost(body)
	}
	v.forget(a)
}

// forget removes a block's relocation, if it has one.
func (v *Virtualizer) forget(a address) {
	if _, ok := v.reloc[a]; !ok {
		return
	}
	delete(v.reloc, a)
	if s := v.segments[a.segment()]; s != nil {
		s.moved--
	}
}

// deletable says that nothing needs a segment: no queue, and no cut that somebody may go back to.
func (v *Virtualizer) deletable(s *segment) bool {
	if s == nil || s == v.active || s.live > 0 || s.named >= max(1, v.released) {
		return false
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	return s.syncing == 0
}

// deleteDead deletes the segments that nothing needs.
func (v *Virtualizer) deleteDead() error {
	var errs []error
	for _, s := range v.segments {
		if !v.deletable(s) {
			continue
		}
		v.mu.Lock()
		delete(v.pending.segments, s)
		v.mu.Unlock()
		if v.victim == s {
			v.victim = nil
		}
		v.segments[s.number] = nil
		err := errors.Join(s.close(), vfs.RemoveIfExists(v.fsys, segmentName(v.opts.Dir, s.number)))
		if err != nil {
			// A file that stays behind is named by no cut, so the next Open removes it.
			errs = append(errs, fmt.Errorf("virtualize: delete segment %d: %w", s.number, err))
		}
		v.count.segmentsDeleted.Add(1)
	}
	return errors.Join(errs...)
}
