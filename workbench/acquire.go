package workbench

import (
	"net/netip"
	"time"

	"orbweaver/internal/invariants"
)

// Visit is a lease of one site for one fetch. It holds the site, its IP address and up to K of its items. While it is
// out, no other Visit to this IP is out.
type Visit[S any] struct {
	VS   *VisitState[S]
	Addr netip.Addr
	// Key is scheme://authority. The workbench owns it and the Items.
	Key []byte
	// Site is a copy of the site data, which the holder may change. Release stores it in the workbench.
	Site S
	// IPNote is a 24-bit value of the engine for this IP. The workbench does not interpret it and keeps it as long as
	// the due time of the IP. Release stores the holder's copy.
	IPNote uint32
	// Class is a note of the engine for this Visit. The workbench neither sets nor keeps it.
	Class uint8
	// Items are 1 to K items, oldest first. The workbench owns them. They are valid and immutable until Release.
	Items [][]byte
	// More is the number of items that the site has beside these, in memory and on disk.
	More uint64
	// Lease is the number of the Visit. No two Visits of a crawl have the same number.
	Lease uint64
	// SiteDue and IPDue are the due times before this Visit; zero if there was no earlier visit.
	SiteDue, IPDue time.Time
	// NextDue is the earliest due time among the other waiting sites of this IP; zero if there is none.
	NextDue time.Time
	// Acquired is the value of now in the call of Acquire.
	Acquired time.Time
}

// Acquire appends to dst up to max Visits that are due at now. The Visit with the earliest due time is first. Each
// Visit costs one step in the heap of its IP and one in the heap of IPs, both O(log).
func (w *Workbench[S]) Acquire(now time.Time, dst []Visit[S], max int) []Visit[S] {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	c.clock.see(now)
	limit := c.clock.offset(now)
	c.ips.dropVacant(limit)
	var group [prefetchGroup]node
	for max > 0 {
		n := 0
		for ; n < min(max, prefetchGroup) && c.ips.outer.dueBy(limit); n++ {
			group[n] = c.ips.outer.top()
			c.ips.outer.remove(1, c.ips.setPlace)
		}
		if n == 0 {
			break
		}
		c.prefetch(group[:n])
		for _, top := range group[:n] {
			v := c.leaseFirstSite(top)
			v.Acquired = now
			dst = append(dst, v)
		}
		max -= n
	}
	return dst
}

// prefetchGroup is the number of IPs that Acquire takes off the outer heap together. The data of one IP is in five
// places that are usually not in the CPU's cache. Reading the places of many IPs together takes hardly longer than
// those of a single IP.
const prefetchGroup = 16

// prefetch reads all places that leaseFirstSite needs, breadth first, so that the CPU waits for many of them at the
// same time.
func (c *contents[S]) prefetch(group []node) {
	sum := c.prefetchSum
	for _, top := range group {
		sum += c.ips.at(top.id).sites + uint32(c.sites.at(top.tie).flags) + c.sites.handles.at(top.tie).id
	}
	for _, top := range group {
		sum += c.sites.at(top.tie).queue.Prefetch() + uint32(c.ips.heaps.at(c.ips.at(top.id).sites).len())
	}
	for _, top := range group {
		sum += c.sites.at(top.tie).queue.PrefetchItem() + c.ips.heaps.at(c.ips.at(top.id).sites).top().id
	}
	c.prefetchSum = sum
}

// leaseFirstSite makes a Visit for an entry that was removed from the outer heap. The site is the first of the entry;
// its id is the tie of the node.
func (c *contents[S]) leaseFirstSite(top node) Visit[S] {
	e, s := c.ips.at(top.id), c.sites.at(top.tie)
	c.touch(s)
	urgent := s.urgent()
	number, l := c.leases.open(s, c.perVisit)
	e.lease = number
	c.items.countLeased(len(l.items), urgent-s.urgent())
	s.flags |= flagLeased
	c.reconcile(s, Waiting)
	v := Visit[S]{
		VS: c.sites.handles.at(s.id), Addr: e.address(), Key: c.sites.keyOf(s), Site: s.data, Items: l.items,
		More: uint64(s.queued()) + s.onDisk, Lease: l.id,
		SiteDue: c.clock.time(s.due), IPDue: c.clock.time(e.due), IPNote: e.noteValue(),
	}
	if e.sites != 0 {
		v.NextDue = c.clock.time(max(c.ips.heaps.at(e.sites).top().due, 0)) // a past time if never visited
	}
	return v
}

// lease is what the workbench stores about a Visit that is out.
type lease[S any] struct {
	id          uint64
	site        uint32
	items       [][]byte // as in the Visit; immutable until Release
	buf         []byte   // the bytes of items
	frontPushes int      // items that PushFront added since: they precede the returned items
	dead        bool
	drop        func(item []byte) // the callback of the first Kill
	unparked    bool
	moveTo      netip.Addr
	updates     []func(*S)
}

// leaseTable holds the leases of all Visits that are out.
type leaseTable[S any] struct {
	slab[lease[S]]

	lastID uint64 // the id of the last lease
}

// open moves up to most items from the queue of the site into a new lease.
func (t *leaseTable[S]) open(s *site[S], most int) (number uint32, l *lease[S]) {
	number = t.allocate()
	l = t.at(number)
	t.lastID++
	l.id, l.site = t.lastID, s.id
	q := s.queue
	for q.Count() > 0 && len(l.items) < most {
		from := len(l.buf)
		l.buf = q.PopFront(l.buf)
		l.items = append(l.items, l.buf[from:len(l.buf):len(l.buf)])
	}
	// The buffer may have moved while it grew. Earlier items then point into the old array. This is safe: the array
	// belongs to this lease, and nothing writes to it before Release.
	q.Shrink()
	return number, l
}

// close ends a lease. The next lease reuses its buffers unless they are too large.
func (t *leaseTable[S]) close(number uint32) {
	l := t.at(number)
	invariants.Mangle(l.buf)
	buf, items, updates := l.buf[:0], l.items[:0], l.updates
	if cap(buf) > 16<<10 || cap(items) > 1024 {
		buf, items = nil, nil
	}
	clear(updates)
	*l = lease[S]{buf: buf, items: items, updates: updates[:0]}
	t.release(number)
}
