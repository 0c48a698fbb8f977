package centrality

import (
	"context"
	"errors"
	"fmt"
	"io"

	"orbweaver/derive/bvgraph"
	"orbweaver/internal/vfs"
)

// nodesMax is the most nodes of a graph whose ranks are computed: they have numbers of 32 bits.
const nodesMax = 1 << 32

// Graph is a graph on disk.
type Graph struct {
	bvgraph.Properties

	fsys vfs.FS
	base string
	size int64
}

// Open opens the graph BASE.graph, BASE.properties.
func Open(fsys vfs.FS, base string) (*Graph, error) {
	text, err := vfs.ReadFile(fsys, base+".properties")
	if err != nil {
		return nil, fmt.Errorf("centrality: %w", err)
	}
	g := &Graph{fsys: fsys, base: base}
	if g.Properties, err = bvgraph.ReadProperties(readerOf(text)); err != nil {
		return nil, fmt.Errorf("%s.properties: %w", base, err)
	}
	if g.Nodes > nodesMax {
		return nil, fmt.Errorf("%s: %d nodes are too many", base, g.Nodes)
	}
	if g.size, err = fsys.Size(base + ".graph"); err != nil {
		return nil, fmt.Errorf("centrality: %w", err)
	}
	// A node takes at least a bit: a false number of nodes takes no memory.
	if g.Nodes > 8*g.size {
		return nil, fmt.Errorf("%s: %w: %d nodes in %d bytes", base, bvgraph.ErrCorrupt, g.Nodes, g.size)
	}
	return g, nil
}

// BitsPerLink is the size of the graph for each arc.
func (g *Graph) BitsPerLink() float64 { return float64(8*g.size) / float64(max(g.Arcs, 1)) }

// Each calls f with the successors of each node in order. f borrows them.
func (g *Graph) Each(ctx context.Context, f func(node int64, successors []int64)) (err error) {
	file, err := g.fsys.Open(g.base + ".graph")
	if err != nil {
		return fmt.Errorf("centrality: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	r := bvgraph.NewReader(io.NewSectionReader(file, 0, g.size), g.Properties)
	for node := int64(0); ; node++ {
		if node%4096 == 0 {
			if err := context.Cause(ctx); err != nil {
				return err
			}
		}
		successors, err := r.Next()
		if err == io.EOF { //nolint:errorlint // Next returns it unwrapped
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s.graph: %w", g.base, err)
		}
		f(node, successors)
	}
}

// arcsShare is the part of Options.Memory that arcs may take, as a divisor.
const arcsShare = 4

// EachNode calls f with the successors of each node in order. f borrows them.
type EachNode func(ctx context.Context, f func(node int64, successors []uint32)) error

// arcs returns the arcs for many rounds: in memory if they take at most so many bytes, otherwise from the file.
func (g *Graph) arcs(ctx context.Context, memory int64) (EachNode, error) {
	if g.Arcs < 0 || g.Arcs > memory/4 || 4*g.Arcs+8*g.Nodes > memory {
		return g.eachNarrow, nil
	}
	targets, ends := make([]uint32, 0, g.Arcs), make([]int64, 0, g.Nodes)
	found := int64(0)
	err := g.eachNarrow(ctx, func(_ int64, successors []uint32) {
		if found += int64(len(successors)); found <= g.Arcs {
			targets = append(targets, successors...)
			ends = append(ends, found)
		}
	})
	if err != nil || found > g.Arcs { // the properties are wrong
		return g.eachNarrow, err
	}
	return func(ctx context.Context, f func(int64, []uint32)) error {
		from := int64(0)
		for node, end := range ends {
			f(int64(node), targets[from:end])
			from = end
		}
		return context.Cause(ctx)
	}, nil
}

// eachNarrow is Each with numbers of 32 bits.
func (g *Graph) eachNarrow(ctx context.Context, f func(node int64, successors []uint32)) error {
	var narrow []uint32
	return g.Each(ctx, func(node int64, successors []int64) {
		narrow = narrow[:0]
		for _, s := range successors {
			narrow = append(narrow, uint32(s))
		}
		f(node, narrow)
	})
}

// Degrees are the numbers of arcs of each node.
type Degrees struct {
	In []uint32
	// Isolated nodes have no arcs, Dangling ones none that leave, Loops are arcs of a node to itself.
	Dangling, Isolated, Loops, OutMax int64
	// OutCounts is the number of nodes by out-degree.
	OutCounts []int64
}

// CountDegrees counts the arcs of each node.
func (g *Graph) CountDegrees(ctx context.Context) (*Degrees, error) {
	d := &Degrees{In: make([]uint32, g.Nodes)}
	out := make([]bool, g.Nodes)
	err := g.Each(ctx, func(node int64, successors []int64) {
		n := len(successors)
		for n >= len(d.OutCounts) {
			d.OutCounts = append(d.OutCounts, 0)
		}
		d.OutCounts[n]++
		d.OutMax = max(d.OutMax, int64(n))
		out[node] = n > 0
		for _, s := range successors {
			d.In[s]++
			if s == node {
				d.Loops++
			}
		}
	})
	for node, has := range out {
		if !has {
			d.Dangling++
			if d.In[node] == 0 {
				d.Isolated++
			}
		}
	}
	return d, err
}

// Order returns the numbers of nodes by value, the largest first, and by number where values are equal.
func Order(values []float64) []int {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	sortBy(order, values)
	return order
}
