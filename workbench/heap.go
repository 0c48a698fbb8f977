package workbench

// node is an element of a dueHeap. It contains its key, so that sifting reads only the memory of the heap.
type node struct {
	due int64  // offset as in clock.go
	tie uint32 // orders equal due times: the smaller number, which is the older site, is first
	id  uint32 // the site or entry
}

func (a node) before(b node) bool {
	return a.due < b.due || (a.due == b.due && a.tie < b.tie)
}

// dueHeap is a 4-ary min-heap without pointers. It reports each move through at(id, position). Positions start at 1; 0
// means "not in the heap". So the owner of a node can change its key in place. For a small heap at may be nil; find
// then searches for the position.
type dueHeap []node

func (h dueHeap) len() int { return len(h) }

func (h dueHeap) top() node { return h[0] }

// dueBy reports whether the first node is due at or before limit.
func (h dueHeap) dueBy(limit int64) bool { return len(h) > 0 && h[0].due <= limit }

type posFunc func(id uint32, pos int32)

func (f posFunc) set(id uint32, pos int32) {
	if f != nil {
		f(id, pos)
	}
}

// find searches a small heap for id and returns its position, or 0.
func (h dueHeap) find(id uint32) int32 {
	for i := range h {
		if h[i].id == id {
			return int32(i) + 1
		}
	}
	return 0
}

const arity = 4

func (h *dueHeap) push(n node, at posFunc) {
	*h = append(*h, n)
	h.up(len(*h)-1, at)
}

// set changes the key of the node at pos.
func (h *dueHeap) set(pos int32, due int64, tie uint32, at posFunc) {
	i := int(pos) - 1
	n := &(*h)[i]
	if n.due == due && n.tie == tie {
		return
	}
	n.due, n.tie = due, tie
	if !h.up(i, at) {
		h.down(i, at)
	}
}

// remove removes the node at pos and reports position 0 for it.
func (h *dueHeap) remove(pos int32, at posFunc) {
	i, last := int(pos)-1, len(*h)-1
	at.set((*h)[i].id, 0)
	moved := (*h)[last]
	*h = (*h)[:last]
	if i == last {
		h.shrink()
		return
	}
	(*h)[i] = moved
	if !h.up(i, at) {
		h.down(i, at)
	}
	h.shrink()
}

// shrink releases memory after a large heap has become small. An empty heap keeps up to four nodes, so that an IP with
// few sites causes no allocations.
func (h *dueHeap) shrink() {
	if len(*h) == 0 && cap(*h) > 4 {
		*h = nil
		return
	}
	if n, c := len(*h), cap(*h); c > 16 && n < c/4 {
		smaller := make(dueHeap, n, c/2)
		copy(smaller, *h)
		*h = smaller
	}
}

// up sifts towards the root and reports whether anything moved. It always reports the final position.
func (h *dueHeap) up(i int, at posFunc) bool {
	s := *h
	n, moved := s[i], false
	for i > 0 {
		p := (i - 1) / arity
		if !n.before(s[p]) {
			break
		}
		s[i] = s[p]
		at.set(s[i].id, int32(i)+1)
		i, moved = p, true
	}
	s[i] = n
	at.set(n.id, int32(i)+1)
	return moved
}

func (h *dueHeap) down(i int, at posFunc) {
	s := *h
	n := s[i]
	for {
		first := arity*i + 1
		if first >= len(s) {
			break
		}
		least := first
		for c := first + 1; c < min(first+arity, len(s)); c++ {
			if s[c].before(s[least]) {
				least = c
			}
		}
		if !s[least].before(n) {
			break
		}
		s[i] = s[least]
		at.set(s[i].id, int32(i)+1)
		i = least
	}
	s[i] = n
	at.set(n.id, int32(i)+1)
}

// count returns the number of nodes that are due at or before limit. It is exact up to budget; above it is estimated
// from evenly spaced samples. It costs O(budget), because the counted nodes form a subtree at the root.
func (h dueHeap) count(limit int64, budget int) int {
	if len(h) == 0 || h[0].due > limit {
		return 0
	}
	// Count level by level: this needs only the list of hits, which the budget bounds.
	hits := make([]int32, 1, min(budget, len(h))+1)
	for k := 0; k < len(hits); k++ {
		first := arity*int(hits[k]) + 1
		for c := first; c < min(first+arity, len(h)); c++ {
			if h[c].due <= limit {
				hits = append(hits, int32(c))
			}
		}
		if len(hits) > budget {
			return h.estimate(limit, budget)
		}
	}
	return len(hits)
}

func (h dueHeap) estimate(limit int64, samples int) int {
	found := 0
	for k := range samples {
		if h[int(uint64(k)*uint64(len(h))/uint64(samples))].due <= limit {
			found++
		}
	}
	return max(samples+1, int(uint64(found)*uint64(len(h))/uint64(samples)))
}
