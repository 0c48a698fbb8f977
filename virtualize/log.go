package virtualize

import (
	"fmt"
	"runtime/debug"
)

// blockLog writes blocks to the end of the log and reads them. It returns items only of a block whose checksum is right
// and that belongs to the queue (V1, V2). A block is first written to free space, and counts when it is sealed. So a
// fault of the mapping changes nothing.
type blockLog struct {
	segments segmentList
	book     codebook
	pack     packer
	unpack   unpacker
	target   int     // bytes of items at which a block ends
	ordinal  uint64  // greater than the ordinal of any block
	checked  address // the last block with a verified checksum
	chain    []spent // blocks of a queue that will be deleted or moved

	ahead    []upcoming // of readAhead
	expected int64      // blocks that readAhead asked for since Open

	blocks int64 // written from the buffer since Open
	bytes  int64 // of these blocks
}

// block is a verified block of a queue.
type block struct {
	slot
	next    address
	segment *segment
	cost    int64
	payload []byte // part of the mapping
	codes   *codes
}

// spent is a block that will not count as live any more, with what was read of it, so that the mapping is not read
// again.
type spent struct {
	at      address
	segment *segment
	cost    int64
}

// chainKept is the number of blocks for which the list of listChain keeps its memory between calls.
const chainKept = 4096

// guard turns a fault of a mapping into an error. It is deferred around everything that touches one:
//
//	defer l.guard(reading, debug.SetPanicOnFault(true), &err)
//
// The system reports that it cannot read or write a page of a mapping as a signal (SIGBUS), which would end the
// process. There are two reasons. A copy-on-write file system needs new space to write to a page again, whatever was
// reserved, and its disk is full: then vfs.IsFull says so of the error. Or the page cannot be read, because of the
// disk, or because the file was made shorter: then the error wraps ErrMapped and EIO. Any other panic, and a fault of
// any other memory, goes on.
//
// What is guarded changes free space of the mapping only, or a tail's next address, before it changes anything else.
func (l *blockLog) guard(to access, before bool, err *error) {
	debug.SetPanicOnFault(before)
	cause := recover()
	if cause == nil {
		return
	}
	fault := l.segments.fault(cause, to)
	if fault == nil {
		panic(cause)
	}
	*err = fault
	l.checked = 0 // Another read of the same block may return other bytes.
}

// segmentFor returns the active segment if it has space for a block of this size, otherwise a new one.
func (l *blockLog) segmentFor(bytes int) (*segment, error) {
	if s := l.segments.active; s != nil && s.room() >= bytes {
		return s, nil
	}
	number := l.segments.nextNumber()
	if number >= maxSegments {
		return nil, fmt.Errorf("%w: 2^24 segments were written", ErrTooMany)
	}
	return l.segments.create(l.book.forSegment(number, &l.pack))
}

// writeItems writes the oldest items of the buffer of a queue as one block at the end of its chain. The block ends at
// the target or the largest number of items. It returns the number of written items. After an error the queue is
// unchanged.
func (l *blockLog) writeItems(e *entry, b *buffer) (items uint32, err error) {
	items, plain := b.measure(e, l.target)
	first := e.first + uint64(e.disk)
	if first+uint64(items) > maxOrdinal {
		return 0, fmt.Errorf("%w: 2^48 items were written", ErrTooMany)
	}
	s, err := l.segmentFor(plain)
	if err != nil {
		return 0, err
	}
	b.pack(e, items, &l.pack, s.codes)
	end, err := l.placeLinked(s, e, slot{key: e.key, first: first, items: items})
	if err != nil {
		return 0, err
	}
	l.bytes += slotBytes + int64(end-s.dataEnd)
	e.tail = s.nextAddress()
	if e.head == 0 {
		e.head = e.tail
	}
	s.seal(end)
	e.disk += items
	l.ordinal = max(l.ordinal, first+uint64(items))
	l.blocks++
	return items, nil
}

// placeLinked writes the packed block to free space, and then its address into the slot of the queue's last block. That
// address has no meaning until the entry has a newer tail. After an error the queue is unchanged.
func (l *blockLog) placeLinked(s *segment, e *entry, sl slot) (end uint32, err error) {
	defer l.guard(writing, debug.SetPanicOnFault(true), &err)
	end = s.place(sl, 0, 0, l.pack.payload())
	if e.head == 0 {
		return end, nil
	}
	if tail, i := l.segments.locate(e.tail); tail != nil && i < tail.slots {
		tail.setNext(i, s.nextAddress())
	}
	return end, nil
}

// blockAt reads the block that contains the item of a queue with the given ordinal. It verifies the checksum (V2), key
// and ordinal (V1).
func (l *blockLog) blockAt(a address, key, ordinal uint64) (block, error) {
	s, i := l.segments.locate(a)
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
	if here := makeAddress(s.number, i); l.checked != here {
		if sl.checksum(body) != sl.sum {
			return block{}, corrupt("block %v: checksum does not hold", a)
		}
		l.checked = here
	}
	b := block{sl, next, s, cost(body), body, s.codes}
	if sl.moved {
		b.payload = body[8:]
	}
	return b, nil
}

// headBlock reads the block with the oldest item of a queue on disk. left of its items are not yet taken. after is the
// state of the queue when the block is finished.
func (l *blockLog) headBlock(e *entry) (b block, left uint32, after entry, err error) {
	b, err = l.blockAt(e.head, e.key, e.first)
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
func (l *blockLog) items(b *block, at address, left uint32, f func(item []byte) bool) error {
	u := &l.unpack
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

// takeFromHead takes items from the first block of a queue and passes them to emit.
func (l *blockLog) takeFromHead(e *entry, limit int, emit func(item []byte)) (int, error) {
	b, after, n, err := l.emitFromHead(e, limit, emit)
	if n > 0 && after.first == e.first+uint64(n) {
		head := e.head
		*e = after
		l.segments.kill(spent{head, b.segment, b.cost})
		return n, nil
	}
	e.first += uint64(n)
	e.disk -= uint32(n)
	return n, err
}

// emitFromHead emits items of the first block of a queue and changes nothing. n is the number of emitted items, also
// after an error. after is the state of the queue when the block is finished.
func (l *blockLog) emitFromHead(
	e *entry,
	limit int,
	emit func(item []byte),
) (b block, after entry, n int, err error) {
	defer l.guard(reading, debug.SetPanicOnFault(true), &err)
	b, left, after, err := l.headBlock(e)
	if err != nil {
		return b, after, 0, err
	}
	u := &l.unpack
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

// eachFrom passes the items of a queue on disk to f, from an ordinal on, until f returns false; more is the last result
// of f. It reads only a few bytes of the blocks before that item.
func (l *blockLog) eachFrom(e entry, from uint64, f func(item []byte) bool) (more bool, err error) {
	defer l.guard(reading, debug.SetPanicOnFault(true), &err)
	more = true
	for e.disk > 0 {
		_, _, left, next, err := l.headSlot(&e)
		if err != nil {
			return false, err
		}
		if e.first+left <= from {
			e.first, e.head, e.disk = e.first+left, next, e.disk-uint32(left)
			continue
		}
		b, rest, after, err := l.headBlock(&e)
		if err != nil {
			return false, err
		}
		at := e.first
		err = l.items(&b, e.head, rest, func(item []byte) bool {
			if at++; at > from {
				more = f(item)
			}
			return more
		})
		if err != nil || !more {
			return false, err
		}
		e = after
	}
	return true, nil
}

// headSlot finds the block with the oldest item of a queue on disk, without reading its payload. left of its items are
// not yet taken; next is the block after it.
func (l *blockLog) headSlot(e *entry) (s *segment, body []byte, left uint64, next address, err error) {
	s, i := l.segments.locate(e.head)
	if s == nil {
		return nil, nil, 0, 0, corrupt("queue %x leads to block %v, and there is no such segment", e.key, e.head)
	}
	sl, next, body, err := s.body(i)
	if err != nil {
		return nil, nil, 0, 0, err
	}
	left = sl.first + uint64(sl.items) - e.first
	if sl.key != e.key || sl.first > e.first || left == 0 || left > uint64(e.disk) {
		return nil, nil, 0, 0, corrupt("block %v is not the one with item %d of queue %x", e.head, e.first, e.key)
	}
	return s, body, left, next, nil
}

// listChain lists all blocks of a queue for killChain, up to the first damaged one, without reading their payloads.
func (l *blockLog) listChain(e entry) (err error) {
	defer l.guard(reading, debug.SetPanicOnFault(true), &err)
	l.chain = l.chain[:0]
	for e.disk > 0 {
		s, body, left, next, err := l.headSlot(&e)
		if err != nil {
			return err
		}
		l.chain = append(l.chain, spent{e.head, s, cost(body)})
		e.first, e.head = e.first+left, next
		e.disk -= uint32(left)
	}
	return nil
}

// killChain stops counting the listed blocks as live.
func (l *blockLog) killChain() {
	for _, b := range l.chain {
		l.segments.kill(b)
	}
	if l.chain = l.chain[:0]; cap(l.chain) > chainKept {
		l.chain = nil
	}
}

// addStats adds sizes and counters.
func (l *blockLog) addStats(c *Stats) {
	c.BlocksWritten, c.BytesWritten, c.BlocksExpected = l.blocks, l.bytes, l.expected
	l.segments.addStats(c)
}
