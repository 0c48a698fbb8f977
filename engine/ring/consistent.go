package ring

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
)

const (
	// ReplicasDefault is how many replicas a unit of capacity has: shares of equal members then differ from the mean by less than 1 %
	// on average, and by less than 3 % at worst (BENCHMARKS.md).
	ReplicasDefault = 8000

	// pointsMax bounds the circle: 7 bytes each, and 8 more while it is made.
	pointsMax = 1 << 27
)

// Consistent is identifier-seeded consistent hashing. A look-up takes one read of memory, however many replicas there are.
type Consistent struct {
	members  []Member
	replicas int
	shares   []float64 // of all keys, that members have
	lines    []line
	crowds   []uint32 // the words of lines that are too small for them
	mask     uint32   // the bits of a word that say the member
}

// line is one of equal parts of all keys, and a line of the processor's cache. Its first word says who has its first keys, each other
// where an arc begins and who has that: the place is in the high bits, the member in the low bits. Places ascend; the last word is repeated
// up to the end.
//
//	key · number of lines = number of its line · 2^64 + its place · 2^32 + more
//
// A key at the very place of a word may be on either side of the border, since a word has no room for all of its bits. For such a key,
// one in seven million with 64 members, the nearest replica is looked for among all there are.
type line [16]uint32

const (
	// lineArcs is how many arcs a line has on average. One in fifty then has more than it holds.
	lineArcs = 9

	// crowded is the first word of a line that is too small: its words are those of crowds from its second to its third.
	crowded = math.MaxUint32
)

// NewConsistent makes the assignment to members that have so many replicas for a unit of capacity, at least 1.
func NewConsistent(members []Member, replicas int) (*Consistent, error) {
	all, err := ordered(members)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, m := range all {
		n += m.Capacity * max(replicas, 0)
	}
	if replicas < 1 || n > pointsMax {
		return nil, fmt.Errorf("%w: %d replicas a unit make %d points: want at least 1 a unit, at most %d in all", ErrMembers, replicas, n, pointsMax)
	}
	c := &Consistent{members: all, replicas: replicas, shares: make([]float64, len(all)), mask: 1<<memberBits(all) - 1}
	// A point begins an arc unless the point before it is of the same member.
	arcs := float64(n)
	for _, m := range all {
		own := float64(m.Capacity * replicas)
		arcs -= own * own / float64(n)
	}
	c.draw(borders(newCircle(all, replicas, n).points), int(arcs))
	return c, nil
}

// draw fills the lines with arcs, of which there are n, about.
func (c *Consistent) draw(arcs iter.Seq2[uint64, uint16], n int) {
	c.lines = make([]line, n/lineArcs+1)
	at, words := uint64(0), []uint32(nil) // of the line that is being filled
	began, owner := uint64(0), uint16(0)  // the arc before
	for first, member := range arcs {
		c.shares[owner] += float64(first-began) / (1 << 64)
		to, place := bits.Mul64(first, uint64(len(c.lines)))
		for ; at < to; at++ {
			c.fill(at, words)
			words = append(words[:0], uint32(owner))
		}
		words = append(words, uint32(place>>32)&^c.mask|uint32(member))
		began, owner = first, member
	}
	c.shares[owner] += (1<<64 - float64(began)) / (1 << 64)
	for ; at < uint64(len(c.lines)); at++ {
		c.fill(at, words)
		words = append(words[:0], uint32(owner))
	}
}

func (c *Consistent) fill(at uint64, words []uint32) {
	l := &c.lines[at]
	if len(words) > len(l) {
		from := len(c.crowds)
		c.crowds = append(c.crowds, words...)
		*l = line{crowded, uint32(from), uint32(len(c.crowds))}
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
	at, rest := bits.Mul64(key, uint64(len(c.lines)))
	place := uint32(rest>>32) &^ c.mask
	l := &c.lines[at]
	if l[0] == crowded {
		return c.search(key, place, c.crowds[l[1]:l[2]])
	}
	// The words before the key are counted, without a branch: it would be guessed wrong as often as not.
	n := uint64(0)
	for _, word := range l[1:] {
		n += (uint64(word) - uint64(place)) >> 63
	}
	if next := l[min(n+1, 15)]; next&^c.mask == place {
		return c.search(key, place, l[:])
	}
	return int(l[n&15] & c.mask)
}

// search finds the owner of a key among the words of its line.
func (c *Consistent) search(key uint64, place uint32, words []uint32) int {
	last := 0 // before the key's place
	for last+1 < len(words) && words[last+1] < place {
		last++
	}
	end := last + 1 // of those at its place
	for end < len(words) && words[end]&^c.mask == place {
		end++
	}
	if end == last+1 {
		return int(words[last] & c.mask)
	}
	best, least := 0, uint64(math.MaxUint64)
	for _, word := range words[last:end] {
		i := int(word & c.mask)
		if gap := c.members[i].gap(key, c.replicas); gap < least || gap == least && i < best {
			best, least = i, gap
		}
	}
	return best
}

// gap is how far a key is from the nearest replica of a member.
func (m *Member) gap(key uint64, replicas int) uint64 {
	state, least := m.seed(), uint64(math.MaxUint64)
	for range m.Capacity * replicas {
		state += golden
		at := mix(state)
		least = min(least, key-at, at-key)
	}
	return least
}
