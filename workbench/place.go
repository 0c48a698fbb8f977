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

// Unpark ends the parked state of a site and calls update, if not nil, with its Site. update runs under the lock of the
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

// WithSite calls f with the Site under the lock of the workbench. f must be short and must not call the workbench. If
// the site is leased, WithSite does nothing and returns false.
func (w *Workbench[S]) WithSite(vs *VisitState[S], f func(*S)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	s := c.sites.of(vs)
	if s.has(flagLeased) {
		return false
	}
	c.touch(s)
	f(&s.data)
	return true
}

// ReadSite is WithSite for an f that changes nothing. The next incremental snapshot does not contain the site for this
// call.
func (w *Workbench[S]) ReadSite(vs *VisitState[S], f func(*S)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.contents.sites.of(vs)
	if s.has(flagLeased) {
		return false
	}
	f(&s.data)
	return true
}

// Hasten moves a later due time of a site back to due, for a delay that the caller set and no longer needs. It does
// nothing to a leased site. No other method moves a due time back.
func (w *Workbench[S]) Hasten(vs *VisitState[S], due time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	s := c.sites.of(vs)
	until := c.clock.offset(due)
	if s.has(flagLeased) || s.due <= until {
		return
	}
	c.touch(s)
	s.due = until
	c.reconcile(s, s.state())
}

// Due returns the due time of a site without regard to its IP; zero if the site was never visited.
func (w *Workbench[S]) Due(vs *VisitState[S]) time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	return c.clock.time(c.sites.of(vs).due)
}

// Postpone moves the due times of a site and its IP later. It is for exchanges after the snapshot and before a crash,
// and for delays that were learned elsewhere. It never moves a due time back; a zero time changes nothing. It may be
// called while the site or another site of the IP is leased. The later due time of Postpone and Release is then valid.
func (w *Workbench[S]) Postpone(vs *VisitState[S], siteDue, ipDue time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	s := c.sites.of(vs)
	c.touch(s)
	s.due = max(s.due, c.clock.offset(siteDue))
	if s.entry != 0 {
		c.ips.touch(s.entry)
		e := c.ips.at(s.entry)
		e.due = max(e.due, c.clock.offset(ipDue))
	}
	c.reconcile(s, s.state())
}
