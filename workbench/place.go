package workbench

import (
	"net/netip"
	"time"
)

// Place puts a site under an address: a newborn or deferred one for the first time, one that has an address already
// under the new one instead. A leased site moves when its Visit is released. A dead one stays dead. IPv4 addresses in
// IPv6 form count as IPv4, zones do not count. An invalid addr is a bug of the caller.
func (w *Workbench[S]) Place(vs *VisitState[S], addr netip.Addr, now time.Time) {
	addr = canonical(addr)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock.see(now)
	w.sweep(w.clock.offset(now))
	s := w.of(vs)
	if l := w.leaseOf(s); l != nil {
		l.moveTo = addr
		return
	}
	if s.at == buried || (s.entry != 0 && w.entries.at(s.entry).addr == addr.As16()) {
		return
	}
	w.touch(s)
	before := s.state()
	w.detach(s)
	w.attach(s, w.entryOf(addr))
	s.flags &^= flagGiven
	w.settle(s, before)
}

// Defer lets a site without an address wait until it is time to resolve it again; see DueDeferred. For a site that is
// deferred already it sets the new time, one that has an address loses it. It does nothing to a leased or dead site:
// the news is stale.
func (w *Workbench[S]) Defer(vs *VisitState[S], until time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.of(vs)
	if s.at == buried || s.has(flagLeased) {
		return
	}
	w.touch(s)
	before := s.state()
	w.detach(s)
	w.putOff(s, w.clock.offset(until))
	w.settle(s, before)
}

// putOff makes a site that is nowhere a deferred one.
func (w *Workbench[S]) putOff(s *site[S], until int64) {
	s.at = deferred
	w.waiting.push(node{due: until, tie: s.id, id: s.id}, w.sitePos)
}

// DueDeferred appends to dst the deferred sites whose time has come, earliest first. They are newborns again, and the
// caller's to resolve.
func (w *Workbench[S]) DueDeferred(now time.Time, dst []*VisitState[S]) []*VisitState[S] {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock.see(now)
	limit := w.clock.offset(now)
	for w.waiting.dueBy(limit) {
		s := w.sites.at(w.waiting.top().id)
		w.touch(s)
		w.detach(s)
		w.settle(s, Deferred)
		dst = append(dst, w.handles.at(s.id))
	}
	return dst
}

// Kill gives a site up. Its queued items are dropped and their number is returned; each is lent to drop, if that is not
// nil, under the bench's lock: drop must be short and must not call the bench. What is on disk for the site is the
// caller's business. From now on it takes no items. A leased site dies when its Visit is released: its items go to drop
// then, their number comes out there, and is 0 here.
func (w *Workbench[S]) Kill(vs *VisitState[S], drop func(item []byte)) (items int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.of(vs)
	if l := w.leaseOf(s); l != nil {
		if !l.kill {
			l.kill, l.drop = true, drop
		}
		return 0
	}
	if s.at == buried {
		return 0
	}
	w.touch(s)
	return w.bury(s, s.state(), drop)
}

// bury makes a site that is not leased a dead one.
func (w *Workbench[S]) bury(s *site[S], before State, drop func(item []byte)) (items int) {
	items = w.dropQueue(s, drop)
	w.detach(s)
	s.at = buried
	s.flags &^= flagParked | flagGiven | flagLaid
	w.settle(s, before)
	return items
}

// Revive makes a dead site a newborn, for the caller to resolve, and takes back a Kill that a lease has put off. It does
// nothing to others. The site's due time outlives death.
func (w *Workbench[S]) Revive(vs *VisitState[S]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.of(vs)
	if l := w.leaseOf(s); l != nil {
		l.kill, l.drop = false, nil
		return
	}
	if s.at != buried {
		return
	}
	w.touch(s)
	s.at = nowhere
	s.flags &^= flagLaid
	w.settle(s, Dead)
}

// Unpark ends the waiting of a parked site and runs update, which may be nil, on its Site, under the bench's lock: it
// must be short and must not call the bench. While the site is leased both are put off: update runs at the Release, and
// that Release does not park, since what it wanted to wait for has already happened. On a site that is neither leased nor
// parked it only runs update, so the engine can change the Site of a site that nobody holds.
func (w *Workbench[S]) Unpark(vs *VisitState[S], update func(*S)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.of(vs)
	w.touch(s)
	if l := w.leaseOf(s); l != nil {
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
	w.settle(s, before)
}

// WithSite runs f on the Site, under the bench's lock (it must be short and must not call the bench), unless the site is
// leased: then it returns false.
func (w *Workbench[S]) WithSite(vs *VisitState[S], f func(*S)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.of(vs)
	if s.has(flagLeased) {
		return false
	}
	w.touch(s)
	f(&s.data)
	return true
}

// Look is WithSite for who changes nothing: the site is not written again for that by the next cut.
func (w *Workbench[S]) Look(vs *VisitState[S], f func(*S)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	s := w.of(vs)
	if s.has(flagLeased) {
		return false
	}
	f(&s.data)
	return true
}
