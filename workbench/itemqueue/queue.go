package itemqueue

import "encoding/binary"

// Queue is a deque of two classes of items: urgent items precede all others. Each class has a ring of its own, so that
// a push costs the same however many items there are. The zero value is empty.
type Queue struct {
	others ring
	urgent *ring // nil before the first urgent item
}

// Load returns a queue of items as AppendRaw wrote them, and takes raw. IsUrgent with flags tells the urgent items.
// They may stand behind others: the items of a Visit that was out come first in a snapshot.
func Load(raw []byte, count int, flags byte) *Queue {
	if !hasUrgent(raw, flags) {
		return &Queue{others: ring{buf: raw, size: len(raw), count: count}}
	}
	q := new(Queue)
	for b := raw; len(b) > 0; {
		item, rest := cutItem(b)
		q.PushBack(item, IsUrgent(item, flags))
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
		if IsUrgent(item, flags) {
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

// IsUrgent reports whether an item precedes those that are not: see workbench.Options.UrgentFlags.
func IsUrgent(item []byte, flags byte) bool {
	return len(item) > 1 && item[0]&flags != 0 && item[1]&0x0f == 0
}

// class returns the ring of one class, and makes it if it is the first urgent item.
func (q *Queue) class(urgent bool) *ring {
	if !urgent {
		return &q.others
	}
	if q.urgent == nil {
		q.urgent = new(ring)
	}
	return q.urgent
}

// PushBack adds an item behind all others of its class.
func (q *Queue) PushBack(item []byte, urgent bool) { q.class(urgent).pushBack(item) }

// PushFront adds an item before all others of its class.
func (q *Queue) PushFront(item []byte, urgent bool) { q.class(urgent).pushFront(item) }

// PopFront removes the oldest item and appends its bytes to dst. The queue must not be empty.
func (q *Queue) PopFront(dst []byte) []byte { return q.first().popFront(dst) }

// first returns the ring whose items leave now.
func (q *Queue) first() *ring {
	if q.UrgentCount() > 0 {
		return q.urgent
	}
	return &q.others
}

// Count returns the number of items.
func (q *Queue) Count() int { return q.others.count + q.UrgentCount() }

// UrgentCount returns the number of urgent items.
func (q *Queue) UrgentCount() int {
	if q.urgent == nil {
		return 0
	}
	return q.urgent.count
}

// Size returns the bytes of all items and their lengths.
func (q *Queue) Size() int {
	if q.urgent == nil {
		return q.others.size
	}
	return q.others.size + q.urgent.size
}

// Room returns the bytes of memory that the queue holds for items.
func (q *Queue) Room() int {
	if q.urgent == nil {
		return len(q.others.buf)
	}
	return len(q.others.buf) + len(q.urgent.buf)
}

// AppendRaw appends all items, in the order in which they leave, each with its length as a uvarint before it.
func (q *Queue) AppendRaw(dst []byte) []byte {
	if q.urgent != nil {
		dst = q.urgent.appendRaw(dst)
	}
	return q.others.appendRaw(dst)
}

// Reader returns a copy whose items can be popped while q keeps them. Nothing may be pushed to either meanwhile.
func (q *Queue) Reader() Queue {
	r := *q
	if q.urgent != nil {
		urgent := *q.urgent
		r.urgent = &urgent
	}
	return r
}

// Shrink releases memory when most of it is not used.
func (q *Queue) Shrink() {
	q.others.shrink()
	if q.urgent != nil {
		q.urgent.shrink()
	}
}

// Clear makes an empty queue for another site of q. It keeps the memory.
func (q *Queue) Clear() {
	q.others = ring{buf: q.others.buf}
	if q.urgent != nil {
		*q.urgent = ring{buf: q.urgent.buf}
	}
}

// Prefetch reads where the first item is, and PrefetchItem reads its first byte, so that the processor has them in its
// cache. The queue must not be empty. The results have no meaning.
func (q *Queue) Prefetch() uint32 { return uint32(q.first().head) }

// PrefetchItem is the second step of Prefetch.
func (q *Queue) PrefetchItem() uint32 {
	first := q.first()
	return uint32(first.buf[first.head])
}
