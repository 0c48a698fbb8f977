package workbench

import (
	"net/netip"
	"time"
)

// Place puts a site under an address. An unresolved or deferred site gets its first address; a site with an address
// moves to the new one. A leased site moves at its Release. A dead site stays dead. IPv4-mapped IPv6 addresses count as
// IPv4, and zones are ignored. An invalid addr panics.
func (w *Workbench[S]) Place(vs *VisitState[S], addr netip.Addr, now time.Time) {
	addr = canonical(addr)
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	c.clock.see(now)
	c.ips.dropVacant(c.clock.offset(now))
	s := c.sites.of(vs)
	if l := c.leaseOf(s); l != nil {
		l.moveTo = addr
		return
	}
	if s.placement == dead || (s.entry != 0 && c.ips.at(s.entry).addr == addr.As16()) {
		return
	}
	c.touch(s)
	before := s.state()
	c.detach(s)
	c.ips.attach(s, c.ips.findOrAdd(addr))
	s.flags &^= flagRefillGiven
	c.reconcile(s, before)
}

// Defer marks a site as deferred until the given time, when DueDeferred returns it to be resolved again. A site with an
// address loses it. For a deferred site Defer sets the new time. It does nothing to a leased or dead site, because
// newer facts are known for it.
func (w *Workbench[S]) Defer(vs *VisitState[S], until time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	s := c.sites.of(vs)
	if s.placement == dead || s.has(flagLeased) {
		return
	}
	c.touch(s)
	before := s.state()
	c.detach(s)
	c.makeDeferred(s, c.clock.offset(until))
	c.reconcile(s, before)
}

// DueDeferred appends to dst the deferred sites that are due at now, earliest first. They become unresolved, and the
// caller must resolve them.
func (w *Workbench[S]) DueDeferred(now time.Time, dst []*VisitState[S]) []*VisitState[S] {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	c.clock.see(now)
	limit := c.clock.offset(now)
	for c.deferred.dueBy(limit) {
		s := c.sites.at(c.deferred.top().id)
		c.touch(s)
		c.detach(s)
		c.reconcile(s, Deferred)
		dst = append(dst, c.sites.handles.at(s.id))
	}
	return dst
}

// Kill gives up a site. It drops the queued items and returns their number. If drop is not nil, it is called for each
// item under the lock of the workbench. It borrows the item, must be short and must not call the workbench. The caller
// must drop the items on disk. From now on the site accepts no items. For a leased site Kill returns 0; the Release of
// the Visit drops and counts the items.
func (w *Workbench[S]) Kill(vs *VisitState[S], drop func(item []byte)) (items int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	s := c.sites.of(vs)
	if l := c.leaseOf(s); l != nil {
		if !l.dead {
			l.dead, l.drop = true, drop
		}
		return 0
	}
	if s.placement == dead {
		return 0
	}
	c.touch(s)
	return c.makeDead(s, s.state(), drop)
}

// Revive makes a dead site unresolved, so that the caller can resolve it again. It cancels a Kill of a leased site. It
// does nothing to other sites. The due time of the site stays.
func (w *Workbench[S]) Revive(vs *VisitState[S]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	s := c.sites.of(vs)
	if l := c.leaseOf(s); l != nil {
		l.dead, l.drop = false, nil
		return
	}
	if s.placement != dead {
		return
	}
	c.touch(s)
	s.placement = unplaced
	s.flags &^= flagDiskDropped
	c.reconcile(s, Dead)
}

// Unpark ends the parked state of a site and calls update, if not nil, with its data. update runs under the lock of the
// workbench, so it must be short and must not call the workbench. For a leased site, update runs at the Release, which
// then ignores Park. For a site that is neither leased nor parked, Unpark only calls update.
func (w *Workbench[S]) Unpark(vs *VisitState[S], update func(*S)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	s := c.sites.of(vs)
	c.touch(s)
	if l := c.leaseOf(s); l != nil {
		l.unparked = true
		if update != nil {
			l.updates = append(l.updates, update)
		}
		return
	}
	if update != nil {
		update(&s.data)
	}
	before := s.state()
	s.flags &^= flagParked
	c.reconcile(s, before)
}
