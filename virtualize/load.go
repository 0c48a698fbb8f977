package virtualize

import (
	"encoding/binary"
	"slices"

	"github.com/zeebo/xxh3"
)

// loader reads the sections of an index file.
type loader struct {
	q        *queues
	only     []uint64 // see Options.Only
	data     []byte
	at       int
	bad      bool // an expected number was missing
	file     indexFile
	head     header // of the last section
	segments []namedSegment
	buffered map[uint32][]byte // by entry: the payload of the items in the buffer
}

// namedSegment is the record of a segment in a section.
type namedSegment struct{ number, size, slots, dataEnd, live uint64 }

// sections reads all sections up to that of a checkpoint.
func (l *loader) sections(cut Checkpoint) error {
	for l.at < len(l.data) {
		start := l.at
		if err := l.section(cut); err != nil {
			return err
		}
		sum := xxh3.Hash(l.data[start:l.at])
		if len(l.data)-l.at < sectionTail || sum != binary.LittleEndian.Uint64(l.data[l.at:]) {
			return corrupt("index %d: the checksum of generation %d does not hold", cut.Base, l.head.generation)
		}
		l.at += sectionTail
		l.file.sum, l.file.length = sum, uint64(l.at)
		if l.file.base == 0 {
			l.file.base, l.file.baseLength = cut.Base, l.file.length
		}
	}
	h := &l.head
	if l.file.sum != cut.Checksum || h.generation != cut.Generation || h.queues != cut.Queues || h.items != cut.Items {
		return corrupt("index %d: generation %d is not what the cut %+v means", cut.Base, h.generation, cut)
	}
	if h.next == 0 || h.next > maxSegments || h.ordinal > maxOrdinal {
		return corrupt("index %d: %d segments, ordinal %d", h.base, h.next, h.ordinal)
	}
	return nil
}

// section reads one section without its checksum.
func (l *loader) section(cut Checkpoint) error {
	before := l.head.generation
	if len(l.data)-l.at < sectionHead || string(l.data[l.at:l.at+8]) != indexMagic {
		return corrupt("index %d: no section of this format at byte %d", cut.Base, l.at)
	}
	for i, field := range l.head.fields() {
		*field = binary.LittleEndian.Uint64(l.data[l.at+8+8*i:])
	}
	h := &l.head
	if h.generation <= before || h.base != cut.Base || h.before != l.file.sum ||
		(before == 0 && h.generation != cut.Base) {
		return corrupt("index %d: the section of generation %d does not belong to it", cut.Base, h.generation)
	}
	if before == 0 {
		l.q.idx = newIndex(int(min(h.queues, uint64(len(l.data))/8)))
	}
	l.at += sectionHead
	l.segments = l.segments[:0]
	for !l.bad {
		kind := byte(0)
		if l.at < len(l.data) {
			kind = l.data[l.at]
		}
		l.at++
		switch kind {
		case recordSegment:
			l.segments = append(l.segments, namedSegment{l.number(), l.number(), l.number(), l.number(), l.number()})
		case recordMove:
			born, now := l.address(), l.address()
			l.q.log.segments.moved.set(born, now)
		case recordDeleted:
			if id, ok := l.q.idx.find(l.number()); ok {
				delete(l.buffered, id)
				l.q.idx.remove(id)
			}
		case recordQueue:
			l.queue()
		case recordEnd:
			return nil
		default:
			l.bad = true
		}
	}
	return corrupt("index %d: no record of this format at byte %d", cut.Base, l.at)
}

// queue reads one queue's record.
func (l *loader) queue() {
	e := entry{key: l.number(), first: l.number(), head: l.address(), tail: l.address()}
	disk, buffered := l.number(), l.number()
	if disk > 1<<32-1 || buffered > 1<<32-1 || disk+buffered == 0 || disk+buffered > 1<<32-1 {
		l.bad = true
	}
	var payload []byte
	if buffered > 0 && !l.bad {
		if n := l.number(); n <= uint64(len(l.data)-l.at) {
			payload = l.data[l.at : l.at+int(n)]
			l.at += int(n)
		} else {
			l.bad = true
		}
	}
	if l.bad {
		return
	}
	e.disk, e.buffered = uint32(disk), uint32(buffered)
	id, ok := uint32(0), false
	if l.file.base != 0 { // The first section has each key once, and lookups would take most of the time.
		id, ok = l.q.idx.find(e.key)
	}
	if !ok {
		id = l.q.insert(e.key)
	}
	*l.q.idx.at(id) = e
	delete(l.buffered, id)
	if payload != nil && (l.only == nil || slices.Contains(l.only, e.key)) {
		l.buffered[id] = payload
	}
}

// number reads a uvarint; 0 if there is none.
func (l *loader) number() uint64 {
	n, size := binary.Uvarint(l.data[min(l.at, len(l.data)):])
	if size <= 0 {
		l.bad = true
		return 0
	}
	l.at += size
	return n
}

func (l *loader) address() address {
	segment, slot := l.number(), l.number()
	if segment > maxSegments || slot > 1<<32-1 {
		l.bad = true
		return 0
	}
	return makeAddress(uint32(segment), uint32(slot))
}

// finish makes the state of the last section the current one. It opens the segments and verifies the queues.
func (l *loader) finish() error {
	q, h := l.q, &l.head
	q.log.ordinal, q.total, q.log.segments.leaky = h.ordinal, h.items, h.leaky != 0
	if err := q.log.segments.open(h, l.segments, &q.log.book); err != nil {
		return err
	}
	if s := q.log.segments.active; s != nil {
		q.log.book.resume(s, &q.log.pack)
	}
	if err := l.checkEntries(); err != nil {
		return err
	}
	if err := l.refill(); err != nil {
		return err
	}
	clear(q.changes.queues) // Nothing has changed yet.
	return nil
}

// checkEntries verifies head and tail of every queue.
func (l *loader) checkEntries() error {
	q, h := l.q, &l.head
	var items uint64
	err := q.idx.each(func(_ uint32, e *entry) error {
		items += e.items()
		if e.first+uint64(e.disk) > h.ordinal || e.first > h.ordinal || (e.disk == 0) != (e.head == 0) ||
			(e.disk == 0) != (e.tail == 0) {
			return corrupt("index %d: impossible queue %x with %d items from %d", h.base, e.key, e.disk, e.first)
		}
		if e.disk == 0 {
			return nil
		}
		for _, a := range [...]address{e.head, e.tail} {
			if s, i := q.log.segments.locate(a); s == nil || i >= s.slots {
				return corrupt("index %d: queue %x leads to block %v, and there is none", h.base, e.key, a)
			}
		}
		return nil
	})
	if err == nil && (items != h.items || uint64(q.idx.count) != h.queues) {
		err = corrupt("index %d: %d items in %d queues, want %d in %d", h.base, items, q.idx.count, h.items, h.queues)
	}
	return err
}

// refill adds the items to the buffer that were not on disk. They may exceed the buffer, and count as the half that is
// written next.
func (l *loader) refill() error {
	q := l.q
	u := &q.log.unpack
	q.buf.turn()
	defer q.buf.turn()
	for id, payload := range l.buffered {
		e := q.idx.at(id)
		want := e.buffered
		e.buffered = 0
		ok := u.begin(q.log.book.first, payload)
		for ok && e.buffered < want {
			var item []byte
			if item, ok = u.next(); ok && len(q.buf.filling().arena)+len(item) < 1<<30 {
				q.buf.add(id, e, item)
			} else {
				ok = false
			}
		}
		if !ok || !u.atEnd() {
			return corrupt("index %d: the newest items of queue %x do not parse", l.file.base, e.key)
		}
	}
	return nil
}
