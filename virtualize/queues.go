package virtualize

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"orbweaver/internal/vfs"
)

// queues are the queues with their items: older ones in the log, the newest in the buffer. The index has exactly the
// queues that have items. Each change is recorded for snapshots.
type queues struct {
	idx     *index
	buf     buffer
	log     blockLog
	changes changes
	image   image  // of the open snapshot
	total   uint64 // items of all queues

	itemsAppended, itemsTaken, itemsDropped int64 // since Open
}

func newQueues(fsys vfs.FS, o Options) queues {
	return queues{
		idx: newIndex(0),
		buf: buffer{limit: o.BufferBytes / 2},
		log: blockLog{segments: newSegmentList(fsys, o), book: newCodebook(), target: o.blockTarget()},
	}
}

// insert creates a queue with a new key.
func (q *queues) insert(key uint64) (id uint32) {
	id = q.idx.insert(key)
	q.changes.grow(len(q.idx.chunks) * chunkSize / 64)
	q.image.queues.remove(id) // It was free when the snapshot was taken.
	q.changes.queues.add(id)
	return id
}

// touch must be called before a queue changes. It copies the old state for the open snapshot, and marks the queue for
// the next one.
func (q *queues) touch(id uint32) {
	if im := &q.image; im.mustCopy(id) {
		im.queues.remove(id)
		im.copiedEarly = q.appendRecord(im.copiedEarly, q.idx.at(id))
	}
	q.changes.queues.add(id)
}

// remove deletes a queue without items. touch was called when it had some.
func (q *queues) remove(id uint32) {
	q.changes.deleted = append(q.changes.deleted, q.idx.at(id).key)
	q.idx.remove(id)
}

// len returns the number of items of a queue.
func (q *queues) len(key uint64) uint64 {
	id, ok := q.idx.find(key)
	if !ok {
		return 0
	}
	return q.idx.at(id).items()
}

// append adds an item at the end of a queue, and creates the queue if needed.
func (q *queues) append(key uint64, item []byte) error {
	if err := q.makeRoom(item); err != nil {
		return err
	}
	id, ok := q.idx.find(key)
	if !ok {
		id = q.insert(key)
		q.idx.at(id).first = q.log.ordinal
	}
	e := q.idx.at(id)
	if e.items() == 1<<32-1 {
		return fmt.Errorf("%w: queue %x has 2^32-1 items", ErrTooMany, key)
	}
	if ok {
		q.touch(id)
	}
	q.buf.add(id, e, item)
	q.total++
	q.itemsAppended++
	return nil
}

// takeItems removes up to limit items from the front of a queue.
func (q *queues) takeItems(key uint64, limit int, emit func(item []byte)) (n int, err error) {
	id, ok := q.idx.find(key)
	if !ok || limit <= 0 {
		return 0, nil
	}
	q.touch(id)
	e := q.idx.at(id)
	for n < limit && e.disk > 0 && err == nil {
		var took int
		took, err = q.log.takeFromHead(e, limit-n, emit)
		n += took
	}
	for ; n < limit && e.buffered > 0 && err == nil; n++ {
		item, _ := q.buf.record(q.buf.oldest(e))
		emit(item)
		q.buf.drop(e, 1)
	}
	if e.items() == 0 {
		q.remove(id)
	}
	q.total -= uint64(n)
	q.itemsTaken += int64(n)
	return n, err
}

// eachFrom passes the items of a queue to f, from an ordinal on, without taking them, until f returns false. first is
// the ordinal of the first item that f gets, unless there is none.
func (q *queues) eachFrom(key, from uint64, f func(item []byte) bool) (first uint64, err error) {
	id, ok := q.idx.find(key)
	if !ok {
		return from, nil
	}
	e := q.idx.at(id)
	from = max(from, e.first)
	if more, err := q.log.eachFrom(*e, from, f); err != nil || !more || e.buffered == 0 {
		return from, err
	}
	skip := from - min(from, e.first+uint64(e.disk))
	for at, i := q.buf.oldest(e), uint32(0); i < e.buffered; i++ {
		item, next := q.buf.record(at)
		if uint64(i) >= skip && !f(item) {
			return from, nil
		}
		at = next
	}
	return from, nil
}

// drop deletes a queue and returns the number of its items. It deletes a damaged queue too, except after a fault of the
// mapping.
func (q *queues) drop(key uint64) (n uint64, err error) {
	id, ok := q.idx.find(key)
	if !ok {
		return 0, nil
	}
	e := q.idx.at(id)
	if err = q.log.listChain(*e); errors.Is(err, ErrMapped) {
		return 0, err
	}
	q.touch(id)
	n = e.items()
	q.log.killChain()
	q.log.segments.leaky = q.log.segments.leaky || err != nil
	q.buf.drop(e, e.buffered)
	q.remove(id)
	q.total -= n
	q.itemsDropped += int64(n)
	return n, err
}

// makeRoom makes space in the buffer for one more item. It writes the queues that are due.
func (q *queues) makeRoom(item []byte) error {
	b := &q.buf
	if !b.fits(item) {
		if err := q.drain(len(b.other().dirty)); err != nil {
			return err
		}
		b.turn()
	}
	if owed := b.dueWrites(); owed >= drainStep {
		return q.drain(owed)
	}
	return nil
}

// drainStep is the least number of queues written together, so that their cache misses overlap.
const drainStep = 16

// drain writes the buffered items of the next n queues of the half that is not filled. After an error, written items
// stay written and the others stay in the buffer, so every queue is complete at any time.
func (q *queues) drain(n int) error {
	h := q.buf.other()
	for ; n > 0 && h.items > 0; n-- {
		if err := q.write(h.dirty[h.done]); err != nil {
			return err
		}
		if h.items > 0 { // otherwise the half was reset
			h.done++
		}
	}
	return nil
}

// flush writes all buffered items.
func (q *queues) flush() error {
	for range q.buf.halves {
		if err := q.drain(len(q.buf.other().dirty)); err != nil {
			return err
		}
		q.buf.turn()
	}
	if q.buf.items != 0 {
		panic("BUG: virtualize: buffered items of a queue that is not listed")
	}
	return nil
}

// write writes all buffered items of a queue.
func (q *queues) write(id uint32) error {
	e := q.idx.at(id)
	if e.buffered == 0 {
		return nil
	}
	q.touch(id)
	for e.buffered > 0 {
		items, err := q.log.writeItems(e, &q.buf)
		if err != nil {
			return err
		}
		q.buf.drop(e, items)
	}
	return nil
}

// appendRecord appends the record of a queue, with its items in the buffer. A free entry has no record.
func (q *queues) appendRecord(dst []byte, e *entry) []byte {
	if e.items() == 0 {
		return dst
	}
	dst = binary.AppendUvarint(append(dst, recordQueue), e.key)
	dst = binary.AppendUvarint(dst, e.first)
	dst = appendAddress(appendAddress(dst, e.head), e.tail)
	dst = binary.AppendUvarint(dst, uint64(e.disk))
	dst = binary.AppendUvarint(dst, uint64(e.buffered))
	if e.buffered == 0 {
		return dst
	}
	pack := &q.log.pack
	q.buf.pack(e, e.buffered, pack, q.log.book.first)
	payload := pack.payload()
	return append(binary.AppendUvarint(dst, uint64(len(payload))), payload...)
}

// copyQueues appends the records of the next queues of the open snapshot. It examines a limited number of entries, or
// words of the set, and stops when dst has enough bytes.
func (q *queues) copyQueues(dst []byte, looks, enough int) (_ []byte, all bool) {
	im := &q.image
	for look := 0; look < looks && len(dst) < enough && im.next < im.entryCount; look++ {
		word := im.queues[im.next>>6] >> (im.next & 63)
		if word == 0 {
			im.next = (im.next | 63) + 1
			continue
		}
		im.next += uint32(bits.TrailingZeros64(word))
		dst = q.appendRecord(dst, q.idx.at(im.next))
		im.next++
	}
	return dst, im.next >= im.entryCount
}

// claims returns the queue of a live block and the address by which its chain refers to it, or nil if the block is
// dead. Check verifies that only live blocks are claimed.
func (q *queues) claims(s *segment, i uint32, sl slot, body []byte) (id uint32, e *entry, born address) {
	id, ok := q.idx.find(sl.key)
	if !ok {
		return 0, nil, 0
	}
	e = q.idx.at(id)
	if e.disk == 0 || sl.first+uint64(sl.items) <= e.first || sl.first >= e.first+uint64(e.disk) {
		return 0, nil, 0 // Taken, or of a dropped queue: ordinals are never used again.
	}
	born = makeAddress(s.number, i)
	if sl.moved {
		born = address(binary.LittleEndian.Uint64(body))
	}
	if at, slot := q.log.segments.locate(born); at != s || slot != i {
		return 0, nil, 0 // This is an old copy.
	}
	return id, e, born
}

// close removes all queues and unmaps the log.
func (q *queues) close() error {
	q.idx, q.buf = newIndex(0), buffer{}
	q.image.end()
	return q.log.segments.close()
}

// addStats adds sizes and counters.
func (q *queues) addStats(c *Stats) {
	c.Queues, c.Items, c.Buffered = int64(q.idx.count), int64(q.total), int64(q.buf.items)
	c.Appended, c.ItemsTaken, c.Dropped = q.itemsAppended, q.itemsTaken, q.itemsDropped
	c.BufferMemory = q.buf.bytesHeld()
	c.Memory += q.idx.bytes() + c.BufferMemory + q.changes.bytes() + q.image.bytes()
	q.log.addStats(c)
}
