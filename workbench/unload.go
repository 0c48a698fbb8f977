package workbench

import "time"

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
	for i := 0; old.count > 0; i++ {
		from := len(buf)
		buf = c.items.popFront(&old, buf)
		if i < minItemsInMemory {
			c.items.add(&s.queue, buf[from:], (*pathQueue).pushBack)
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
	for s.queue.count > 0 {
		buf = c.items.popFront(s.queue, buf)
		ends = append(ends, len(buf))
	}
	c.reconcile(s, before)
	return buf, ends, true
}
