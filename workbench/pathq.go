package workbench

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// pathQueue is a deque of items in one ring of bytes. An item is its length as a uvarint and its bytes, and may wrap
// around the end. There is no pointer and no allocation per item.
type pathQueue struct {
	buf   []byte
	head  int // position of the length of the oldest item
	size  int // bytes in use
	count int // items
}

const minRing = 32

func prefixLen(n int) int { return max(1, (bits.Len64(uint64(n))+6)/7) }

func (q *pathQueue) pushBack(item []byte) {
	q.reserve(prefixLen(len(item)) + len(item))
	at := q.wrap(q.head + q.size)
	q.write(at, item)
}

func (q *pathQueue) pushFront(item []byte) {
	n := prefixLen(len(item)) + len(item)
	q.reserve(n)
	q.head = q.wrap(q.head - n + len(q.buf))
	q.write(q.head, item)
}

// write stores item at a position that is already reserved.
func (q *pathQueue) write(at int, item []byte) {
	var prefix [binary.MaxVarintLen64]byte
	p := prefix[:binary.PutUvarint(prefix[:], uint64(len(item)))]
	at = q.copyIn(at, p)
	q.copyIn(at, item)
	q.size += len(p) + len(item)
	q.count++
}

func (q *pathQueue) copyIn(at int, b []byte) int {
	n := copy(q.buf[at:], b)
	copy(q.buf, b[n:])
	return q.wrap(at + len(b))
}

// popFront removes the oldest item and appends its bytes to dst. The queue must not be empty.
func (q *pathQueue) popFront(dst []byte) []byte {
	n, shift := 0, 0
	at := q.head
	for {
		b := q.buf[at]
		at = q.wrap(at + 1)
		n |= int(b&0x7f) << shift
		if b < 0x80 {
			break
		}
		shift += 7
	}
	dst = q.copyOut(dst, at, n)
	used := prefixLen(n) + n
	q.head = q.wrap(q.head + used)
	q.size -= used
	q.count--
	return dst
}

func (q *pathQueue) copyOut(dst []byte, at, n int) []byte {
	first := min(n, len(q.buf)-at)
	dst = append(dst, q.buf[at:at+first]...)
	return append(dst, q.buf[:n-first]...)
}

// appendRaw appends all items, oldest first, with their lengths as in the ring.
func (q *pathQueue) appendRaw(dst []byte) []byte { return q.copyOut(dst, q.head, q.size) }

func (q *pathQueue) wrap(i int) int {
	if i >= len(q.buf) {
		return i - len(q.buf)
	}
	return i
}

func (q *pathQueue) reserve(n int) {
	if q.size+n <= len(q.buf) {
		return
	}
	q.resize(max(minRing, q.size+n, len(q.buf)+len(q.buf)/2))
}

// shrink releases memory when three quarters of a large ring are empty.
func (q *pathQueue) shrink() {
	if len(q.buf) >= 256 && q.size < len(q.buf)/4 {
		q.resize(2 * q.size)
	}
}

func (q *pathQueue) resize(n int) {
	b := q.appendRaw(slices.Grow([]byte(nil), n))
	q.buf, q.head = b[:cap(b)], 0
}
