package workbench

import (
	"slices"
	"time"
)

// Memory moves sites and items between a workbench and the disk, so that the workbench does not need more than
// MemoryMax. All methods take the lock of the workbench.
type Memory[S any] struct{ w *Workbench[S] }

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

// Full reports whether the weight of all items has reached MemoryMax: see Counts.Weight. The caller should then push
// only what cannot wait.
func (m Memory[S]) Full() bool {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	return m.w.contents.items.weight() >= m.w.opts.MemoryMax
}

// SetMax changes MemoryMax.
func (m Memory[S]) SetMax(bytes int64) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	m.w.opts.MemoryMax = bytes
}

// Refill appends to dst up to max sites that need items from disk. These have an address, items on disk and fewer than
// two items in memory, including their Visit. The order is that in which they became short of items. Refill returns a
// site again only after a Push or SetOnDisk for it, or when its last item in memory was processed.
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

// candidateProbes is the number of IPs and sites that UnloadCandidates examines per call.
const candidateProbes = 1024

// UnloadCandidates appends to dst up to max sites that can release memory first: they have more items than they need
// and are not due before limit. Each call examines some IPs, and the next call continues after them. So no call takes
// long, and all IPs get their turn.
func (m Memory[S]) UnloadCandidates(limit time.Time, dst []*VisitState[S], max int) []*VisitState[S] {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	c := &m.w.contents
	from := c.clock.offset(limit)
	left := candidateProbes
	for range c.ips.outer.len() {
		if max <= 0 || left <= 0 {
			break
		}
		c.unloadAt++
		if c.unloadAt >= c.ips.outer.len() {
			c.unloadAt = 0
		}
		e := c.ips.at(c.ips.outer[c.unloadAt].id)
		sites := *c.ips.heaps.at(e.sites)
		left--
		for i := len(sites) - 1; i >= 0 && max > 0 && left > 0; i-- { // in a heap, late due times are near the end
			n := sites[i]
			left--
			if c.sites.at(n.id).queued() > minItemsInMemory && (n.due >= from || e.due >= from) {
				dst = append(dst, c.sites.handles.at(n.id))
				max--
			}
		}
	}
	return dst
}

// Unload removes all items except the two oldest of a Waiting site from memory. It appends their bytes to buf and their
// ends to ends: item i is buf[ends[i-1]:ends[i]]. For a site in another state it does nothing.
func (m Memory[S]) Unload(vs *VisitState[S], buf []byte, ends []int) ([]byte, []int) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	c := &m.w.contents
	s := c.sites.of(vs)
	if s.state() != Waiting || s.queued() <= minItemsInMemory {
		return buf, ends
	}
	c.touch(s)
	old := *s.queue
	s.queue = nil
	for i := 0; old.Count() > 0; i++ {
		from := len(buf)
		buf = c.items.popFront(&old, buf)
		if i < minItemsInMemory {
			c.items.add(&s.queue, buf[from:], (*itemQueue).PushBack)
			buf = buf[:from]
			continue
		}
		ends = append(ends, len(buf))
	}
	c.reconcile(s, Waiting)
	return buf, ends
}

// Drain removes all items of a site from memory, in any state except leased. It appends them to buf and ends as Unload
// does, oldest first. For a leased site it does nothing and returns false.
func (m Memory[S]) Drain(vs *VisitState[S], buf []byte, ends []int) (_ []byte, _ []int, ok bool) {
	m.w.mu.Lock()
	defer m.w.mu.Unlock()
	c := &m.w.contents
	s := c.sites.of(vs)
	if s.has(flagLeased) {
		return buf, ends, false
	}
	if s.queue == nil {
		return buf, ends, true
	}
	c.touch(s)
	before := s.state()
	for s.queue.Count() > 0 {
		buf = c.items.popFront(s.queue, buf)
		ends = append(ends, len(buf))
	}
	c.reconcile(s, before)
	return buf, ends, true
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
