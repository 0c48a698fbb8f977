package workbench

import (
	"net/netip"
	"time"
)

// Release is what the holder of a Visit gives back. If several of its wishes are true, the first of Kill, Replace, a Place
// that was called meanwhile, Newborn counts; Park goes with any but Kill.
type Release struct {
	// Unused are the items not dealt with: a suffix of the Visit's Items. They go back to the front, in order. Borrowed.
	Unused [][]byte
	// Front are items to be tried again: they go before Unused, in order. Borrowed.
	Front [][]byte
	// SiteDue and IPDue say when the next Visit may be. Zero leaves them as they were; they never go back in time.
	SiteDue, IPDue time.Time
	// Kill gives the site up.
	Kill bool
	// Drop, if not nil, is lent each item that is lost with a killed site, in the order in which they would have come out.
	// It runs under the bench's lock: it must be short and must not call the bench. The drop of an earlier Kill has
	// precedence.
	Drop func(item []byte)
	// Park takes the site off the bench until Unpark.
	Park bool
	// Newborn says that the address is no longer valid: the site leaves its IP, and is the caller's to resolve.
	Newborn bool
	// Replace, if valid, is the address the site moves to.
	Replace netip.Addr
}

// ReleaseResult says what a Release came to.
type ReleaseResult struct {
	// Dropped is how many items went with a killed site: its queue, Unused and Front.
	Dropped int
	// Dry says that no item of the site is left in memory.
	Dry bool
}

// Release ends a Visit. A Visit that is not out is a bug of the caller. The Visit's Items and Key are no longer valid; its
// Site is the bench's from now on.
func (w *Workbench[S]) Release(v *Visit[S], r Release, now time.Time) ReleaseResult {
	if r.Replace.IsValid() {
		r.Replace = canonical(r.Replace)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock.see(now)
	s := w.of(v.VS)
	l := w.leaseOf(s)
	if l == nil || l.id != v.Lease {
		panic("BUG: workbench: Release of a Visit that is not out")
	}
	if len(r.Unused) > len(l.items) {
		panic("BUG: workbench: Release gives more items back than were taken")
	}
	w.touch(s)
	w.touchEntry(s.entry)
	e := w.entries.at(s.entry)
	s.due = max(s.due, w.clock.offset(r.SiteDue))
	e.due = max(e.due, w.clock.offset(r.IPDue))
	s.data = v.Site
	e.setNote(v.IPNote)
	for _, update := range l.updates {
		update(&s.data)
	}
	var result ReleaseResult
	dies, drop := r.Kill || l.kill, r.Drop
	if l.kill {
		drop = l.drop
	}
	w.giveBack(s, l, r)
	w.inVisits -= len(l.items)
	for _, item := range l.items {
		w.itemBytes -= itemWeight(len(item))
	}
	s.flags &^= flagLeased
	number := e.lease
	e.lease = 0
	if dies {
		result.Dropped = w.bury(s, Leased, drop)
	} else {
		w.land(s, l, r)
	}
	result.Dry = s.queue == nil
	w.freeLease(number)
	return result
}

// Expect reads ahead what the Releases of these Visits will need. It changes nothing: it is for who has many of them at
// hand, of sites that nobody has looked at for long, since to fetch from memory what belongs to many at once takes hardly
// longer than what belongs to one. All must be out.
func (w *Workbench[S]) Expect(visits []Visit[S]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	sum := w.warmth
	for i := range visits {
		sum += visits[i].VS.id
	}
	for i := range visits {
		sum += w.sites.at(visits[i].VS.id).entry
	}
	for i := range visits {
		s := w.sites.at(visits[i].VS.id)
		sum += w.entries.at(s.entry).sites + uint32(*w.places.at(s.entry)) + uint32(s.queued())
	}
	for i := range visits {
		e := w.entries.at(w.sites.at(visits[i].VS.id).entry)
		if e.sites != 0 {
			sum += uint32(w.heaps.at(e.sites).len())
		}
		sum += w.leases.at(e.lease).site
	}
	for i := range visits {
		if e := w.entries.at(w.sites.at(visits[i].VS.id).entry); e.sites != 0 {
			sum += w.heaps.at(e.sites).top().id
		}
	}
	w.warmth = sum
}

// giveBack puts Front and Unused before everything in the queue but what was pushed to the front during the lease.
func (w *Workbench[S]) giveBack(s *site[S], l *lease[S], r Release) {
	if len(r.Unused)+len(r.Front) == 0 {
		return
	}
	first := make([][]byte, 0, 4)
	for range l.fronts {
		item := s.queue.popFront(nil)
		w.queued--
		w.itemBytes -= itemWeight(len(item))
		first = append(first, item)
	}
	for _, items := range [...][][]byte{r.Unused, r.Front, first} {
		for k := len(items) - 1; k >= 0; k-- {
			w.put(s, items[k], (*pathQueue).pushFront)
		}
	}
}

// land brings a site whose lease has ended to where it goes on.
func (w *Workbench[S]) land(s *site[S], l *lease[S], r Release) {
	e := w.entries.at(s.entry)
	to := r.Replace
	if !to.IsValid() && l.moveTo.IsValid() {
		to = l.moveTo
	}
	if r.Park && !l.unparked {
		s.flags |= flagParked
	}
	switch {
	case to.IsValid() && to.As16() != e.addr:
		w.detach(s)
		w.attach(s, w.entryOf(to))
	case r.Newborn:
		w.detach(s)
	}
	w.settle(s, Leased)
}
