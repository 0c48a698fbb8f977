package workbench

import (
	"net/netip"
	"time"
)

// Visit is a lease: one site, its IP, and up to K of its items. While it is out, no other Visit to that IP is.
type Visit[S any] struct {
	VS   *VisitState[S]
	Addr netip.Addr
	// Items are up to K paths, oldest first, at least one. They belong to the bench: valid and immutable until Release.
	Items [][]byte
	// Lease is the Visit's number; each is given once.
	Lease uint64
	// SiteDue and IPDue are the due times as they were, zero for a site or IP that never was visited.
	SiteDue, IPDue time.Time
	// Acquired is the now of the Acquire.
	Acquired time.Time
}

// Acquire appends to dst up to max Visits that are due at now, the longest due first. Each costs one step in the heap of
// its IP's sites and one in the heap of IPs, both O(log).
func (w *Workbench[S]) Acquire(now time.Time, dst []Visit[S], max int) []Visit[S] {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock.see(now)
	limit := w.clock.offset(now)
	w.sweep(limit)
	for ; max > 0 && len(w.outer) > 0 && w.outer[0].due <= limit; max-- {
		v := w.lend(w.entries[w.outer[0].id])
		v.Acquired = now
		dst = append(dst, v)
	}
	return dst
}

// lend makes a Visit of an entry's first site.
func (w *Workbench[S]) lend(e *entry[S]) Visit[S] {
	vs := w.site(e.sites[0].id)
	w.touch(vs)
	l := w.newLease(vs)
	e.lease = l
	vs.flags |= flagLeased
	w.settle(vs, Waiting)
	return Visit[S]{
		VS: vs, Addr: e.addr, Items: l.items, Lease: l.id,
		SiteDue: w.clock.time(vs.due), IPDue: w.clock.time(e.due),
	}
}

// newLease moves up to K items out of the site's queue.
func (w *Workbench[S]) newLease(vs *VisitState[S]) *lease[S] {
	var l *lease[S]
	if n := len(w.freeLeases); n > 0 {
		l, w.freeLeases = w.freeLeases[n-1], w.freeLeases[:n-1]
	} else {
		l = new(lease[S])
	}
	w.leaseSeq++
	l.id, l.vs, l.site = w.leaseSeq, vs, vs.Site
	q := vs.queue
	for q.count > 0 && len(l.items) < w.opts.PathsPerVisit {
		from := len(l.buf)
		l.buf = q.popFront(l.buf)
		l.items = append(l.items, l.buf[from:len(l.buf):len(l.buf)])
	}
	// The buffer may have moved while it grew. Earlier items then point into its former self, which is as good: it is
	// theirs alone now, and nothing is ever written to either before Release.
	q.shrink()
	w.queued -= len(l.items)
	w.inVisits += len(l.items)
	return l
}

// freeLease ends a lease. Its buffers serve the next one, unless they have grown out of proportion.
func (w *Workbench[S]) freeLease(l *lease[S]) {
	buf, items, updates := l.buf[:0], l.items[:0], l.updates
	if cap(buf) > 16<<10 || cap(items) > 1024 {
		buf, items = nil, nil
	}
	clear(updates)
	*l = lease[S]{buf: buf, items: items, updates: updates[:0]}
	if len(w.freeLeases) < 1<<16 {
		w.freeLeases = append(w.freeLeases, l)
	}
}
