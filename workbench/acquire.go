package workbench

import (
	"net/netip"
	"time"
)

// Visit is a lease: one site, its IP, and up to K of its items. While it is out, no other Visit to that IP is.
type Visit[S any] struct {
	VS   *VisitState[S]
	Addr netip.Addr
	// Key is scheme://authority. It belongs to the bench, like the Items.
	Key []byte
	// Site is the holder's copy of the engine's knowledge; Release puts it in the place of the bench's.
	Site S
	// IPNote is what the engine notes about the IP, 24 bits that the bench does not look at: kept with the due time of the IP, and
	// no longer. Release puts the holder's copy in the place of the bench's.
	IPNote uint32
	// Items are up to K paths, oldest first, at least one. They belong to the bench: valid and immutable until Release.
	Items [][]byte
	// Lease is the Visit's number; each is given once.
	Lease uint64
	// SiteDue and IPDue are the due times as they were, zero for a site or IP that never was visited.
	SiteDue, IPDue time.Time
	// NextDue is when the first other site of the IP is due that has items waiting, zero if none has.
	NextDue time.Time
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
	var group [abreast]node
	for max > 0 {
		n := 0
		for ; n < min(max, abreast) && w.outer.dueBy(limit); n++ {
			group[n] = w.outer.top()
			w.outer.remove(1, w.ipPos)
		}
		if n == 0 {
			break
		}
		w.warm(group[:n])
		for _, top := range group[:n] {
			v := w.lend(top)
			v.Acquired = now
			dst = append(dst, v)
		}
		max -= n
	}
	return dst
}

// abreast is how many IPs are taken off the outer heap in one go. What belongs to an IP lies in five places, which nobody
// has looked at for long; to fetch those of many at once takes hardly longer than those of one.
const abreast = 16

// warm reads from all the places that lend will need, breadth first, so that the CPU can wait for many of them at once.
func (w *Workbench[S]) warm(group []node) {
	sum := w.warmth
	for _, top := range group {
		sum += w.entries.at(top.id).sites + uint32(w.sites.at(top.tie).flags) + w.handles.at(top.tie).id
	}
	for _, top := range group {
		sum += uint32(w.sites.at(top.tie).queue.head) + uint32(w.heaps.at(w.entries.at(top.id).sites).len())
	}
	for _, top := range group {
		q := w.sites.at(top.tie).queue
		sum += uint32(q.buf[q.head]) + w.heaps.at(w.entries.at(top.id).sites).top().id
	}
	w.warmth = sum
}

// lend makes a Visit of an entry that was taken off the outer heap: of its first site, whose id is the node's tie.
func (w *Workbench[S]) lend(top node) Visit[S] {
	e, s := w.entries.at(top.id), w.sites.at(top.tie)
	w.touch(s)
	e.lease = w.newLease(s)
	l := w.leases.at(e.lease)
	s.flags |= flagLeased
	w.settle(s, Waiting)
	v := Visit[S]{
		VS: w.handles.at(s.id), Addr: e.address(), Key: w.keyOf(s), Site: s.data, Items: l.items, Lease: l.id,
		SiteDue: w.clock.time(s.due), IPDue: w.clock.time(e.due), IPNote: e.noted(),
	}
	if e.sites != 0 {
		v.NextDue = w.clock.time(max(w.heaps.at(e.sites).top().due, 0)) // of one that was never visited, long ago
	}
	return v
}

// newLease moves up to K items out of the site's queue.
func (w *Workbench[S]) newLease(s *site[S]) uint32 {
	number := w.leases.take()
	l := w.leases.at(number)
	w.leaseSeq++
	l.id, l.site = w.leaseSeq, s.id
	q := s.queue
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
	return number
}

// freeLease ends a lease. Its buffers serve the next one, unless they have grown out of proportion.
func (w *Workbench[S]) freeLease(number uint32) {
	l := w.leases.at(number)
	buf, items, updates := l.buf[:0], l.items[:0], l.updates
	if cap(buf) > 16<<10 || cap(items) > 1024 {
		buf, items = nil, nil
	}
	clear(updates)
	*l = lease[S]{buf: buf, items: items, updates: updates[:0]}
	w.leases.put(number)
}

// lease is the bench's side of a Visit that is out.
type lease[S any] struct {
	id       uint64
	site     uint32
	items    [][]byte // as handed out; immutable until Release
	buf      []byte   // the bytes of items
	fronts   int      // items pushed to the front since: they stay before what comes back
	kill     bool
	drop     func(item []byte) // the killer's
	unparked bool
	moveTo   netip.Addr
	updates  []func(*S)
}
