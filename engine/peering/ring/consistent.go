package ring

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
)

const (
	// DefaultReplicas is the number of replicas for one unit of capacity. The shares of equal members then deviate by
	// less than 1 % on average and by less than 3 % at worst (BENCHMARKS.md).
	DefaultReplicas = 8000

	// maxPoints bounds the memory of all replicas: 7 bytes each, and 8 more during construction.
	maxPoints = 1 << 27
)

// Consistent is identifier-seeded consistent hashing. A look-up reads memory once, whatever the number of replicas.
type Consistent struct {
	members    []Member
	replicas   int       // for one unit of capacity
	shares     []float64 // part of all keys that each member owns
	lines      []arcLine
	overflow   []uint32 // words of the lines that have more words than fit
	memberMask uint32   // bits of a word that hold the member number
}

// arcLine holds the arcs of one of len(lines) equal ranges of keys. It fills one cache line of the processor. Its first
// word is the owner of the first key of the range. Each further word is the start of an arc: position within the range
// in the high bits, member number in the low bits. Positions ascend. The last word is repeated up to the end.
//
//	key · number of lines = index of the line · 2^64 + position · 2^32 + rest
//
// A word does not hold all bits of a position. So a key with the same position as a word may lie on either side of the
// boundary. This happens for one key in seven million with 64 members. The owner of such a key is found by searching
// all replicas of the possible members for the nearest one.
type arcLine [16]uint32

const (
	// arcsPerLine is the mean number of arcs of a line. With this mean, one line in fifty overflows.
	arcsPerLine = 9

	// overflowMark is the first word of a line whose words do not fit. The second and the third word are then begin and
	// end of its words in overflow.
	overflowMark = math.MaxUint32
)

// NewConsistent makes an assignment to members with so many replicas for each unit of capacity, at least 1. It copies
// members. An error wraps ErrMembers.
func NewConsistent(members []Member, replicas int) (*Consistent, error) {
	sorted, err := sortedMembers(members)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, m := range sorted {
		n += m.Capacity * max(replicas, 0)
	}
	if replicas < 1 || n > maxPoints {
		return nil, fmt.Errorf("%w: %d replicas for each unit of capacity: want at least 1, and at most %d in all; got %d",
			ErrMembers, replicas, maxPoints, n)
	}
	c := &Consistent{
		members: sorted, replicas: replicas, shares: make([]float64, len(sorted)), memberMask: 1<<memberBits(sorted) - 1,
	}
	// A point starts an arc unless the point before it belongs to the same member.
	arcs := float64(n)
	for _, m := range sorted {
		points := float64(m.Capacity * replicas)
		arcs -= points * points / float64(n)
	}
	c.buildLines(arcStarts(newPointList(sorted, replicas, n).each), int(arcs))
	return c, nil
}

// buildLines writes all arcs into lines; n is the expected number of arcs.
func (c *Consistent) buildLines(arcs iter.Seq2[uint64, uint16], n int) {
	c.lines = make([]arcLine, n/arcsPerLine+1)
	index, words := uint64(0), []uint32(nil)     // the line that is being filled
	previousFirst, owner := uint64(0), uint16(0) // the previous arc
	for first, member := range arcs {
		c.shares[owner] += float64(first-previousFirst) / (1 << 64)
		target, position := bits.Mul64(first, uint64(len(c.lines)))
		for ; index < target; index++ {
			c.writeLine(index, words)
			words = append(words[:0], uint32(owner))
		}
		words = append(words, uint32(position>>32)&^c.memberMask|uint32(member))
		previousFirst, owner = first, member
	}
	c.shares[owner] += (1<<64 - float64(previousFirst)) / (1 << 64)
	for ; index < uint64(len(c.lines)); index++ {
		c.writeLine(index, words)
		words = append(words[:0], uint32(owner))
	}
}

func (c *Consistent) writeLine(index uint64, words []uint32) {
	l := &c.lines[index]
	if len(words) > len(l) {
		begin := len(c.overflow)
		c.overflow = append(c.overflow, words...)
		*l = arcLine{overflowMark, uint32(begin), uint32(len(c.overflow))}
		return
	}
	for i := copy(l[:], words); i < len(l); i++ {
		l[i] = words[len(words)-1]
	}
}

// Members implements Assignment.
func (c *Consistent) Members() []Member { return c.members }

// Owner implements Assignment.
func (c *Consistent) Owner(key uint64) int {
	index, rest := bits.Mul64(key, uint64(len(c.lines)))
	position := uint32(rest>>32) &^ c.memberMask
	l := &c.lines[index]
	if l[0] == overflowMark {
		return c.searchLine(key, position, c.overflow[l[1]:l[2]])
	}
	// Counting the words before the key needs no branch. The processor would predict a branch wrongly half of the time.
	n := uint64(0)
	for _, word := range l[1:] {
		n += (uint64(word) - uint64(position)) >> 63
	}
	if next := l[min(n+1, 15)]; next&^c.memberMask == position {
		return c.searchLine(key, position, l[:])
	}
	return int(l[n&15] & c.memberMask)
}

// searchLine finds the owner of a key among the words of its line.
func (c *Consistent) searchLine(key uint64, position uint32, words []uint32) int {
	last := 0 // the last word before the key's position
	for last+1 < len(words) && words[last+1] < position {
		last++
	}
	end := last + 1 // behind the words at the key's position
	for end < len(words) && words[end]&^c.memberMask == position {
		end++
	}
	if end == last+1 {
		return int(words[last] & c.memberMask)
	}
	best, least := 0, uint64(math.MaxUint64)
	for _, word := range words[last:end] {
		i := int(word & c.memberMask)
		if d := c.members[i].distance(key, c.replicas); d < least || d == least && i < best {
			best, least = i, d
		}
	}
	return best
}

// distance is the distance between a key and the nearest replica of a member.
func (m *Member) distance(key uint64, replicas int) uint64 {
	state, least := m.seed(), uint64(math.MaxUint64)
	for range m.Capacity * replicas {
		state += splitMixStep
		position := splitMix(state)
		least = min(least, key-position, position-key)
	}
	return least
}
