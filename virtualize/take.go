package virtualize

// block is one block of a queue, checked, as the reading needs it.
type block struct {
	slot
	next    address
	payload []byte // borrowed from the mapping
	codes   *codes
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
	return block{sl, next, body, s.codes}, nil
}

// headBlock reads the block with a queue's oldest item on disk, of which left are still to come. after is the queue's
// state as it will be when the block is finished.
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

// items unpacks a block's items but for those that were taken, and hands them out until f returns false.
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

// Take removes up to limit items from the front of a queue and hands each to emit, oldest first. emit borrows the
// bytes until it returns and must not call the Virtualizer. n is how many were emitted; they are gone also when an
// error follows, which wraps ErrCorrupt.
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
		v.gone(id)
	}
	v.total -= uint64(n)
	v.count.Taken += int64(n)
	return n, err
}

// takeFromHead takes from a queue's first block.
func (v *Virtualizer) takeFromHead(e *entry, limit int, emit func(item []byte)) (n int, err error) {
	b, left, after, err := v.headBlock(e)
	if err != nil {
		return 0, err
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
	if n == int(left) {
		head := e.head
		*e = after
		v.kill(head)
		return n, nil
	}
	e.first += uint64(n)
	e.disk -= uint32(n)
	if !ok {
		return n, corrupt("block %v: its items do not parse", e.head)
	}
	return n, nil
}

// Each calls f with the items of a queue, oldest first, without taking them, until f returns false. f borrows the bytes
// until it returns and must not call the Virtualizer. Errors wrap ErrCorrupt.
func (v *Virtualizer) Each(key uint64, f func(item []byte) bool) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return ErrClosed
	}
	id, ok := v.idx.find(key)
	if !ok {
		return nil
	}
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

// Drop forgets a queue and returns how many items it had. It reads a few bytes of each block. When the error wraps
// ErrCorrupt the queue is forgotten all the same, and the space of what was not found is reclaimed by Collect.
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
	v.touch(id)
	e := v.idx.at(id)
	n = e.items()
	if e.disk > 0 {
		if err = v.killChain(*e); err != nil {
			v.leaky = true
		}
	}
	v.buf.drop(e, e.buffered)
	v.gone(id)
	v.total -= n
	v.count.Dropped += int64(n)
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
