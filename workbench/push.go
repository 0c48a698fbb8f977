package workbench

// Push appends an item to the queue of a site. It borrows item. If the site is dead, or a Kill waits for its Release,
// it does nothing and returns false.
func (w *Workbench[S]) Push(vs *VisitState[S], item []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	return c.pushItem(c.sites.of(vs), item, (*pathQueue).pushBack)
}

// PushFront puts an item before all others of the site: a retry, a redirect or a robots.txt. The item that was pushed
// last leaves first. It borrows item. Like Push, it returns false for a dead site.
func (w *Workbench[S]) PushFront(vs *VisitState[S], item []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	s := c.sites.of(vs)
	ok := c.pushItem(s, item, (*pathQueue).pushFront)
	if l := c.leaseOf(s); l != nil && ok {
		l.frontPushes++
	}
	return ok
}

// IsDead reports whether a site is dead or will be at its Release. Such a site accepts no items.
func (w *Workbench[S]) IsDead(vs *VisitState[S]) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	s := c.sites.of(vs)
	l := c.leaseOf(s)
	return s.placement == dead || l != nil && l.dead
}

// Queued returns the number of items in the queue of a site. Items in its Visit do not count.
func (w *Workbench[S]) Queued(vs *VisitState[S]) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.contents.sites.of(vs).queued()
}

// SetOnDisk sets the number of items of the site on disk. The distributor calls it. The site can then be returned by
// Refill again. After SetOnDisk(0), Evict may remove a dead site.
func (w *Workbench[S]) SetOnDisk(vs *VisitState[S], n uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	s := c.sites.of(vs)
	c.touch(s)
	s.onDisk = n
	s.flags &^= flagRefillGiven
	if s.placement == dead && n == 0 {
		s.flags |= flagDiskDropped
	}
	c.reconcile(s, s.state())
}

// OnDisk returns the number that SetOnDisk set last.
func (w *Workbench[S]) OnDisk(vs *VisitState[S]) uint64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.contents.sites.of(vs).onDisk
}
