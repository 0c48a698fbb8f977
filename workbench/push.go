package workbench

import "slices"

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

// Refill appends to dst up to max sites that need items from disk. These have an address, items on disk and fewer than
// two items in memory, including their Visit. The order is that in which they became short of items. Refill returns a
// site again only after a Push or SetOnDisk for it.
func (w *Workbench[S]) Refill(dst []*VisitState[S], max int) []*VisitState[S] {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	for max > 0 && c.refill.len() > 0 {
		s := c.sites.at(c.refill.popFront())
		s.flags &^= flagListed
		if !c.wantsRefill(s) {
			continue
		}
		s.flags |= flagRefillGiven
		dst = append(dst, c.sites.handles.at(s.id))
		max--
	}
	c.refill.compact()
	return dst
}

// Weight returns the memory of all items in bytes. An item in a queue or a Visit counts its bytes, its length field and
// 8; a site with items counts 96. Sites without items do not count, so the weight without items is 0.
func (w *Workbench[S]) Weight() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.contents.items.weight()
}

// Full reports whether the weight has reached MemoryMax. The caller should then push only what cannot wait.
func (w *Workbench[S]) Full() bool { return w.Weight() >= w.opts.MemoryMax }

// refillList is a queue of the sites that became short of items in memory.
type refillList struct {
	ids  []uint32
	from int // those before this position were taken
}

// len returns the number of sites on the list.
func (l *refillList) len() int { return len(l.ids) - l.from }

// add adds a site at the end.
func (l *refillList) add(id uint32) { l.ids = append(l.ids, id) }

// popFront removes the first site. The list must not be empty.
func (l *refillList) popFront() uint32 {
	l.from++
	return l.ids[l.from-1]
}

// remove removes a site from anywhere on a list from which none was taken.
func (l *refillList) remove(id uint32) {
	l.ids = slices.DeleteFunc(l.ids, func(n uint32) bool { return n == id })
}

// compact releases the memory of the sites that were taken, if there are many.
func (l *refillList) compact() {
	switch rest := l.len(); {
	case rest == 0:
		l.ids, l.from = l.ids[:0], 0
	case l.from > 1024 && l.from > rest:
		copy(l.ids, l.ids[l.from:])
		l.ids, l.from = l.ids[:rest], 0
	}
}
