package workbench

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// itemQueue holds the items of one site in memory. It is a deque of two classes: urgent items precede all others. Each
// class has a ring of its own, so that a push costs the same however many items there are. The zero value is empty.
type itemQueue struct {
	others ring
	urgent *ring // nil before the first urgent item
}

// loadQueue returns a queue of items as AppendRaw wrote them, and takes raw. isUrgent with flags tells the urgent
// items. They may stand behind others: the items of a Visit that was out come first in a snapshot.
func loadQueue(raw []byte, count int, flags byte) *itemQueue {
	if !hasUrgent(raw, flags) {
		return &itemQueue{others: ring{buf: raw, size: len(raw), count: count}}
	}
	q := new(itemQueue)
	for b := raw; len(b) > 0; {
		item, rest := cutItem(b)
		q.PushBack(item, isUrgent(item, flags))
		b = rest
	}
	return q
}

func hasUrgent(raw []byte, flags byte) bool {
	if flags == 0 {
		return false
	}
	for b := raw; len(b) > 0; {
		item, rest := cutItem(b)
		if isUrgent(item, flags) {
			return true
		}
		b = rest
	}
	return false
}

// cutItem returns the first of some items, and the others.
func cutItem(b []byte) (item, rest []byte) {
	n, used := binary.Uvarint(b)
	return b[used : used+int(n)], b[used+int(n):]
}

// isUrgent reports whether an item precedes those that are not: see Options.UrgentFlags.
func isUrgent(item []byte, flags byte) bool {
	return len(item) > 1 && item[0]&flags != 0 && item[1]&0x0f == 0
}

// class returns the ring of one class, and makes it if it is the first urgent item.
func (q *itemQueue) class(urgent bool) *ring {
	if !urgent {
		return &q.others
	}
	if q.urgent == nil {
		q.urgent = new(ring)
	}
	return q.urgent
}

// PushBack adds an item behind all others of its class.
func (q *itemQueue) PushBack(item []byte, urgent bool) { q.class(urgent).pushBack(item) }

// PushFront adds an item before all others of its class.
func (q *itemQueue) PushFront(item []byte, urgent bool) { q.class(urgent).pushFront(item) }

// PopFront removes the oldest item and appends its bytes to dst. The queue must not be empty.
func (q *itemQueue) PopFront(dst []byte) []byte { return q.first().popFront(dst) }

// first returns the ring whose items leave now.
func (q *itemQueue) first() *ring {
	if q.UrgentCount() > 0 {
		return q.urgent
	}
	return &q.others
}

// Count returns the number of items.
func (q *itemQueue) Count() int { return q.others.count + q.UrgentCount() }

// UrgentCount returns the number of urgent items.
func (q *itemQueue) UrgentCount() int {
	if q.urgent == nil {
		return 0
	}
	return q.urgent.count
}

// Size returns the bytes of all items and their lengths.
func (q *itemQueue) Size() int {
	if q.urgent == nil {
		return q.others.size
	}
	return q.others.size + q.urgent.size
}

// Room returns the bytes of memory that the queue holds for items.
func (q *itemQueue) Room() int {
	if q.urgent == nil {
		return len(q.others.buf)
	}
	return len(q.others.buf) + len(q.urgent.buf)
}

// AppendRaw appends all items, in the order in which they leave, each with its length as a uvarint before it.
func (q *itemQueue) AppendRaw(dst []byte) []byte {
	if q.urgent != nil {
		dst = q.urgent.appendRaw(dst)
	}
	return q.others.appendRaw(dst)
}

// Reader returns a copy whose items can be popped while q keeps them. Nothing may be pushed to either meanwhile.
func (q *itemQueue) Reader() itemQueue {
	r := *q
	if q.urgent != nil {
		urgent := *q.urgent
		r.urgent = &urgent
	}
	return r
}

// Shrink releases memory when most of it is not used.
func (q *itemQueue) Shrink() {
	q.others.shrink()
	if q.urgent != nil {
		q.urgent.shrink()
	}
}

// Clear makes an empty queue for another site of q. It keeps the memory.
func (q *itemQueue) Clear() {
	q.others = ring{buf: q.others.buf}
	if q.urgent != nil {
		*q.urgent = ring{buf: q.urgent.buf}
	}
}

// Prefetch reads where the first item is, and PrefetchItem reads its first byte, so that the processor has them in its
// cache. The queue must not be empty. The results have no meaning.
func (q *itemQueue) Prefetch() uint32 { return uint32(q.first().head) }

// PrefetchItem is the second step of Prefetch.
func (q *itemQueue) PrefetchItem() uint32 {
	first := q.first()
	return uint32(first.buf[first.head])
}

// ring is a deque of items in one ring of bytes. An item is its length as a uvarint and its bytes, and may wrap around
// the end. There is no pointer and no allocation per item.
type ring struct {
	buf   []byte
	head  int // position of the length of the oldest item
	size  int // bytes in use
	count int // items
}

const minRing = 32

// prefixLen is the number of bytes of the length in front of an item of n bytes.
func prefixLen(n int) int { return max(1, (bits.Len64(uint64(n))+6)/7) }

// pushBack adds an item behind all others.
func (r *ring) pushBack(item []byte) {
	r.reserve(prefixLen(len(item)) + len(item))
	r.write(r.wrap(r.head+r.size), item)
}

// pushFront adds an item before all others.
func (r *ring) pushFront(item []byte) {
	n := prefixLen(len(item)) + len(item)
	r.reserve(n)
	r.head = r.wrap(r.head - n + len(r.buf))
	r.write(r.head, item)
}

// write stores item at a position that is already reserved.
func (r *ring) write(at int, item []byte) {
	var prefix [binary.MaxVarintLen64]byte
	p := prefix[:binary.PutUvarint(prefix[:], uint64(len(item)))]
	at = r.copyIn(at, p)
	r.copyIn(at, item)
	r.size += len(p) + len(item)
	r.count++
}

func (r *ring) copyIn(at int, b []byte) int {
	n := copy(r.buf[at:], b)
	copy(r.buf, b[n:])
	return r.wrap(at + len(b))
}

// popFront removes the oldest item and appends its bytes to dst. The ring must not be empty.
func (r *ring) popFront(dst []byte) []byte {
	n, shift := 0, 0
	at := r.head
	for {
		b := r.buf[at]
		at = r.wrap(at + 1)
		n |= int(b&0x7f) << shift
		if b < 0x80 {
			break
		}
		shift += 7
	}
	dst = r.copyOut(dst, at, n)
	used := prefixLen(n) + n
	r.head = r.wrap(r.head + used)
	r.size -= used
	r.count--
	return dst
}

func (r *ring) copyOut(dst []byte, at, n int) []byte {
	first := min(n, len(r.buf)-at)
	dst = append(dst, r.buf[at:at+first]...)
	return append(dst, r.buf[:n-first]...)
}

// appendRaw appends all items, oldest first, with their lengths.
func (r *ring) appendRaw(dst []byte) []byte { return r.copyOut(dst, r.head, r.size) }

func (r *ring) wrap(i int) int {
	if i >= len(r.buf) {
		return i - len(r.buf)
	}
	return i
}

func (r *ring) reserve(n int) {
	if r.size+n <= len(r.buf) {
		return
	}
	r.resize(max(minRing, r.size+n, len(r.buf)+len(r.buf)/2))
}

// shrink releases memory when three quarters of a large ring are empty.
func (r *ring) shrink() {
	if len(r.buf) >= 256 && r.size < len(r.buf)/4 {
		r.resize(2 * r.size)
	}
}

func (r *ring) resize(n int) {
	b := r.appendRaw(slices.Grow([]byte(nil), n))
	r.buf, r.head = b[:cap(b)], 0
}
