package quality

import (
	"context"
	"slices"
)

// none is the number of no document.
const none = ^uint32(0)

// chunk is how many successors of a page are read at a time.
const chunk = 64

// documents are the documents of a Crawl, numbered from 0 in the order of their visits.
type documents struct {
	crawl  *Crawl
	nodes  []uint32 // of each document
	number []uint32 // of each node; none
	roots  []uint32
	buffer []uint32
}

func newDocuments(c *Crawl) *documents {
	d := &documents{crawl: c, number: make([]uint32, len(c.isDocument))}
	for node, is := range c.isDocument {
		d.number[node] = none
		if is {
			d.number[node] = uint32(len(d.nodes))
			d.nodes = append(d.nodes, uint32(node))
		}
	}
	return d
}

// each calls f with the successors of each document. f borrows them.
func (d *documents) each(ctx context.Context, f func(document int64, successors []uint32)) error {
	return d.crawl.each(ctx, func(node uint32, successors []uint32) {
		if !d.crawl.isDocument[node] {
			return
		}
		f(int64(d.number[node]), d.translate(successors))
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

// successors calls f with the successors of a document until it returns false. It starts behind the first from links
// of the page, and returns how many were passed in all.
func (d *documents) successors(document uint32, from int, f func(uint32) bool) (passed int, err error) {
	node := d.nodes[document]
	for {
		if d.buffer, err = d.crawl.links(d.buffer, node, from, chunk); err != nil || len(d.buffer) == 0 {
			return from, err
		}
		for _, to := range d.buffer {
			from++
			if n := d.number[to&^ofRequisite]; n != none && !f(n) {
				return from, nil
			}
		}
	}
}

// breadthFirst returns all documents in breadth-first order.
func (d *documents) breadthFirst(ctx context.Context) ([]uint32, error) {
	order, isKnown := make([]uint32, 0, len(d.nodes)), make([]bool, len(d.nodes))
	return d.reach(ctx, order, d.roots, isKnown)
}

// reach adds roots, and what they reach through documents that are not known, to an order.
func (d *documents) reach(ctx context.Context, order, roots []uint32, isKnown []bool) ([]uint32, error) {
	from := len(order)
	order = append(order, roots...)
	for _, root := range roots {
		isKnown[root] = true
	}
	for i := from; i < len(order); i++ {
		_, err := d.successors(order[i], 0, func(to uint32) bool {
			if !isKnown[to] {
				isKnown[to] = true
				order = append(order, to)
			}
			return true
		})
		if err != nil {
			return nil, err
		}
		if i%4096 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return order, nil
}

// depthFirst returns all documents in depth-first order.
func (d *documents) depthFirst(ctx context.Context) ([]uint32, error) {
	type frame struct {
		document uint32
		passed   int
	}
	order := make([]uint32, 0, len(d.nodes))
	isKnown := make([]bool, len(d.nodes))
	var stack []frame
	push := func(document uint32) {
		isKnown[document] = true
		order = append(order, document)
		stack = append(stack, frame{document, 0})
	}
	for _, root := range d.roots {
		if !isKnown[root] {
			push(root)
		}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			next := none
			passed, err := d.successors(top.document, top.passed, func(to uint32) bool {
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
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return order, nil
}

// discovery says how nodes were discovered by links of earlier ones.
type discovery struct {
	number      []uint32 // of each node, from 1; 0 for a node that no earlier one links to
	isRequisite []bool   // the link is that of a requisite
}

// discover follows the visits. It sets the roots.
func (d *documents) discover(ctx context.Context) (*discovery, error) {
	c := d.crawl
	found := &discovery{make([]uint32, len(c.lists)), make([]bool, len(c.lists))}
	for _, root := range slices.Concat(c.roots, c.seeds) {
		if n := d.number[root]; n != none {
			d.roots = append(d.roots, n)
		}
	}
	last := uint32(0)
	var successors, others []uint32
	for i := range c.visited {
		answer := c.answer(i)
		node := answer.Node
		if c.roots == nil && c.isDocument[node] && found.number[node] == 0 {
			others = append(others, d.number[node])
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
	return found, d.addRoots(ctx, others)
}

// addRoots adds documents that no earlier visited one links to, unless the seeds reach them: a link that was followed
// may be that of a page which was not read before. They are pages from a sitemap, for instance. Without seeds all of
// them are roots.
func (d *documents) addRoots(ctx context.Context, others []uint32) error {
	if len(d.roots) == 0 || len(others) == 0 {
		d.roots = append(d.roots, others...)
		return nil
	}
	isKnown := make([]bool, len(d.nodes))
	order, err := d.reach(ctx, nil, d.roots, isKnown)
	for _, other := range others {
		if err == nil && !isKnown[other] {
			d.roots = append(d.roots, other)
			order, err = d.reach(ctx, order[:0], []uint32{other}, isKnown)
		}
	}
	return err
}

// answer is the visit whose answer was read as number i.
func (c *Crawl) answer(i int) Visit {
	if c.answers == nil {
		return Visit{Node: uint32(i), Earlier: uint32(i) + 1}
	}
	return c.answers[i]
}
