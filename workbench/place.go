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
	if l := vs.leaseOf(); l != nil {
		l.moveTo = addr
		return
	}
	if vs.at == buried || vs.Addr() == addr {
		return
	}
	w.touch(vs)
	before := vs.state()
	w.detach(vs)
	w.attach(vs, w.entryOf(addr))
	vs.flags &^= flagGiven
	w.settle(vs, before)
}

func canonical(addr netip.Addr) netip.Addr {
	if !addr.IsValid() {
		panic("BUG: workbench: a site placed under no address")
	}
	return addr.Unmap().WithZone("")
}

// Defer lets a site without an address wait until it is time to resolve it again; see DueDeferred. For a site that is
// deferred already it sets the new time, one that has an address loses it. It does nothing to a leased or dead site:
// the news is stale.
func (w *Workbench[S]) Defer(vs *VisitState[S], until time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if vs.at == buried || vs.has(flagLeased) {
		return
	}
	w.touch(vs)
	before := vs.state()
	w.detach(vs)
	w.putOff(vs, w.clock.offset(until))
	w.settle(vs, before)
}

// putOff makes a site that is nowhere a deferred one.
func (w *Workbench[S]) putOff(vs *VisitState[S], until int64) {
	vs.at = deferred
	w.waiting.push(node{due: until, tie: vs.id, id: vs.id}, w.sitePos)
}

// DueDeferred appends to dst the deferred sites whose time has come, earliest first. They are newborns again, and the
// caller's to resolve.
func (w *Workbench[S]) DueDeferred(now time.Time, dst []*VisitState[S]) []*VisitState[S] {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock.see(now)
	limit := w.clock.offset(now)
	for len(w.waiting) > 0 && w.waiting[0].due <= limit {
		vs := w.site(w.waiting[0].id)
		w.touch(vs)
		w.detach(vs)
		w.settle(vs, Deferred)
		dst = append(dst, vs)
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
	if l := vs.leaseOf(); l != nil {
		if !l.kill {
			l.kill, l.drop = true, drop
		}
		return 0
	}
	if vs.at == buried {
		return 0
	}
	w.touch(vs)
	return w.bury(vs, vs.state(), drop)
}

// bury makes a site that is not leased a dead one.
func (w *Workbench[S]) bury(vs *VisitState[S], before State, drop func(item []byte)) (items int) {
	items = w.dropQueue(vs, drop)
	w.detach(vs)
	vs.at = buried
	vs.flags &^= flagParked | flagGiven
	w.settle(vs, before)
	return items
}

// Revive makes a dead site a newborn, for the caller to resolve, and takes back a Kill that a lease has put off. It does
// nothing to others. The site's due time outlives death.
func (w *Workbench[S]) Revive(vs *VisitState[S]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := vs.leaseOf(); l != nil {
		l.kill, l.drop = false, nil
		return
	}
	if vs.at != buried {
		return
	}
	w.touch(vs)
	vs.at = nowhere
	w.settle(vs, Dead)
}

// Unpark ends the waiting of a parked site and runs update, which may be nil, on its Site, under the bench's lock: it
// must be short and must not call the bench. While the site is leased both are put off: update runs at the Release, and
// that Release does not park, since what it wanted to wait for has already happened. On a site that is neither leased nor
// parked it only runs update, so the engine can change the Site of a site that nobody holds.
func (w *Workbench[S]) Unpark(vs *VisitState[S], update func(*S)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.touch(vs)
	if l := vs.leaseOf(); l != nil {
		l.unparked = true
		if update != nil {
			l.updates = append(l.updates, update)
		}
		return
	}
	if update != nil {
		update(&vs.Site)
	}
	before := vs.state()
	vs.flags &^= flagParked
	w.settle(vs, before)
}

// WithSite runs f on the Site, under the bench's lock (it must be short and must not call the bench), unless the site is
// leased: then it returns false.
func (w *Workbench[S]) WithSite(vs *VisitState[S], f func(*S)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if vs.has(flagLeased) {
		return false
	}
	w.touch(vs)
	f(&vs.Site)
	return true
}
