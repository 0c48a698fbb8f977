package virtualize

import (
	"errors"
	"runtime/debug"
)

// block is a verified block of a queue.
type block struct {
	slot
	next    address
	segment *segment
	cost    int64
	payload []byte // part of the mapping
	codes   *codes
}

// blockAt reads the block that contains the item of a queue with the given ordinal. It verifies the checksum (V2), key
// and ordinal (V1).
func (v *Virtualizer) blockAt(a address, key, ordinal uint64) (block, error) {
	s, i := v.locate(a)
	if s == nil {
		return block{}, corrupt("queue %x leads to block %v, and there is no such segment", key, a)
	}
	sl, next, body, err := s.body(i)
	if err != nil {
		return block{}, err
	}
	if sl.key != key || sl.first > ordinal || ordinal >= sl.first+uint64(sl.items) {
		return block{}, corrupt("block %v is not the one with item %d of queue %x", a, ordinal, key)
	}
	if here := makeAddress(s.number, i); v.checked != here {
		if sl.checksum(body) != sl.sum {
			return block{}, corrupt("block %v: checksum does not hold", a)
		}
		v.checked = here
	}
	b := block{sl, next, s, cost(body), body, s.codes}
	if sl.moved {
		b.payload = body[8:]
	}
	return b, nil
}

// headBlock reads the block with the oldest item of a queue on disk. left of its items are not yet taken. after is the
// state of the queue when the block is finished.
func (v *Virtualizer) headBlock(e *entry) (b block, left uint32, after entry, err error) {
	b, err = v.blockAt(e.head, e.key, e.first)
	if err != nil {
		return b, 0, entry{}, err
	}
	left = uint32(b.first + uint64(b.items) - e.first)
	if left > e.disk || (left < e.disk) != (e.head != e.tail) {
		return b, 0, entry{}, corrupt("block %v and queue %x disagree about its items", e.head, e.key)
	}
	after = *e
	after.first += uint64(left)
	after.disk -= left
	after.head = b.next
	if after.disk == 0 {
		after.head, after.tail = 0, 0
	}
	return b, left, after, nil
}

// items unpacks the items of a block that are not yet taken, and passes them to f until it returns false.
func (v *Virtualizer) items(b *block, at address, left uint32, f func(item []byte) bool) error {
	u := &v.unpack
	ok := u.begin(b.codes, b.payload)
	for n := b.items; ok && n > 0; n-- {
		var item []byte
		if item, ok = u.next(); ok && n <= left && !f(item) {
			return nil
		}
	}
	if !ok {
		return corrupt("block %v: its items do not parse", at)
	}
	return nil
}

// Take removes up to limit items from the front of a queue and passes each to emit, oldest first. emit borrows the
// bytes and must not call the Virtualizer. n is the number of emitted items. They are removed even if an error follows,
// which wraps ErrCorrupt or ErrMapped.
func (v *Virtualizer) Take(key uint64, limit int, emit func(item []byte)) (n int, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return 0, ErrClosed
	}
	id, ok := v.idx.find(key)
	if !ok || limit <= 0 {
		return 0, nil
	}
	v.touch(id)
	e := v.idx.at(id)
	for n < limit && e.disk > 0 && err == nil {
		var took int
		took, err = v.takeFromHead(e, limit-n, emit)
		n += took
	}
	for ; n < limit && e.buffered > 0 && err == nil; n++ {
		item, _ := v.buf.record(v.buf.oldest(e))
		emit(item)
		v.buf.drop(e, 1)
	}
	if e.items() == 0 {
		v.deleteQueue(id)
	}
	v.total -= uint64(n)
	v.count.ItemsTaken += int64(n)
	return n, err
}

// takeFromHead takes items from the first block of a queue.
func (v *Virtualizer) takeFromHead(e *entry, limit int, emit func(item []byte)) (int, error) {
	b, after, n, err := v.emitFromHead(e, limit, emit)
	if n > 0 && after.first == e.first+uint64(n) {
		head := e.head
		*e = after
		v.kill(spent{head, b.segment, b.cost})
		return n, nil
	}
	e.first += uint64(n)
	e.disk -= uint32(n)
	return n, err
}

// emitFromHead emits items of the first block of a queue and changes nothing. n is the number of emitted items, also
// after an error. after is the state of the queue when the block is finished.
func (v *Virtualizer) emitFromHead(
	e *entry,
	limit int,
	emit func(item []byte),
) (b block, after entry, n int, err error) {
	defer v.guard(reading, debug.SetPanicOnFault(true), &err)
	b, left, after, err := v.headBlock(e)
	if err != nil {
		return b, after, 0, err
	}
	u := &v.unpack
	ok := u.begin(b.codes, b.payload)
	for skip := b.items - left; ok && skip > 0; skip-- {
		_, ok = u.next()
	}
	for ok && n < min(limit, int(left)) {
		var item []byte
		if item, ok = u.next(); ok {
			emit(item)
			n++
		}
	}
	if !ok {
		return b, after, n, corrupt("block %v: its items do not parse", e.head)
	}
	return b, after, n, nil
}

// Each calls f with the items of a queue, oldest first, without taking them, until f returns false. f borrows the bytes
// and must not call the Virtualizer. Errors wrap ErrCorrupt or ErrMapped.
func (v *Virtualizer) Each(key uint64, f func(item []byte) bool) (err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return ErrClosed
	}
	id, ok := v.idx.find(key)
	if !ok {
		return nil
	}
	defer v.guard(reading, debug.SetPanicOnFault(true), &err)
	more := true
	for e := *v.idx.at(id); e.disk > 0; {
		b, left, after, err := v.headBlock(&e)
		if err != nil {
			return err
		}
		err = v.items(&b, e.head, left, func(item []byte) bool { more = f(item); return more })
		if err != nil || !more {
			return err
		}
		e = after
	}
	e := v.idx.at(id)
	if e.buffered == 0 {
		return nil
	}
	for at, i := v.buf.oldest(e), uint32(0); i < e.buffered; i++ {
		item, next := v.buf.record(at)
		if !f(item) {
			return nil
		}
		at = next
	}
	return nil
}

// Drop deletes a queue and returns the number of its items. It reads a few bytes of each block. If the error wraps
// ErrCorrupt, the queue is deleted nevertheless, and Collect reclaims the space of lost blocks. If it wraps ErrMapped,
// nothing has changed.
func (v *Virtualizer) Drop(key uint64) (n uint64, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return 0, ErrClosed
	}
	id, ok := v.idx.find(key)
	if !ok {
		return 0, nil
	}
	e := v.idx.at(id)
	if err = v.listChain(*e); errors.Is(err, ErrMapped) {
		return 0, err
	}
	v.touch(id)
	n = e.items()
	v.killChain()
	v.leaky = v.leaky || err != nil
	v.buf.drop(e, e.buffered)
	v.deleteQueue(id)
	v.total -= n
	v.count.Dropped += int64(n)
	return n, err
}

// chainKept is the number of blocks for which the list of listChain keeps its memory between calls.
const chainKept = 4096

// listChain lists all blocks of a queue for killChain, up to the first damaged one, without reading their payloads.
func (v *Virtualizer) listChain(e entry) (err error) {
	defer v.guard(reading, debug.SetPanicOnFault(true), &err)
	v.chain = v.chain[:0]
	for e.disk > 0 {
		s, i := v.locate(e.head)
		if s == nil {
			return corrupt("queue %x leads to block %v, and there is no such segment", e.key, e.head)
		}
		sl, next, body, err := s.body(i)
		if err != nil {
			return err
		}
		left := sl.first + uint64(sl.items) - e.first
		if sl.key != e.key || sl.first > e.first || left == 0 || left > uint64(e.disk) {
			return corrupt("block %v is not the one with item %d of queue %x", e.head, e.first, e.key)
		}
		v.chain = append(v.chain, spent{e.head, s, cost(body)})
		e.first, e.head = e.first+left, next
		e.disk -= uint32(left)
	}
	return nil
}
