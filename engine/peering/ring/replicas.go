package ring

import (
	"iter"
	"math/bits"
)

// pointList holds all replicas in ascending order. It is divided into equal parts of the circle, at least as many parts
// as members. The first bits of a position are the number of its part, so they need not be stored. This leaves room for
// the number of the member: a packed point is the rest of the position, then the member, in one word.
type pointList struct {
	packed   []uint64
	partEnds []uint32 // index behind the last point of each part, in packed
	partBits uint     // there are 2^partBits parts
}

// point is a replica on the circle.
type point struct {
	position uint64
	member   uint16
}

// pointsPerPart is the approximate number of points of a part, so that a part is sorted within the processor's first
// cache.
const pointsPerPart = 2048

// newPointList places n replicas. Replica k of a member is output k of SplitMix64, seeded with the hash of its
// identifier. The points are distributed to their parts first, and then each part is sorted, so that the time grows
// in proportion to n.
func newPointList(members []Member, replicas, n int) *pointList {
	c := &pointList{
		packed:   make([]uint64, n),
		partBits: max(memberBits(members), uint(bits.Len(uint(n/pointsPerPart)))),
	}
	next := make([]uint32, 1<<c.partBits+1)
	shift := 64 - c.partBits
	for position := range allReplicas(members, replicas) {
		next[position>>shift+1]++
	}
	for i := range next[1:] {
		next[i+1] += next[i]
	}
	for position, member := range allReplicas(members, replicas) {
		part := position >> shift
		c.packed[next[part]] = position<<c.partBits | uint64(member)
		next[part]++
	}
	c.partEnds = next[:1<<c.partBits]
	begin, scratch := uint32(0), []uint64(nil)
	for _, end := range c.partEnds {
		scratch = sortUniform(c.packed[begin:end], scratch)
		begin = end
	}
	return c
}

// sortUniform sorts words that are distributed uniformly over all 64-bit numbers. It first distributes them to buckets,
// after which hardly a word is far from its final place. It uses scratch as a temporary copy, and returns it for reuse.
func sortUniform(words, scratch []uint64) []uint64 {
	const bucketBits = 11
	scratch = append(scratch[:0], words...)
	var next [1<<bucketBits + 1]uint32
	for _, w := range scratch {
		next[w>>(64-bucketBits)+1]++
	}
	for i := range next[1:] {
		next[i+1] += next[i]
	}
	for _, w := range scratch {
		bucket := w >> (64 - bucketBits)
		words[next[bucket]] = w
		next[bucket]++
	}
	for i, w := range words {
		for ; i > 0 && words[i-1] > w; i-- {
			words[i] = words[i-1]
		}
		words[i] = w
	}
	return scratch
}

// memberBits is the number of bits of a member's number.
func memberBits(members []Member) uint { return uint(bits.Len(uint(len(members) - 1))) }

// allReplicas yields position and member number of each replica, member by member.
func allReplicas(members []Member, replicas int) iter.Seq2[uint64, uint16] {
	return func(yield func(uint64, uint16) bool) {
		for i, m := range members {
			state := m.seed()
			for range m.Capacity * replicas {
				if state += splitMixStep; !yield(splitMix(state), uint16(i)) {
					return
				}
			}
		}
	}
}

// each yields all points in ascending order. If two points have one position, only the one of the smaller identifier
// is yielded.
func (c *pointList) each(yield func(point) bool) {
	begin, previous := uint32(0), uint64(0)
	for part, end := range c.partEnds {
		for i, word := range c.packed[begin:end] {
			p := point{uint64(part)<<(64-c.partBits) | word>>c.partBits, uint16(word & (1<<c.partBits - 1))}
			if i > 0 && p.position == previous {
				continue
			}
			if previous = p.position; !yield(p) {
				return
			}
		}
		begin = end
	}
}

// arcStarts yields the first key and the member of each arc, in ascending order from key 0. An arc is a range of keys
// with one owner. It ends in the middle between two neighbouring points of different members.
func arcStarts(points iter.Seq[point]) iter.Seq2[uint64, uint16] {
	return func(yield func(uint64, uint16) bool) {
		var first, last point
		n := 0
		for p := range points {
			if n++; n == 1 {
				first = p
			}
			last = p
		}
		// The boundary between the last point and the first one may lie on either side of key 0.
		wrap := boundary(last, first)
		switch {
		case last.member == first.member || wrap == 0 || wrap > last.position:
			if !yield(0, first.member) {
				return
			}
		case !yield(0, last.member) || !yield(wrap, first.member):
			return
		}
		previous := first
		for p := range points {
			if p.member != previous.member && !yield(boundary(previous, p), p.member) {
				return
			}
			previous = p
		}
		if last.member != first.member && wrap > last.position {
			yield(wrap, first.member)
		}
	}
}

// boundary is the first key that belongs to q and not to p, if p is the point before q. A key exactly in the middle
// belongs to the smaller identifier.
func boundary(p, q point) uint64 {
	gap := q.position - p.position // also right if it wraps around
	middle := p.position + gap/2
	if gap%2 == 1 || q.member > p.member {
		middle++
	}
	return middle
}
