package graph

import (
	"cmp"
	"io"
	"slices"

	"orbweaver/internal/urlx"
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
	seed    uint64 // of the fingerprints
	numbers numbers
	names   names
	stored  []bool // by number: the page has a capture
	targets []uint32
	sources []arcSource
	memory  int
}

// arcSource is the node where the arcs to collector.targets[begin:end] begin. A node may occur more than once.
type arcSource struct {
	node       uint32
	begin, end int
}

// Bytes of memory of a name and of an arc, with what the table and growing slices need.
const (
	nameMemory = 80
	arcMemory  = 12
)

// node returns the number of a name, which is new if it was not known.
func (c *collector) node(name []byte) (number uint32, isNew bool) {
	f := urlx.Fingerprint(c.seed, name)
	number, isNew = c.numbers.of(fingerprint{f.Hi, f.Lo})
	if isNew {
		c.names.add(name)
		c.stored = append(c.stored, false)
		c.memory += nameMemory + len(name)
	}
	return number, isNew
}

// link adds an arc, unless it is the one before.
func (c *collector) link(from, to uint32) {
	n := len(c.sources)
	switch {
	case n == 0 || c.sources[n-1].node != from:
		c.sources = append(c.sources, arcSource{from, len(c.targets), len(c.targets)})
		n++
	case c.targets[len(c.targets)-1] == to:
		return
	}
	c.targets = append(c.targets, to)
	c.sources[n-1].end = len(c.targets)
	c.memory += arcMemory
}

// write writes a run and forgets it.
func (c *collector) write(w io.Writer, kind int, coder *runCoder) error {
	order := c.names.sorted()
	rank := make([]uint32, len(order))
	coder.begin()
	for i := range order {
		number := order[i].number
		rank[number] = uint32(i)
		coder.name(c.names.get(number), c.stored[number])
	}
	for i := range c.sources {
		c.sources[i].node = rank[c.sources[i].node]
	}
	slices.SortFunc(c.sources, func(a, b arcSource) int { return cmp.Compare(a.node, b.node) })
	arcs := 0
	var to []uint32
	for i, s := range c.sources {
		for _, number := range c.targets[s.begin:s.end] {
			to = append(to, rank[number])
		}
		if i+1 < len(c.sources) && c.sources[i+1].node == s.node {
			continue
		}
		slices.Sort(to)
		to = slices.Compact(to)
		for _, t := range to {
			coder.arc(arc{uint64(s.node), uint64(t)})
		}
		arcs += len(to)
		to = to[:0]
	}
	err := coder.write(w, kind, len(order), arcs)
	c.numbers.clear()
	c.names.clear()
	c.stored, c.targets, c.sources, c.memory = c.stored[:0], c.targets[:0], c.sources[:0], 0
	return err
}

// fingerprint is that of a name.
type fingerprint struct{ high, low uint64 }

// numbers finds the number of a name by its fingerprint: a hash table with open addressing, at most half full.
type numbers struct {
	n     int
	slots []numberSlot
}

// numberSlot is free if next, the number plus 1, is 0.
type numberSlot struct {
	print fingerprint
	next  uint32
}

// slotsMin is the least number of slots, a power of two.
const slotsMin = 1024

// slot returns the slot of a fingerprint, or the free one where it belongs.
func (n *numbers) slot(print fingerprint) *numberSlot {
	mask := uint64(len(n.slots) - 1)
	for at := print.low & mask; ; at = (at + 1) & mask {
		if s := &n.slots[at]; s.next == 0 || s.print == print {
			return s
		}
	}
}

// of returns the number of a fingerprint, which is the next one if it was not known.
func (n *numbers) of(print fingerprint) (number uint32, isNew bool) {
	if 2*n.n >= len(n.slots) {
		before := n.slots
		n.slots = make([]numberSlot, max(2*len(before), slotsMin))
		for i := range before {
			if before[i].next > 0 {
				*n.slot(before[i].print) = before[i]
			}
		}
	}
	s := n.slot(print)
	if isNew = s.next == 0; isNew {
		n.n++
		*s = numberSlot{print, uint32(n.n)}
	}
	return s.next - 1, isNew
}

func (n *numbers) clear() {
	clear(n.slots)
	n.n = 0
}
