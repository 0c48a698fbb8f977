package workbench

import (
	"slices"
	"time"
)

// DueTimes answers when the sites of a workbench are due. All methods take the lock of the workbench.
type DueTimes[S any] struct{ w *Workbench[S] }

// Next returns the due time of the first entry of the outer heap. A site can be fetched now if and only if this time
// is not after now. The zero time means that the site was never visited and is due at once. The result is false if no
// site is waiting.
func (d DueTimes[S]) Next() (time.Time, bool) {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	c := &d.w.contents
	if c.ips.outer.len() == 0 {
		return time.Time{}, false
	}
	return c.clock.time(c.ips.outer.top().due), true
}

// NextSites returns copies of the keys of the site that can be visited first, and of the site that DueDeferred returns
// first; nil if there is none. Next and NextDeferred return when they are due.
func (d DueTimes[S]) NextSites() (waiting, deferred []byte) {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	c := &d.w.contents
	if c.ips.outer.len() > 0 {
		heap := *c.ips.heaps.at(c.ips.at(c.ips.outer.top().id).sites)
		waiting = slices.Clone(c.sites.keyOf(c.sites.at(heap.top().id)))
	}
	if c.deferred.len() > 0 {
		deferred = slices.Clone(c.sites.keyOf(c.sites.at(c.deferred.top().id)))
	}
	return waiting, deferred
}

// NextDeferred returns the time from which DueDeferred returns a site. The result is false if no site is deferred.
func (d DueTimes[S]) NextDeferred() (time.Time, bool) {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	c := &d.w.contents
	if c.deferred.len() == 0 {
		return time.Time{}, false
	}
	return c.clock.time(c.deferred.top().due), true
}

// frontExact is the number of IPs up to which Front counts exactly.
const frontExact = 1024

// Front returns the number of IPs with a site that is due before now + soon. IPs with a Visit out do not count. The
// result is exact up to 1,024. Above that it is an estimate from 1,024 samples with a standard error of about 2 % of
// the IPs on the workbench. So the call takes a few microseconds at most.
func (d DueTimes[S]) Front(now time.Time, soon time.Duration) int {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	c := &d.w.contents
	return c.ips.outer.count(c.clock.offset(now.Add(soon)), frontExact)
}

// Anchor sets the clock of a workbench that was just loaded: now is the same moment as was on the clock of the
// snapshot. Without Anchor, the wall clock is used.
func (d DueTimes[S]) Anchor(now, was time.Time) {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	d.w.contents.clock.anchorAt(now, was)
}

// Hasten moves the due time of a site back to due, if it is was: a delay that the caller set in a Release, and no other
// since. After a Postpone it is at least a nanosecond later. Hasten reports whether it did. It borrows key.
func (d DueTimes[S]) Hasten(key []byte, was, due time.Time) bool {
	hash := d.w.contents.sites.hash(key)
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	c := &d.w.contents
	vs := c.sites.use(hash, key)
	if vs == nil {
		return false
	}
	s := c.sites.of(vs)
	if s.has(flagLeased) || s.due != c.clock.offset(was) {
		return false
	}
	c.touch(s)
	s.due = min(s.due, c.clock.offset(due))
	c.reconcile(s, s.state())
	return true
}

// EndHolds ends the hold of all sites: see Release.Hold. It holds the lock for all of them.
func (d DueTimes[S]) EndHolds() {
	d.w.mu.Lock()
	defer d.w.mu.Unlock()
	c := &d.w.contents
	for id := uint32(1); id <= c.sites.records.last; id++ {
		if c.sites.has(id) && c.sites.at(id).placement != dead && c.sites.at(id).has(flagHeld) {
			s := c.sites.at(id)
			c.touch(s)
			before := s.state()
			s.flags &^= flagHeld
			c.reconcile(s, before)
		}
	}
}
