package workbench

// Push appends an item to the queue of a site. It borrows item. If the site is dead, or a Kill waits for its Release,
// it does nothing and returns false.
func (w *Workbench[S]) Push(vs *VisitState[S], item []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pushItem(w.sites.of(vs), item, (*pathQueue).pushBack)
}

// PushFront puts an item before all others of the site: a retry, a redirect or a robots.txt. The item that was pushed
// last leaves first. It borrows item. Like Push, it returns false for a dead site.
func (w *Workbench[S]) PushFront(vs *VisitState[S], item []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.sites.of(vs)
	ok := w.pushItem(s, item, (*pathQueue).pushFront)
	if l := w.leaseOf(s); l != nil && ok {
		l.frontPushes++
	}
	return ok
}

func (w *Workbench[S]) pushItem(s *site[S], item []byte, push func(*pathQueue, []byte)) bool {
	if l := w.leaseOf(s); s.placement == dead || (l != nil && l.dead) {
		return false
	}
	w.touch(s)
	before := s.state()
	w.items.add(&s.queue, item, push)
	s.flags &^= flagRefillGiven
	w.reconcile(s, before)
	return true
}

// IsDead reports whether a site is dead or will be at its Release. Such a site accepts no items.
func (w *Workbench[S]) IsDead(vs *VisitState[S]) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.sites.of(vs)
	l := w.leaseOf(s)
	return s.placement == dead || l != nil && l.dead
}

// Queued returns the number of items in the queue of a site. Items in its Visit do not count.
func (w *Workbench[S]) Queued(vs *VisitState[S]) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sites.of(vs).queued()
}

// SetOnDisk sets the number of items of the site on disk. The distributor calls it. The site can then be returned by
// Refill again. After SetOnDisk(0), Evict may remove a dead site.
func (w *Workbench[S]) SetOnDisk(vs *VisitState[S], n uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.sites.of(vs)
	w.touch(s)
	s.onDisk = n
	s.flags &^= flagRefillGiven
	if s.placement == dead && n == 0 {
		s.flags |= flagDiskDropped
	}
	w.reconcile(s, s.state())
}

// OnDisk returns the number that SetOnDisk set last.
func (w *Workbench[S]) OnDisk(vs *VisitState[S]) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sites.of(vs).onDisk
}

// Refill appends to dst up to max sites that need items from disk. These have an address, items on disk and fewer than
// two items in memory, including their Visit. The order is that in which they became short of items. Refill returns a
// site again only after a Push or SetOnDisk for it.
func (w *Workbench[S]) Refill(dst []*VisitState[S], max int) []*VisitState[S] {
	w.mu.Lock()
	defer w.mu.Unlock()
	for max > 0 && w.refill.len() > 0 {
		s := w.sites.at(w.refill.take())
		s.flags &^= flagListed
		if !w.wantsRefill(s) {
			continue
		}
		s.flags |= flagRefillGiven
		dst = append(dst, w.sites.handles.at(s.id))
		max--
	}
	w.refill.compact()
	return dst
}

// Weight returns the memory of all items in bytes. An item in a queue or a Visit counts its bytes, its length field and
// 8; a site with items counts 96. Sites without items do not count, so the weight without items is 0.
func (w *Workbench[S]) Weight() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.items.weight()
}

// Full reports whether the weight has reached MemoryMax. The caller should then push only what cannot wait.
func (w *Workbench[S]) Full() bool { return w.Weight() >= w.opts.MemoryMax }
