package workbench

import (
	"hash/maphash"
	"net/netip"
)

// contents is what the lock of a workbench guards. Its methods change one site and keep everything that depends on it
// consistent. The caller holds the lock.
type contents[S any] struct {
	clock    clock
	sites    siteTable[S]
	ips      ipTable[S]
	deferred dueHeap // the deferred sites, by the time up to which they are
	leases   leaseTable[S]
	items    itemStore
	refill   refillList
	history  history[S]

	perVisit    int    // K, the most items in a Visit
	prefetchSum uint32 // result of prefetch, so that the compiler keeps its reads
	unloadAt    int    // position in the outer heap where the next UnloadCandidates starts
	evictAt     uint32 // number of the last site that Evict examined
}

func (c *contents[S]) init(perVisit int) {
	c.perVisit = perVisit
	c.sites.seed, c.ips.seed = maphash.MakeSeed(), maphash.MakeSeed()
	c.ips.setPlace = func(id uint32, pos int32) { *c.ips.places.at(id) = pos }
	c.ips.setSitePos = func(id uint32, pos int32) { c.sites.at(id).pos = pos }
	c.ips.history = &c.history
}

// prefetchSites reads the places that a look-up of these sites and a Push to them need, breadth first, so that the CPU
// waits for many of them at the same time.
func (c *contents[S]) prefetchSites(hashes []uint64) {
	sum := c.prefetchSum
	var ids [getGroup]uint32
	for i, hash := range hashes {
		ids[i] = c.sites.byKey.first(hash)
	}
	for _, id := range ids[:len(hashes)] {
		if id != 0 {
			sum += c.sites.at(id).entry + c.sites.handles.at(id).id
		}
	}
	for _, id := range ids[:len(hashes)] {
		if id == 0 {
			continue
		}
		s := c.sites.at(id)
		if key := c.sites.keyOf(s); len(key) > 0 {
			sum += uint32(key[0])
		}
		if s.queue != nil {
			sum += s.queue.PrefetchItem()
		}
		if s.entry != 0 {
			sum += c.ips.at(s.entry).sites
		}
	}
	c.prefetchSum = sum
}

// add creates the site with the given free id.
func (c *contents[S]) add(hash uint64, id uint32, key []byte) *site[S] {
	c.history.noteAdded(id)
	return c.sites.add(hash, id, key)
}

// remove removes a site. The site must not be leased, have items, or be on the refill list.
func (c *contents[S]) remove(s *site[S]) {
	id, state := s.id, s.state()
	c.touch(s)
	c.detach(s)
	c.sites.remove(s, state)
	c.history.noteEvicted(id)
}

// touch must be called before any change of a site. It copies the site for the open snapshot if that has not written it
// yet.
func (c *contents[S]) touch(s *site[S]) {
	s.flags |= flagRecentlyUsed
	h := &c.history
	if !h.recording || !h.sites.add(s.id) {
		return
	}
	if p := h.open; p != nil && p.sites.isPending(s.id, p.partial) {
		p.copied = c.appendSite(p.copied, p, s)
	}
}

// detach removes a site that is not leased from its entry or from the deferred sites. The caller must then call
// reconcile.
func (c *contents[S]) detach(s *site[S]) {
	if s.placement == deferred {
		c.deferred.remove(s.pos, c.ips.setSitePos)
	}
	if s.entry != 0 {
		c.ips.detach(s)
	}
	s.placement = unplaced
}

// makeDeferred makes an unplaced site a deferred one.
func (c *contents[S]) makeDeferred(s *site[S], until int64) {
	s.placement = deferred
	c.deferred.push(node{due: until, tie: s.id, id: s.id}, c.ips.setSitePos)
}

// makeDead makes a site that is not leased a dead one.
func (c *contents[S]) makeDead(s *site[S], before State, drop func(item []byte)) (items int) {
	items = c.items.dropQueue(&s.queue, drop)
	c.detach(s)
	s.placement = dead
	s.flags &^= flagParked | flagRefillGiven | flagDiskDropped
	c.reconcile(s, before)
	return items
}

func (c *contents[S]) pushItem(s *site[S], item []byte, push func(q *itemQueue, item []byte, urgent bool)) bool {
	if l := c.leaseOf(s); s.placement == dead || (l != nil && l.dead) {
		return false
	}
	c.touch(s)
	before := s.state()
	c.items.add(&s.queue, item, push)
	s.flags &^= flagRefillGiven
	c.unhold(s)
	c.reconcile(s, before)
	return true
}

// leaseOf returns the lease of a site whose Visit is out, or nil.
func (c *contents[S]) leaseOf(s *site[S]) *lease[S] {
	if !s.has(flagLeased) {
		return nil
	}
	return c.leases.at(c.ips.at(s.entry).lease)
}

// held returns the number of items of the site in memory, including those in its Visit.
func (c *contents[S]) held(s *site[S]) int {
	n := s.queued()
	if l := c.leaseOf(s); l != nil {
		n += len(l.items)
	}
	return n
}

// appendSite appends the record of a site.
func (c *contents[S]) appendSite(b []byte, p *capture[S], s *site[S]) []byte {
	var addr netip.Addr
	until := noDue
	switch s.placement {
	case addressed:
		addr = c.ips.at(s.entry).address()
	case deferred:
		until = c.deferred[s.pos-1].due
	default:
	}
	return p.appendSite(b, s, c.sites.keyOf(s), addr, until, c.leaseOf(s))
}

// reconcile updates everything that is derived from the fields of one site: its place in the heaps, the counts, the
// weight and the refill list. Every method calls it after a change. before is the state that was counted last.
func (c *contents[S]) reconcile(s *site[S], before State) {
	if s.queue != nil && s.queue.Count() == 0 {
		c.items.free(&s.queue)
	}
	now := s.state()
	c.sites.countChange(before, now)
	if s.entry != 0 {
		e := c.ips.at(s.entry)
		switch {
		case now == Waiting:
			c.ips.addWaiting(e, s)
		case s.pos != 0:
			c.ips.removeWaiting(e, s)
		}
		c.ips.reconcile(s.entry)
	}
	held := c.held(s)
	if (held > 0) != s.has(flagHolds) {
		s.flags ^= flagHolds
		c.items.countHolder(held > 0)
	}
	if c.wantsRefill(s) && s.flags&(flagListed|flagRefillGiven) == 0 {
		s.flags |= flagListed
		c.refill.add(s.id)
	}
}

func (c *contents[S]) wantsRefill(s *site[S]) bool {
	if s.onDisk == 0 || s.placement != addressed || s.flags&(flagParked|flagHeld) != 0 {
		return false
	}
	return c.held(s) < minItemsInMemory || s.has(flagUrgentOnDisk) && s.urgent() < minItemsInMemory
}

// unhold ends the hold of a site that has urgent items, in memory or on disk.
func (c *contents[S]) unhold(s *site[S]) {
	if s.placement != dead && (s.urgent() > 0 || s.has(flagUrgentOnDisk)) {
		s.flags &^= flagHeld
	}
}

// view returns the View of a site without its key.
func (c *contents[S]) view(s *site[S]) View[S] {
	v := View[S]{
		ID: uint64(s.id), State: s.state(), Data: s.data, Queued: s.queued(), OnDisk: s.onDisk, Due: c.clock.time(s.due),
	}
	if l := c.leaseOf(s); l != nil {
		v.InVisit = len(l.items)
	}
	if s.placement == deferred {
		v.Deferred = c.clock.time(c.deferred[s.pos-1].due)
	}
	if s.entry != 0 {
		e := c.ips.at(s.entry)
		v.IP = IPView{Addr: e.address(), Due: c.clock.time(e.due), Note: e.noteValue(), Sites: int(e.members)}
		if e.lease != 0 {
			v.IP.Leased = uint64(c.leases.at(e.lease).site)
		}
	}
	return v
}
