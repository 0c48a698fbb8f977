package itemqueue

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// ring is a deque of items in one ring of bytes. An item is its length as a uvarint and its bytes, and may wrap around
// the end. There is no pointer and no allocation per item.
type ring struct {
	buf   []byte
	head  int // position of the length of the oldest item
	size  int // bytes in use
	count int // items
}

const minRing = 32

// PrefixLen is the number of bytes of the length in front of an item of n bytes.
func PrefixLen(n int) int { return max(1, (bits.Len64(uint64(n))+6)/7) }

// pushBack adds an item behind all others.
func (r *ring) pushBack(item []byte) {
	r.reserve(PrefixLen(len(item)) + len(item))
	r.write(r.wrap(r.head+r.size), item)
}

// pushFront adds an item before all others.
func (r *ring) pushFront(item []byte) {
	n := PrefixLen(len(item)) + len(item)
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
	used := PrefixLen(n) + n
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
