package workbench

// Push appends an item to a site's queue. It borrows item. False, and nothing done, if the site is dead or about to die.
func (w *Workbench[S]) Push(vs *VisitState[S], item []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.take(w.of(vs), item, (*pathQueue).pushBack)
}

// PushFront puts an item before all others of the site: a retry, a redirect hop, robots.txt. Of two the later one leaves
// first. It borrows item. False, and nothing done, if the site is dead or about to die.
func (w *Workbench[S]) PushFront(vs *VisitState[S], item []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.of(vs)
	ok := w.take(s, item, (*pathQueue).pushFront)
	if l := w.leaseOf(s); l != nil && ok {
		l.fronts++
	}
	return ok
}

func (w *Workbench[S]) take(s *site[S], item []byte, push func(*pathQueue, []byte)) bool {
	if l := w.leaseOf(s); s.at == buried || (l != nil && l.kill) {
		return false
	}
	w.touch(s)
	before := s.state()
	w.put(s, item, push)
	s.flags &^= flagGiven
	w.settle(s, before)
	return true
}

// put adds an item to a queue and to the sums.
func (w *Workbench[S]) put(s *site[S], item []byte, push func(*pathQueue, []byte)) {
	push(w.queueOf(s), item)
	w.queued++
	w.itemBytes += itemWeight(len(item))
}

// IsDead says that a site is given up, or will be when its Visit comes back: it takes no items.
func (w *Workbench[S]) IsDead(vs *VisitState[S]) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.of(vs)
	l := w.leaseOf(s)
	return s.at == buried || l != nil && l.kill
}

// Queued is how many items of the site are in its queue, those in its Visit not included.
func (w *Workbench[S]) Queued(vs *VisitState[S]) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.of(vs).queued()
}

// SetOnDisk is the distributor's note of how many items of the site are on disk. It makes the site a candidate for
// Refill again. Of a dead one that has none it says that nobody has business with it any more: see Evict.
func (w *Workbench[S]) SetOnDisk(vs *VisitState[S], n uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.of(vs)
	w.touch(s)
	s.onDisk = n
	s.flags &^= flagGiven
	if s.at == buried && n == 0 {
		s.flags |= flagLaid
	}
	w.settle(s, s.state())
}

// OnDisk is what SetOnDisk noted last.
func (w *Workbench[S]) OnDisk(vs *VisitState[S]) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.of(vs).onDisk
}

// Refill appends to dst up to max sites that have an address, items on disk and fewer than two items in memory, those in
// their Visit included: in the order in which they ran dry, each once until it is pushed to or SetOnDisk is called for it.
func (w *Workbench[S]) Refill(dst []*VisitState[S], max int) []*VisitState[S] {
	w.mu.Lock()
	defer w.mu.Unlock()
	for ; max > 0 && w.refillAt < len(w.refill); w.refillAt++ {
		s := w.sites.at(w.refill[w.refillAt])
		s.flags &^= flagListed
		if !w.wantsRefill(s) {
			continue
		}
		s.flags |= flagGiven
		dst = append(dst, w.handles.at(s.id))
		max--
	}
	switch rest := len(w.refill) - w.refillAt; {
	case rest == 0:
		w.refill, w.refillAt = w.refill[:0], 0
	case w.refillAt > 1024 && w.refillAt > rest:
		copy(w.refill, w.refill[w.refillAt:])
		w.refill, w.refillAt = w.refill[:rest], 0
	}
	return dst
}

// Weight is what the items weigh, in bytes: each in a queue or a Visit its length and the room of its length, plus 8; and
// 96 for each site that has any. What a known site costs without items is not in it, so it is 0 when no items are held.
func (w *Workbench[S]) Weight() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.weight()
}

func (w *Workbench[S]) weight() int64 { return w.itemBytes + int64(w.holders)*siteOverhead }

// Full says that the weight has reached MemoryMax: whoever has a choice should push no more for now.
func (w *Workbench[S]) Full() bool { return w.Weight() >= w.opts.MemoryMax }
