package workbench

import "slices"

// Memory moves sites and items between a workbench and the disk, so that the workbench does not need more than
// MemoryMax. All methods take the lock of the workbench.
type Memory[S any] struct{ w *Workbench[S] }

// Memory returns access to what bounds the memory of the workbench.
func (w *Workbench[S]) Memory() Memory[S] { return Memory[S]{w} }

// siteMemory is the memory of a known site without its items, in bytes: see doc.go.
const siteMemory = 152

// Short reports whether sites and items together need more than MemoryMax. Sites may always use a quarter of
// MemoryMax. If the result is true, the caller should evict idle sites: see Evict.
func (m Memory[S]) Short() bool {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	c := &m.w.contents
	sites := int64(c.sites.count()) * siteMemory
	return sites > m.w.opts.MemoryMax/4 && sites+c.items.weight() > m.w.opts.MemoryMax
}

// Full reports whether the weight of all items has reached MemoryMax: see Counts.Weight. The caller should then push only
// what cannot wait.
func (m Memory[S]) Full() bool {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	return m.w.contents.items.weight() >= m.w.opts.MemoryMax
}

// Refill appends to dst up to max sites that need items from disk. These have an address, items on disk and fewer than
// two items in memory, including their Visit. The order is that in which they became short of items. Refill returns a
// site again only after a Push or SetOnDisk for it.
func (m Memory[S]) Refill(dst []*VisitState[S], max int) []*VisitState[S] {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	c := &m.w.contents
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
