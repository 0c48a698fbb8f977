package virtualize

// block is one block of a queue, checked, as the reading needs it.
type block struct {
	slot
	next    address
	payload []byte // borrowed from the mapping
}

// blockAt reads the block in which a queue's item with the given ordinal is, and checks that it is that: V2 for the
// checksum, V1 for key and ordinal.
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
	if sl.moved {
		body = body[8:]
	}
	return block{sl, next, body}, nil
}

// headBlock reads the block with a queue's oldest item on disk. after is the queue's state as it will be when the
// block is finished.
func (v *Virtualizer) headBlock(e *entry) (b block, rest []byte, after entry, err error) {
	b, err = v.blockAt(e.head, e.key, e.first)
	if err != nil {
		return b, nil, entry{}, err
	}
	left := b.first + uint64(b.items) - e.first
	if int(e.headByte) >= len(b.payload) || left > uint64(e.disk) || (left < uint64(e.disk)) != (e.head != e.tail) {
		return b, nil, entry{}, corrupt("block %v and queue %x disagree about its items", e.head, e.key)
	}
	after = *e
	after.first += left
	after.disk -= uint32(left)
	after.head, after.headByte = b.next, 0
	if after.disk == 0 {
		after.head, after.tail = 0, 0
	}
	return b, b.payload[e.headByte:], after, nil
}

// Take removes up to limit items from the front of a queue and hands each to emit, oldest first. emit borrows the
// bytes until it returns and must not call the Virtualizer. n is how many were emitted; they are gone also when an
// error follows, which wraps ErrCorrupt.
func (v *Virtualizer) Take(key uint64, limit int, emit func(item []byte)) (n int, err error) {
	if v.closed {
		return 0, ErrClosed
	}
	id, ok := v.idx.find(key)
	if !ok || limit <= 0 {
		return 0, nil
	}
	e := v.idx.at(id)
	for n < limit && e.disk > 0 {
		took, err := v.takeFromHead(e, limit-n, emit)
		n += took
		if err != nil {
			v.took(n)
			return n, err
		}
	}
	for n < limit && e.buffered > 0 {
		item, next := v.buf.record(v.buf.oldest(e))
		emit(item)
		v.buf.drop(e, 1, next)
		n++
	}
	if e.disk == 0 && e.buffered == 0 {
		v.gone(id)
	}
	v.took(n)
	return n, nil
}

// took accounts for items that were taken.
func (v *Virtualizer) took(n int) {
	v.total -= uint64(n)
	v.count.taken.Add(int64(n))
	v.count.items.Store(int64(v.total))
}

// takeFromHead takes from a queue's first block.
func (v *Virtualizer) takeFromHead(e *entry, limit int, emit func(item []byte)) (n int, err error) {
	b, rest, after, err := v.headBlock(e)
	if err != nil {
		return 0, err
	}
	head := e.head
	left := int(b.first + uint64(b.items) - e.first)
	for n < min(limit, left) {
		item, more, ok := nextItem(rest)
		if !ok {
			return n, corrupt("block %v: its items do not parse", head)
		}
		emit(item)
		n++
		rest = more
		e.first++
		e.disk--
		e.headByte = uint32(len(b.payload) - len(rest))
	}
	if n == left {
		*e = after
		v.kill(head)
	}
	return n, nil
}

// Each calls f with the items of a queue, oldest first, without taking them, until f returns false. f borrows the bytes
// until it returns and must not call the Virtualizer. Errors wrap ErrCorrupt.
func (v *Virtualizer) Each(key uint64, f func(item []byte) bool) error {
	if v.closed {
		return ErrClosed
	}
	id, ok := v.idx.find(key)
	if !ok {
		return nil
	}
	e := *v.idx.at(id)
	for e.disk > 0 {
		b, rest, after, err := v.headBlock(&e)
		if err != nil {
			return err
		}
		for range b.first + uint64(b.items) - e.first {
			item, more, ok := nextItem(rest)
			if !ok {
				return corrupt("block %v: its items do not parse", e.head)
			}
			if !f(item) {
				return nil
			}
			rest = more
		}
		e = after
	}
	if e.buffered == 0 {
		return nil
	}
	for at, i := v.buf.oldest(&e), uint32(0); i < e.buffered; i++ {
		item, next := v.buf.record(at)
		if !f(item) {
			return nil
		}
		at = next
	}
	return nil
}

// Drop forgets a queue and returns how many items it had. It reads a few bytes of each block. When the error wraps
// ErrCorrupt the queue is forgotten all the same, and the space of what was not found is reclaimed by Collect.
func (v *Virtualizer) Drop(key uint64) (n uint64, err error) {
	if v.closed {
		return 0, ErrClosed
	}
	id, ok := v.idx.find(key)
	if !ok {
		return 0, nil
	}
	e := v.idx.at(id)
	n = uint64(e.disk) + uint64(e.buffered)
	if e.disk > 0 {
		if err = v.killChain(*e); err != nil {
			v.leaky = true
		}
	}
	if e.buffered > 0 {
		v.buf.drop(e, e.buffered, 0)
	}
	v.gone(id)
	v.total -= n
	v.count.dropped.Add(int64(n))
	v.count.items.Store(int64(v.total))
	return n, err
}

// killChain takes all blocks of a queue out of the accounts, without looking at their payloads.
func (v *Virtualizer) killChain(e entry) error {
	for {
		s, i := v.locate(e.head)
		if s == nil {
			return corrupt("queue %x leads to block %v, and there is no such segment", e.key, e.head)
		}
		sl, next, _, err := s.body(i)
		if err != nil {
			return err
		}
		left := sl.first + uint64(sl.items) - e.first
		if sl.key != e.key || sl.first > e.first || left == 0 || left > uint64(e.disk) {
			return corrupt("block %v is not the one with item %d of queue %x", e.head, e.first, e.key)
		}
		v.kill(e.head)
		e.first, e.head = e.first+left, next
		if e.disk -= uint32(left); e.disk == 0 {
			return nil
		}
	}
}
