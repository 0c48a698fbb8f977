package ring

import (
	"iter"
	"math/bits"
)

// circle holds all replicas in order. It is cut into equal parts, at least as many as there are members, so that a point needs one word:
// its place within the part, and in the low bits, which are the same for all of a part, its member.
type circle struct {
	words []uint64
	ends  []uint32 // of each part, in words
	width uint     // there are 2^width parts
}

// point is a replica on the circle.
type point struct {
	at     uint64
	member uint16
}

// partPoints is how many points a part has, about: they are sorted within the processor's first cache.
const partPoints = 2048

// newCircle places n replicas: replica k of a member is output k of SplitMix64 seeded with its identifier. They are dealt to their parts,
// and each part is sorted: so the time is in proportion to their number.
func newCircle(members []Member, replicas, n int) *circle {
	c := &circle{words: make([]uint64, n), width: max(memberBits(members), uint(bits.Len(uint(n/partPoints))))}
	next := make([]uint32, 1<<c.width+1)
	shift := 64 - c.width
	for at := range replicasOf(members, replicas) {
		next[at>>shift+1]++
	}
	for i := range next[1:] {
		next[i+1] += next[i]
	}
	for at, member := range replicasOf(members, replicas) {
		part := at >> shift
		c.words[next[part]] = at<<c.width | uint64(member)
		next[part]++
	}
	c.ends = next[:1<<c.width]
	begin, aside := uint32(0), []uint64(nil)
	for _, end := range c.ends {
		aside = sortEven(c.words[begin:end], aside)
		begin = end
	}
	return c
}

// sortEven sorts words that are spread evenly over all numbers: they are dealt to as many drawers, and hardly one is far from its place
// then. It gives back aside, what it needs beside them.
func sortEven(words, aside []uint64) []uint64 {
	const drawerBits = 11
	aside = append(aside[:0], words...)
	var next [1<<drawerBits + 1]uint32
	for _, w := range aside {
		next[w>>(64-drawerBits)+1]++
	}
	for i := range next[1:] {
		next[i+1] += next[i]
	}
	for _, w := range aside {
		drawer := w >> (64 - drawerBits)
		words[next[drawer]] = w
		next[drawer]++
	}
	for i, w := range words {
		for ; i > 0 && words[i-1] > w; i-- {
			words[i] = words[i-1]
		}
		words[i] = w
	}
	return aside
}

// memberBits is how many bits tell members apart.
func memberBits(members []Member) uint { return uint(bits.Len(uint(len(members) - 1))) }

// replicasOf gives the replicas of all members.
func replicasOf(members []Member, replicas int) iter.Seq2[uint64, uint16] {
	return func(yield func(uint64, uint16) bool) {
		for i, m := range members {
			state := m.seed()
			for range m.Capacity * replicas {
				if state += golden; !yield(mix(state), uint16(i)) {
					return
				}
			}
		}
	}
}

// points gives all points in order. Where two meet, the smaller identifier has the place.
func (c *circle) points(yield func(point) bool) {
	begin, before := uint32(0), uint64(0)
	for part, end := range c.ends {
		for i, word := range c.words[begin:end] {
			p := point{uint64(part)<<(64-c.width) | word>>c.width, uint16(word & (1<<c.width - 1))}
			if i > 0 && p.at == before {
				continue
			}
			if before = p.at; !yield(p) {
				return
			}
		}
		begin = end
	}
}

// borders gives the first key of each arc and its member, in order, beginning with key 0: the circle is cut in the middle between
// neighbours of different members.
func borders(points iter.Seq[point]) iter.Seq2[uint64, uint16] {
	return func(yield func(uint64, uint16) bool) {
		var first, last point
		n := 0
		for p := range points {
			if n++; n == 1 {
				first = p
			}
			last = p
		}
		// The border between the last point and the first may lie on either side of 0.
		around := border(last, first)
		switch {
		case last.member == first.member || around == 0 || around > last.at:
			if !yield(0, first.member) {
				return
			}
		case !yield(0, last.member) || !yield(around, first.member):
			return
		}
		before := first
		for p := range points {
			if p.member != before.member && !yield(border(before, p), p.member) {
				return
			}
			before = p
		}
		if last.member != first.member && around > last.at {
			yield(around, first.member)
		}
	}
}

// border is the first key that is nearer to q than to p, which is before it on the circle. One in the very middle goes to the smaller
// identifier.
func border(p, q point) uint64 {
	gap := q.at - p.at // around 0, too
	middle := p.at + gap/2
	if gap%2 == 1 || q.member > p.member {
		middle++
	}
	return middle
}
