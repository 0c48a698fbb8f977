package workbench

// node is one thing that waits for a time. It holds its key, so that sifting reads no memory but the heap's own.
type node struct {
	due int64  // offset as clock.go defines it
	tie uint32 // among equal due times the smaller goes first: the older site
	id  uint32 // who
}

func (a node) before(b node) bool {
	return a.due < b.due || (a.due == b.due && a.tie < b.tie)
}

// dueHeap is a 4-ary min-heap without pointers. Every move is told to the owner through at(id, position), where
// positions count from 1 and 0 means "not in the heap", so that a key can be changed in place. Of a small heap the owner
// need not know (at is nil): find looks for him.
type dueHeap []node

func (h dueHeap) len() int { return len(h) }

func (h dueHeap) top() node { return h[0] }

// dueBy says that something is due at or before limit.
func (h dueHeap) dueBy(limit int64) bool { return len(h) > 0 && h[0].due <= limit }

type posFunc func(id uint32, pos int32)

func (f posFunc) tell(id uint32, pos int32) {
	if f != nil {
		f(id, pos)
	}
}

// find is the position of id in a small heap, or 0.
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

// set gives the node at pos a new key.
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

// remove takes the node at pos out and tells its owner so.
func (h *dueHeap) remove(pos int32, at posFunc) {
	i, last := int(pos)-1, len(*h)-1
	at.tell((*h)[i].id, 0)
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

// shrink gives memory back when a heap that was large has become small. An empty one keeps a few nodes: the few sites of
// an IP come and go without allocation.
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

// up sifts towards the root and says whether anything moved. It always tells the owner the final place.
func (h *dueHeap) up(i int, at posFunc) bool {
	s := *h
	n, moved := s[i], false
	for i > 0 {
		p := (i - 1) / arity
		if !n.before(s[p]) {
			break
		}
		s[i] = s[p]
		at.tell(s[i].id, int32(i)+1)
		i, moved = p, true
	}
	s[i] = n
	at.tell(n.id, int32(i)+1)
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
		at.tell(s[i].id, int32(i)+1)
		i = least
	}
	s[i] = n
	at.tell(n.id, int32(i)+1)
}

// count says how many nodes are due at or before limit: exactly while they are no more than budget, and estimated from
// evenly spaced samples beyond that. It costs O(budget) at most, since the nodes that count hang together at the root.
func (h dueHeap) count(limit int64, budget int) int {
	if len(h) == 0 || h[0].due > limit {
		return 0
	}
	// A walk by depth-first search with a stack of fixed size would need care; counting level by level needs only the
	// list of hits, which the budget bounds.
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
