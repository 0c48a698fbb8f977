package itemqueue

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Queue is a deque of items in one ring of bytes. An item is its length as a uvarint and its bytes, and may wrap
// around the end. There is no pointer and no allocation per item. Urgent items precede all others.
type Queue struct {
	Buf   []byte
	Head  int // position of the length of the oldest item
	Size  int // bytes in use
	Count int // items

	urgentSize  int // bytes of the urgent items, which are the oldest
	UrgentCount int // number of these
}

const minRing = 32

// PrefixLen is the number of bytes of the length in front of an item of n bytes.
func PrefixLen(n int) int { return max(1, (bits.Len64(uint64(n))+6)/7) }

// PushBack adds an item behind all others of its class.
func (q *Queue) PushBack(item []byte, urgent bool) {
	if urgent {
		q.insert(item)
		q.countUrgent(item)
		return
	}
	q.reserve(PrefixLen(len(item)) + len(item))
	at := q.wrap(q.Head + q.Size)
	q.write(at, item)
}

// PushFront adds an item before all others of its class.
func (q *Queue) PushFront(item []byte, urgent bool) {
	if !urgent {
		q.insert(item)
		return
	}
	n := PrefixLen(len(item)) + len(item)
	q.reserve(n)
	q.Head = q.wrap(q.Head - n + len(q.Buf))
	q.write(q.Head, item)
	q.countUrgent(item)
}

// insert adds an item between the urgent items and the others. It moves the urgent items, which are few.
func (q *Queue) insert(item []byte) {
	n := PrefixLen(len(item)) + len(item)
	q.reserve(n)
	from := q.Head
	q.Head = q.wrap(q.Head - n + len(q.Buf))
	to := q.Head
	for left := q.urgentSize; left > 0; {
		part := min(left, len(q.Buf)-from, len(q.Buf)-to)
		copy(q.Buf[to:to+part], q.Buf[from:from+part])
		from, to, left = q.wrap(from+part), q.wrap(to+part), left-part
	}
	q.write(to, item)
}

// HasUrgent reports whether a queue that was loaded and does not wrap has urgent items.
func (q *Queue) HasUrgent(flags byte) bool {
	for b := q.Buf[:q.Size]; len(b) > 0; {
		n, used := binary.Uvarint(b)
		if IsUrgent(b[used:used+int(n)], flags) {
			return true
		}
		b = b[used+int(n):]
	}
	return false
}

func (q *Queue) countUrgent(item []byte) {
	q.urgentSize += PrefixLen(len(item)) + len(item)
	q.UrgentCount++
}

// FindUrgent finds the urgent items of a queue that was loaded and does not wrap. They may stand behind others: the
// items of a Visit that was out come first in a snapshot.
func (q *Queue) FindUrgent(flags byte) {
	var whole Queue
	for b := q.Buf[:q.Size]; len(b) > 0; {
		n, used := binary.Uvarint(b)
		item := b[used : used+int(n)]
		whole.PushBack(item, IsUrgent(item, flags))
		b = b[used+int(n):]
	}
	*q = whole
}

// IsUrgent reports whether an item precedes those that are not: see workbench.Options.UrgentFlags.
func IsUrgent(item []byte, flags byte) bool {
	return len(item) > 1 && item[0]&flags != 0 && item[1]&0x0f == 0
}

// write stores item at a position that is already reserved.
func (q *Queue) write(at int, item []byte) {
	var prefix [binary.MaxVarintLen64]byte
	p := prefix[:binary.PutUvarint(prefix[:], uint64(len(item)))]
	at = q.copyIn(at, p)
	q.copyIn(at, item)
	q.Size += len(p) + len(item)
	q.Count++
}

func (q *Queue) copyIn(at int, b []byte) int {
	n := copy(q.Buf[at:], b)
	copy(q.Buf, b[n:])
	return q.wrap(at + len(b))
}

// PopFront removes the oldest item and appends its bytes to dst. The queue must not be empty.
func (q *Queue) PopFront(dst []byte) []byte {
	n, shift := 0, 0
	at := q.Head
	for {
		b := q.Buf[at]
		at = q.wrap(at + 1)
		n |= int(b&0x7f) << shift
		if b < 0x80 {
			break
		}
		shift += 7
	}
	dst = q.copyOut(dst, at, n)
	used := PrefixLen(n) + n
	q.Head = q.wrap(q.Head + used)
	q.Size -= used
	q.Count--
	if q.UrgentCount > 0 {
		q.urgentSize -= used
		q.UrgentCount--
	}
	return dst
}

func (q *Queue) copyOut(dst []byte, at, n int) []byte {
	first := min(n, len(q.Buf)-at)
	dst = append(dst, q.Buf[at:at+first]...)
	return append(dst, q.Buf[:n-first]...)
}

// AppendRaw appends all items, oldest first, with their lengths as in the ring.
func (q *Queue) AppendRaw(dst []byte) []byte { return q.copyOut(dst, q.Head, q.Size) }

func (q *Queue) wrap(i int) int {
	if i >= len(q.Buf) {
		return i - len(q.Buf)
	}
	return i
}

func (q *Queue) reserve(n int) {
	if q.Size+n <= len(q.Buf) {
		return
	}
	q.resize(max(minRing, q.Size+n, len(q.Buf)+len(q.Buf)/2))
}

// Shrink releases memory when three quarters of a large ring are empty.
func (q *Queue) Shrink() {
	if len(q.Buf) >= 256 && q.Size < len(q.Buf)/4 {
		q.resize(2 * q.Size)
	}
}

func (q *Queue) resize(n int) {
	b := q.AppendRaw(slices.Grow([]byte(nil), n))
	q.Buf, q.Head = b[:cap(b)], 0
}
