package centrality

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"math"
	"math/bits"
	"slices"
)

func readerOf(b []byte) io.Reader { return bytes.NewReader(b) }

func sortBy(order []int, values []float64) {
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(values[b], values[a]), cmp.Compare(a, b)) })
}

// Options of the ranks.
type Options struct {
	// Alpha is the probability to follow a link. Default 0.85.
	Alpha float64
	// Tolerance is the sum of changes of all ranks at which PageRank ends. Default 1e-9.
	Tolerance float64
	// Rounds is the most rounds of PageRank. Default 200.
	Rounds int
	// Memory is how many bytes the counters of Harmonic may take. Default 2 GiB. Arcs are kept in memory if they take at
	// most a quarter of it; otherwise they are read in each round.
	Memory int64
	// OnRound is called after each round. Default: none.
	OnRound func(what string, round int, change float64)
}

// WithDefaults returns a copy of o whose zero fields have their defaults.
func (o Options) WithDefaults() Options {
	if o.Alpha == 0 {
		o.Alpha = 0.85
	}
	if o.Tolerance == 0 {
		o.Tolerance = 1e-9
	}
	if o.Rounds == 0 {
		o.Rounds = 200
	}
	if o.Memory == 0 {
		o.Memory = 2 << 30
	}
	if o.OnRound == nil {
		o.OnRound = func(string, int, float64) {}
	}
	return o
}

// PageRank returns the rank of each node.
func (g *Graph) PageRank(ctx context.Context, o Options) ([]float64, error) {
	o = o.WithDefaults()
	each, err := g.arcs(ctx, o.Memory/arcsShare)
	if err != nil {
		return nil, err
	}
	return PageRank(ctx, g.Nodes, each, o)
}

// PageRank returns the rank of each node of a graph that is given by its arcs.
func PageRank(ctx context.Context, nodes int64, each EachNode, o Options) ([]float64, error) {
	o = o.WithDefaults()
	n := float64(nodes)
	rank, next := make([]float64, nodes), make([]float64, nodes)
	for i := range rank {
		rank[i] = 1 / n
	}
	for round := 1; round <= o.Rounds; round++ {
		clear(next)
		dangling := 0.0
		err := each(ctx, func(node int64, successors []uint32) {
			if len(successors) == 0 {
				dangling += rank[node]
				return
			}
			share := rank[node] / float64(len(successors))
			for _, s := range successors {
				next[s] += share
			}
		})
		if err != nil {
			return nil, err
		}
		change := 0.0
		rest := (1 - o.Alpha + o.Alpha*dangling) / n
		for i := range next {
			next[i] = o.Alpha*next[i] + rest
			change += math.Abs(next[i] - rank[i])
		}
		rank, next = next, rank
		o.OnRound("PageRank", round, change)
		if change < o.Tolerance {
			break
		}
	}
	return rank, nil
}

// Harmonic returns the harmonic centrality of each node, and the relative standard error of a count of nodes: 0 if they
// are exact.
func (g *Graph) Harmonic(ctx context.Context, o Options) (values []float64, deviation float64, err error) {
	o = o.WithDefaults()
	each, err := g.arcs(ctx, o.Memory/arcsShare)
	if err != nil {
		return nil, 0, err
	}
	c := newCounters(int(g.Nodes), o.Memory)
	values = make([]float64, g.Nodes)
	counts := make([]float64, g.Nodes)
	isNew := make([]bool, g.Nodes) // the set has grown in the last round
	for i := range counts {
		counts[i], isNew[i] = 1, true
	}
	for distance := 1; ; distance++ {
		copy(c.next, c.now)
		err := each(ctx, func(node int64, successors []uint32) {
			if !isNew[node] {
				return // its successors have all of it
			}
			for _, s := range successors {
				c.unite(int(s), int(node))
			}
		})
		if err != nil {
			return nil, 0, err
		}
		changed := 0
		for i := range values {
			if isNew[i] = c.differs(i); !isNew[i] {
				continue
			}
			changed++
			count := c.count(i)
			values[i] += max(count-counts[i], 0) / float64(distance)
			counts[i] = max(count, counts[i])
		}
		c.now, c.next = c.next, c.now
		o.OnRound("harmonic centrality", distance, float64(changed))
		if changed == 0 {
			return values, c.deviation, nil
		}
	}
}

// counters hold a set of nodes for each node: as bits, or as registers of HyperLogLog.
type counters struct {
	now, next []uint64 // words of all nodes
	words     int      // for each node
	isExact   bool
	deviation float64
	alpha     float64 // of the estimate
}

// Sizes of HyperLogLog counters in registers of a byte.
const (
	registersMin = 16
	registersMax = 1024
)

func newCounters(nodes int, memory int64) *counters {
	c := &counters{words: (nodes + 63) / 64, isExact: true}
	if int64(nodes)*int64(c.words)*16 > memory {
		m := registersMin
		for m < registersMax && int64(nodes)*int64(m)*4 <= memory {
			m *= 2
		}
		c.words, c.isExact = m/8, false
		c.deviation = 1.04 / math.Sqrt(float64(m))
		c.alpha = 0.7213 / (1 + 1.079/float64(m))
	}
	c.now, c.next = make([]uint64, nodes*c.words), make([]uint64, nodes*c.words)
	for i := range nodes {
		if c.isExact {
			c.now[i*c.words+i/64] = 1 << (i % 64)
			continue
		}
		h := mix(uint64(i))
		m := uint64(c.words * 8)
		register := h & (m - 1)
		rank := uint64(bits.LeadingZeros64(h|m-1)) + 1 // the bits of the register do not count
		c.now[i*c.words+int(register/8)] = rank << (register % 8 * 8)
	}
	return c
}

// mix is the finaliser of splitmix64.
func mix(v uint64) uint64 {
	v += 0x9e3779b97f4a7c15
	v = (v ^ v>>30) * 0xbf58476d1ce4e5b9
	v = (v ^ v>>27) * 0x94d049bb133111eb
	return v ^ v>>31
}

// unite adds the set of node from to that of node to.
func (c *counters) unite(to, from int) {
	dst, src := c.next[to*c.words:(to+1)*c.words], c.now[from*c.words:(from+1)*c.words]
	if c.isExact {
		for i, v := range src {
			dst[i] |= v
		}
		return
	}
	for i, v := range src {
		if v != 0 && v != dst[i] {
			dst[i] = maxBytes(dst[i], v)
		}
	}
}

// maxBytes returns the larger of each pair of bytes; all are below 128.
func maxBytes(a, b uint64) uint64 {
	const high = 0x8080808080808080
	isLarger := ((a | high) - b) & high // the high bit of each byte: a >= b
	mask := isLarger >> 7 * 0xff
	return a&mask | b&^mask
}

func (c *counters) differs(node int) bool {
	at, end := node*c.words, (node+1)*c.words
	return !slices.Equal(c.now[at:end], c.next[at:end])
}

// count returns the size of the next set of a node.
func (c *counters) count(node int) float64 {
	set := c.next[node*c.words : (node+1)*c.words]
	if c.isExact {
		n := 0
		for _, v := range set {
			n += bits.OnesCount64(v)
		}
		return float64(n)
	}
	sum, zeros := 0.0, 0
	for _, v := range set {
		for range 8 {
			if v&0xff == 0 {
				zeros++
			}
			sum += math.Ldexp(1, -int(v&0xff))
			v >>= 8
		}
	}
	m := float64(8 * c.words)
	estimate := c.alpha * m * m / sum
	if estimate < 2.5*m && zeros > 0 {
		return m * math.Log(m/float64(zeros))
	}
	return estimate
}
