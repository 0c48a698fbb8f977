package graph

import (
	"cmp"
	"io"
	"slices"
)

// The graphs that are made.
const (
	pages = iota
	hosts
	domains
	kinds
)

// collector collects names and arcs of one graph until they are written as a run.
type collector struct {
	numbers map[string]uint32
	names   []string
	stored  []bool // by number: the page has a capture
	arcs    []arc  // of local numbers
	last    arc
	memory  int
}

// arc is an arc between two numbers.
type arc struct{ from, to uint32 }

// Bytes of memory of a name and of an arc, with what the map and growing slices need.
const (
	nameMemory = 80
	arcMemory  = 12
)

// node returns the number of a name, which is new if it was not known.
func (c *collector) node(name []byte) (number uint32, isNew bool) {
	if number, known := c.numbers[string(name)]; known {
		return number, false
	}
	if c.numbers == nil {
		c.numbers = make(map[string]uint32)
	}
	text := string(name)
	number = uint32(len(c.names))
	c.numbers[text] = number
	c.names = append(c.names, text)
	c.stored = append(c.stored, false)
	c.memory += nameMemory + len(text)
	return number, true
}

// link adds an arc, unless it is the one before.
func (c *collector) link(from, to uint32) {
	a := arc{from, to}
	if a == c.last && len(c.arcs) > 0 {
		return
	}
	c.last = a
	c.arcs = append(c.arcs, a)
	c.memory += arcMemory
}

// write writes a run and forgets it.
func (c *collector) write(w io.Writer, kind int, coder *runCoder) error {
	order := make([]uint32, len(c.names))
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int { return cmp.Compare(c.names[a], c.names[b]) })
	rank := make([]uint32, len(order))
	for i, number := range order {
		rank[number] = uint32(i)
	}
	for i, a := range c.arcs {
		c.arcs[i] = arc{rank[a.from], rank[a.to]}
	}
	slices.SortFunc(c.arcs, func(a, b arc) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	c.arcs = slices.Compact(c.arcs)
	coder.begin()
	for _, number := range order {
		coder.name(c.names[number], c.stored[number])
	}
	for _, a := range c.arcs {
		coder.arc(a)
	}
	err := coder.write(w, kind, len(order), len(c.arcs))
	clear(c.numbers)
	clear(c.names)
	c.names, c.stored, c.arcs, c.memory = c.names[:0], c.stored[:0], c.arcs[:0], 0
	return err
}
