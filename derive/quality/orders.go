package quality

import (
	"context"
	"slices"
)

// none is the number of no document.
const none = ^uint32(0)

// chunk is how many successors of a page are read at a time.
const chunk = 64

// roots are where the orders begin.
type roots struct {
	firstRoots []uint32 // nodes
	// lateRoots are in the order of visits. An order takes each after as many nodes as were visited before it.
	lateRoots []uint32
	// isReached says which nodes these roots reach. All others are left out.
	isReached []bool
}

// findRoots finds the roots: seeds, and sitemaps that these do not reach. If no seed is known, they are all documents
// and sitemaps that no earlier visited page links to.
func (c *Crawl) findRoots(ctx context.Context) (*roots, error) {
	r := &roots{firstRoots: c.roots, isReached: make([]bool, len(c.lists))}
	others := c.sitemaps
	if c.roots == nil {
		found, err := c.discover(ctx, nil)
		if err != nil {
			return nil, err
		}
		others = nil
		for node, number := range found.number {
			if number == 0 && (c.isDocument[node] || c.isSitemap(uint32(node))) {
				others = append(others, uint32(node))
			}
		}
	}
	order, err := c.reach(ctx, make([]uint32, 0, len(c.lists)), &roots{firstRoots: r.firstRoots}, r.isReached)
	for _, other := range others {
		if err == nil && (c.roots == nil || !r.isReached[other]) {
			r.lateRoots = append(r.lateRoots, other)
			order, err = c.reach(ctx, order[:0], &roots{firstRoots: []uint32{other}}, r.isReached)
		}
	}
	return r, err
}

func (c *Crawl) isSitemap(node uint32) bool {
	_, ok := slices.BinarySearch(c.sitemaps, node)
	return ok
}

// documents are the documents of a Crawl that can be reached, numbered from 0 in the order of their visits.
type documents struct {
	crawl  *Crawl
	roots  *roots
	nodes  []uint32 // of each document
	number []uint32 // of each node; none
}

func newDocuments(c *Crawl, r *roots) *documents {
	d := &documents{crawl: c, roots: r, number: make([]uint32, len(c.isDocument))}
	for node, is := range c.isDocument {
		d.number[node] = none
		if is && r.isReached[node] {
			d.number[node] = uint32(len(d.nodes))
			d.nodes = append(d.nodes, uint32(node))
		}
	}
	return d
}

// each calls f with the successors of each document. f borrows them.
func (d *documents) each(ctx context.Context, f func(document int64, successors []uint32)) error {
	return d.crawl.each(ctx, func(node uint32, successors []uint32) {
		if n := d.number[node]; n != none {
			f(int64(n), d.translate(successors))
		}
	})
}

// translate makes numbers of documents of nodes, in place.
func (d *documents) translate(nodes []uint32) []uint32 {
	kept := nodes[:0]
	for _, node := range nodes {
		if n := d.number[node&^ofRequisite]; n != none {
			kept = append(kept, n)
		}
	}
	return kept
}

// breadthFirst returns all documents in breadth-first order.
func (d *documents) breadthFirst(ctx context.Context) ([]uint32, error) {
	c := d.crawl
	order, err := c.reach(ctx, make([]uint32, 0, len(c.lists)), d.roots, make([]bool, len(c.lists)))
	return d.translate(order), err
}

// depthFirst returns all documents in depth-first order.
func (d *documents) depthFirst(ctx context.Context) ([]uint32, error) {
	order, err := d.crawl.descend(ctx, d.roots)
	return d.translate(order), err
}

// successors calls f with the successors of a node until it returns false. It starts behind the first from links of
// the page, and returns how many were passed in all.
func (c *Crawl) successors(node uint32, from int, f func(uint32) bool) (passed int, err error) {
	for {
		if c.buffer, err = c.links(c.buffer, node, from, chunk); err != nil || len(c.buffer) == 0 {
			return from, err
		}
		for _, to := range c.buffer {
			from++
			if !f(to &^ ofRequisite) {
				return from, nil
			}
		}
	}
}

// reach adds roots, and what they reach through nodes that are not known, to an order: breadth-first.
func (c *Crawl) reach(ctx context.Context, order []uint32, r *roots, isKnown []bool) ([]uint32, error) {
	add := func(node uint32) bool {
		if !isKnown[node] {
			isKnown[node] = true
			order = append(order, node)
		}
		return true
	}
	for _, root := range r.firstRoots {
		add(root)
	}
	late := r.lateRoots
	for i := 0; ; i++ {
		for len(late) > 0 && (int(late[0]) <= i || i == len(order)) {
			add(late[0])
			late = late[1:]
		}
		if i == len(order) {
			return order, nil
		}
		if _, err := c.successors(order[i], 0, add); err != nil {
			return nil, err
		}
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// frame is a page on the way of descend.
type frame struct {
	node   uint32
	passed int // of its successors
}

// descend returns what roots reach, depth-first.
func (c *Crawl) descend(ctx context.Context, r *roots) ([]uint32, error) {
	order, isKnown := make([]uint32, 0, len(c.lists)), make([]bool, len(c.lists))
	var stack []frame
	push := func(node uint32) {
		if !isKnown[node] {
			isKnown[node] = true
			order = append(order, node)
			stack = append(stack, frame{node, 0})
		}
	}
	first, late := r.firstRoots, r.lateRoots
	for steps := 0; ; steps++ {
		switch {
		case len(late) > 0 && (int(late[0]) <= len(order) || len(stack)+len(first) == 0):
			push(late[0])
			late = late[1:]
			continue
		case len(stack) == 0 && len(first) == 0:
			return order, nil
		case len(stack) == 0:
			push(first[0])
			first = first[1:]
			continue
		}
		top := &stack[len(stack)-1]
		next := none
		passed, err := c.successors(top.node, top.passed, func(to uint32) bool {
			if !isKnown[to] {
				next = to
			}
			return next == none
		})
		if err != nil {
			return nil, err
		}
		if top.passed = passed; next == none {
			stack = stack[:len(stack)-1]
		} else {
			push(next)
		}
		if steps%4096 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
}

// discovery says how nodes were discovered: roots in their order, then others by links of earlier nodes.
type discovery struct {
	number      []uint32 // of each node, from 1; 0 for a node that was not discovered before its visit
	isRequisite []bool   // the link is that of a requisite
}

// discover follows the visits of the nodes that are reached; of all if isReached is nil.
func (c *Crawl) discover(ctx context.Context, isReached []bool) (*discovery, error) {
	found := &discovery{make([]uint32, len(c.lists)), make([]bool, len(c.lists))}
	last := uint32(0)
	for _, root := range c.roots {
		if found.number[root] == 0 {
			last++
			found.number[root] = last
		}
	}
	var successors []uint32
	for i := range c.visited {
		answer := c.answer(i)
		node := answer.Node
		if isReached != nil && !isReached[node] {
			continue
		}
		var err error
		if successors, err = c.links(successors, node, 0, int(c.lists[node].n)); err != nil {
			return nil, err
		}
		for _, link := range successors {
			to := link &^ ofRequisite
			if found.number[to] == 0 && to >= answer.Earlier {
				last++
				found.number[to], found.isRequisite[to] = last, link&ofRequisite != 0
			}
		}
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return found, nil
}

// answer is the visit whose answer was read as number i.
func (c *Crawl) answer(i int) Visit {
	if c.answers == nil {
		return Visit{Node: uint32(i), Earlier: uint32(i) + 1}
	}
	return c.answers[i]
}
