package workbench

import (
	"net/netip"
	"time"
)

// Release is the result of a Visit. If several are set, the first of Kill, Replace, a call of Place during the Visit,
// and Unresolved is used. Park has no effect together with Kill.
type Release struct {
	// Unused are the items that were not processed, a suffix of Visit.Items. They return to the front of the queue, in
	// order. Borrowed.
	Unused [][]byte
	// Front are items to be tried again. They go before Unused, in order. Borrowed.
	Front [][]byte
	// SiteDue and IPDue are the next due times. A zero or earlier time changes nothing.
	SiteDue, IPDue time.Time
	// Kill gives up the site.
	Kill bool
	// Drop, if not nil, is called for each dropped item of a killed site, in queue order. It borrows the item. It runs
	// under the lock of the workbench, must be short and must not call the workbench. If Kill was called during the
	// Visit, its drop is used instead.
	Drop func(item []byte)
	// Park takes the site off the workbench until Unpark.
	Park bool
	// Hold takes the site off the workbench until it has urgent items, unless it has some. A snapshot does not keep it.
	Hold bool
	// Unresolved means that the address is no longer valid. The site leaves its IP, and the caller must resolve it.
	Unresolved bool
	// Replace, if valid, is the new address of the site.
	Replace netip.Addr
}

// ReleaseResult is the effect of a Release.
type ReleaseResult struct {
	// Dropped is the number of items that a killed site lost: its queue, Unused and Front.
	Dropped int
	// Dry is true if the site has no items left in memory.
	Dry bool
}

// Release ends a Visit. It panics if the Visit is not out. Afterwards Items and Key of the Visit are invalid, and the
// workbench owns its site data.
func (w *Workbench[S]) Release(v *Visit[S], r Release, now time.Time) ReleaseResult {
	if r.Replace.IsValid() {
		r.Replace = canonical(r.Replace)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	c.clock.see(now)
	s := c.sites.of(v.VS)
	l := c.leaseOf(s)
	if l == nil || l.id != v.Lease {
		panic("BUG: workbench: Release of a Visit that is not out")
	}
	if len(r.Unused) > len(l.items) {
		panic("BUG: workbench: Release returns more items than the Visit had")
	}
	c.touch(s)
	c.ips.touch(s.entry)
	e := c.ips.at(s.entry)
	s.due = max(s.due, c.clock.offset(r.SiteDue))
	e.due = max(e.due, c.clock.offset(r.IPDue))
	s.data = v.Site
	e.setNote(v.IPNote)
	for _, update := range l.updates {
		update(&s.data)
	}
	var result ReleaseResult
	dies, drop := r.Kill || l.dead, r.Drop
	if l.dead {
		drop = l.drop
	}
	c.giveBack(s, l, r)
	c.items.countReleased(l.items)
	s.flags &^= flagLeased
	number := e.lease
	e.lease = 0
	if dies {
		result.Dropped = c.makeDead(s, Leased, drop)
	} else {
		c.placeReleased(s, l, r)
	}
	result.Dry = s.queue == nil
	c.leases.close(number)
	return result
}

// Prefetch reads the memory that the Releases of these Visits need and changes nothing. It saves time if there are many
// Visits whose data is not in the CPU's cache: reading for many together takes hardly longer than for a single one. All
// Visits must be out.
func (w *Workbench[S]) Prefetch(visits []Visit[S]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	sum := c.prefetchSum
	for i := range visits {
		sum += visits[i].VS.id
	}
	for i := range visits {
		sum += c.sites.at(visits[i].VS.id).entry
	}
	for i := range visits {
		s := c.sites.at(visits[i].VS.id)
		sum += c.ips.at(s.entry).sites + uint32(*c.ips.places.at(s.entry)) + uint32(s.queued())
	}
	for i := range visits {
		e := c.ips.at(c.sites.at(visits[i].VS.id).entry)
		if e.sites != 0 {
			sum += uint32(c.ips.heaps.at(e.sites).len())
		}
		sum += c.leases.at(e.lease).site
	}
	for i := range visits {
		if e := c.ips.at(c.sites.at(visits[i].VS.id).entry); e.sites != 0 {
			sum += c.ips.heaps.at(e.sites).top().id
		}
	}
	c.prefetchSum = sum
}

// giveBack puts Front and Unused at the front of the queue, but after items that PushFront added during the lease.
func (c *contents[S]) giveBack(s *site[S], l *lease[S], r Release) {
	if len(r.Unused)+len(r.Front) == 0 {
		return
	}
	first := make([][]byte, 0, 4)
	for range l.frontPushes {
		first = append(first, c.items.popFront(s.queue, nil))
	}
	for _, items := range [...][][]byte{r.Unused, r.Front, first} {
		for k := len(items) - 1; k >= 0; k-- {
			c.items.add(&s.queue, items[k], (*itemQueue).PushFront)
		}
	}
}

// placeReleased gives a site its place after its lease has ended.
func (c *contents[S]) placeReleased(s *site[S], l *lease[S], r Release) {
	e := c.ips.at(s.entry)
	to := r.Replace
	if !to.IsValid() && l.moveTo.IsValid() {
		to = l.moveTo
	}
	if r.Park && !l.unparked {
		s.flags |= flagParked
	}
	if r.Hold {
		s.flags |= flagHeld
		c.unhold(s)
	}
	switch {
	case to.IsValid() && to.As16() != e.addr:
		c.detach(s)
		c.ips.attach(s, c.ips.findOrAdd(to))
	case r.Unresolved:
		c.detach(s)
	}
	if s.queue == nil { // Refill returns the site again: what it could not have beside its last items, it may have now
		s.flags &^= flagRefillGiven
	}
	c.reconcile(s, Leased)
}
