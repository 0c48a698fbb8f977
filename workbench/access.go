package workbench

import (
	"net/netip"
	"time"
)

// VisitState is a reference to one site, a scheme and an authority. It contains only the number of the site; the
// methods of Site return everything else. It is valid until the site is evicted (see Evict). Then it refers to no site,
// or to a new one.
type VisitState[S any] struct{ id uint32 }

// ID returns the number of the site: 1, 2, 3, ... in order of creation. Numbers of evicted sites are used again. The
// number stays the same over a snapshot and Load. It is less than 2^32.
func (vs *VisitState[S]) ID() uint64 { return uint64(vs.id) }

// Site reads and changes one site of a workbench. All methods take the lock of the workbench. The VisitState must be
// valid.
type Site[S any] struct {
	w  *Workbench[S]
	vs *VisitState[S]
}

// AppendKey appends the key of the site, scheme://authority.
func (x Site[S]) AppendKey(dst []byte) []byte {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	c := &x.w.contents
	return append(dst, c.sites.keyOf(c.sites.of(x.vs))...)
}

// Addr returns the address of the site, or the zero Addr if it has none.
func (x Site[S]) Addr() netip.Addr {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	c := &x.w.contents
	if s := c.sites.of(x.vs); s.entry != 0 {
		return c.ips.at(s.entry).address()
	}
	return netip.Addr{}
}

// Due returns the due time of the site without regard to its IP; zero if the site was never visited.
func (x Site[S]) Due() time.Time {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	c := &x.w.contents
	return c.clock.time(c.sites.of(x.vs).due)
}

// Postpone moves the due times of the site and its IP later. It is for exchanges after the snapshot and before a crash,
// and for delays that were learned elsewhere. It never moves a due time back; a zero time changes nothing. It may be
// called while the site or another site of the IP is leased. The later due time of Postpone and Release is then valid.
func (x Site[S]) Postpone(siteDue, ipDue time.Time) {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	c := &x.w.contents
	s := c.sites.of(x.vs)
	c.touch(s)
	if due := c.clock.offset(siteDue); due > s.due {
		s.due = due
	} else if due != noDue {
		s.due++ // so that DueTimes.Hasten knows
	}
	if s.entry != 0 {
		c.ips.touch(s.entry)
		e := c.ips.at(s.entry)
		e.due = max(e.due, c.clock.offset(ipDue))
	}
	c.reconcile(s, s.state())
}

// Hasten moves a later due time of the site back to due, for a delay that the caller set and no longer needs. It does
// nothing to a leased site. Only DueTimes.Hasten moves a due time back, too.
func (x Site[S]) Hasten(due time.Time) {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	c := &x.w.contents
	s := c.sites.of(x.vs)
	until := c.clock.offset(due)
	if s.has(flagLeased) || s.due <= until {
		return
	}
	c.touch(s)
	s.due = until
	c.reconcile(s, s.state())
}

// IsDead reports whether the site is dead or will be at its Release. Such a site accepts no items.
func (x Site[S]) IsDead() bool {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	c := &x.w.contents
	s := c.sites.of(x.vs)
	l := c.leaseOf(s)
	return s.placement == dead || l != nil && l.dead
}

// Queued returns the number of items in the queue of the site. Items in its Visit do not count.
func (x Site[S]) Queued() int {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	return x.w.contents.sites.of(x.vs).queued()
}

// Urgent returns the number of urgent items in the queue of the site.
func (x Site[S]) Urgent() int {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	return x.w.contents.sites.of(x.vs).urgent()
}

// OnDisk returns the number that SetOnDisk set last.
func (x Site[S]) OnDisk() uint64 {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	return x.w.contents.sites.of(x.vs).onDisk
}

// SetOnDisk sets the number of items of the site on disk, and how many of them are urgent. The distributor calls it.
// The site can then be returned by Refill again. After SetOnDisk(0, 0), Evict may remove a dead site. A snapshot does
// not keep whether there are urgent items on disk.
func (x Site[S]) SetOnDisk(n, urgent uint64) {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	c := &x.w.contents
	s := c.sites.of(x.vs)
	c.touch(s)
	s.onDisk = n
	s.flags &^= flagRefillGiven | flagUrgentOnDisk
	if urgent > 0 && s.placement != dead {
		s.flags |= flagUrgentOnDisk
	}
	before := s.state()
	c.unhold(s)
	if s.placement == dead && n == 0 {
		s.flags |= flagDiskDropped
	}
	c.reconcile(s, before)
}

// Update calls f with the site data under the lock of the workbench. f must be short and must not call the workbench.
// If the site is leased, Update does nothing and returns false.
func (x Site[S]) Update(f func(*S)) bool {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	c := &x.w.contents
	s := c.sites.of(x.vs)
	if s.has(flagLeased) {
		return false
	}
	c.touch(s)
	f(&s.data)
	return true
}

// Data returns a copy of the site data; for a leased site as it was before its Visit.
func (x Site[S]) Data() S {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	return x.w.contents.sites.of(x.vs).data
}

// Read is Update for an f that changes nothing. The next incremental snapshot does not contain the site for this call.
func (x Site[S]) Read(f func(*S)) bool {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	s := x.w.contents.sites.of(x.vs)
	if s.has(flagLeased) {
		return false
	}
	f(&s.data)
	return true
}

// View is a copy of what the workbench knows about one site, for an operator.
type View[S any] struct {
	ID       uint64
	Key      []byte
	State    State
	Data     S // for a leased site as it was before its Visit
	Queued   int
	InVisit  int
	OnDisk   uint64
	Due      time.Time // without regard to the IP; zero if the site was never visited
	Deferred time.Time // when the name is resolved again; zero unless the state is Deferred
	IP       IPView
}

// IPView is what the workbench knows about the IP address of a site.
type IPView struct {
	Addr   netip.Addr // not valid if the site has no address
	Due    time.Time
	Note   uint32 // see Visit.IPNote
	Sites  int    // at this address
	Leased uint64 // the site whose Visit is out; 0 if there is none
}

// View returns a copy of what the workbench knows about the site.
func (x Site[S]) View() View[S] {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	c := &x.w.contents
	s := c.sites.of(x.vs)
	v := c.view(s)
	v.Key = append([]byte(nil), c.sites.keyOf(s)...)
	return v
}

// Items calls f with up to most items of the site, oldest first, without taking them: first those of its Visit, then
// those of its queue. f borrows item, runs under the lock of the workbench and must not call it.
func (x Site[S]) Items(most int, f func(item []byte, inVisit bool)) {
	x.w.mu.Lock()
	defer x.w.mu.Unlock()
	c := &x.w.contents
	s := c.sites.of(x.vs)
	if l := c.leaseOf(s); l != nil {
		for _, item := range l.items[:min(most, len(l.items))] {
			f(item, true)
			most--
		}
	}
	if s.queue == nil {
		return
	}
	rest := s.queue.Reader()
	var item []byte
	for ; most > 0 && rest.Count() > 0; most-- {
		item = rest.PopFront(item[:0])
		f(item, false)
	}
}
