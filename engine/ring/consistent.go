package ring

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
)

const (
	// ReplicasDefault is how many replicas a unit of capacity has: shares of equal members then differ from the mean by less than 1 %
	// on average, and by less than 3 % at worst (BENCHMARKS.md).
	ReplicasDefault = 8000

	// pointsMax bounds the circle: 12 bytes each, and twice that while it is made.
	pointsMax = 1 << 27
)

// Consistent is identifier-seeded consistent hashing. A look-up takes two or three reads of memory, however many replicas there are.
type Consistent struct {
	members []Member
	from    []uint64 // the first key of each arc, ascending; the first is 0
	owner   []uint16 // of each arc
	index   []uint32 // by the top bits of a key: the last arc that begins at or before the first such key
	shift   uint
}

// point is a replica on the circle.
type point struct {
	at     uint64
	member uint16
}

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
	c := &Consistent{members: all}
	c.arcs(circle(all, replicas, n))
	c.makeIndex()
	return c, nil
}

// circle places all replicas: replica k of a member is output k of SplitMix64 seeded with its identifier. Where two meet, the smaller
// identifier has the place.
func circle(members []Member, replicas, n int) []point {
	points := make([]point, 0, n)
	for i, m := range members {
		state := m.seed()
		for range m.Capacity * replicas {
			state += golden
			points = append(points, point{mix(state), uint16(i)})
		}
	}
	slices.SortFunc(points, func(a, b point) int {
		if a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		return cmp.Compare(a.member, b.member)
	})
	return slices.CompactFunc(points, func(a, b point) bool { return a.at == b.at })
}

// arcs cuts the circle in the middle between neighbours of different members.
func (c *Consistent) arcs(points []point) {
	for i, p := range points {
		before := points[(i+len(points)-1)%len(points)]
		if before.member != p.member {
			c.from = append(c.from, border(before, p))
			c.owner = append(c.owner, p.member)
		}
	}
	if len(c.from) == 0 {
		c.from, c.owner = []uint64{0}, []uint16{points[0].member}
		return
	}
	// The border between the last point and the first may lie on either side of 0, so that the list begins or ends with it.
	if last := len(c.from) - 1; last > 0 && c.from[0] > c.from[1] {
		c.from = append(c.from[1:], c.from[0])
		c.owner = append(c.owner[1:], c.owner[0])
	}
	if last := len(c.from) - 1; c.from[0] != 0 {
		c.from = slices.Insert(c.from, 0, 0)
		c.owner = slices.Insert(c.owner, 0, c.owner[last])
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

// makeIndex makes about as many entries as there are arcs.
func (c *Consistent) makeIndex() {
	width := max(bits.Len(uint(len(c.from))), 1)
	c.shift = uint(64 - width)
	c.index = make([]uint32, 1<<width)
	at := 0
	for k := range c.index {
		for first := uint64(k) << c.shift; at+1 < len(c.from) && c.from[at+1] <= first; {
			at++
		}
		c.index[k] = uint32(at)
	}
}

// Members implements Assignment.
func (c *Consistent) Members() []Member { return c.members }

// Owner implements Assignment.
func (c *Consistent) Owner(key uint64) int {
	at := int(c.index[key>>c.shift])
	for at+1 < len(c.from) && c.from[at+1] <= key {
		at++
	}
	return int(c.owner[at])
}
