package workbench

import (
	"errors"
	"fmt"
)

// checker compares everything that is derived with what it is derived from.
type checker[S any] struct {
	contents *contents[S]
	faults   []error
	members  map[uint32]int32
	waiting  map[uint32]int // number of Waiting sites per entry
	states   [stateCount]int

	queued, inVisits, holders, listed int
	weight                            int64
}

// check verifies everything and returns the faults as a joined error, or nil.
func (c *checker[S]) check() error {
	b := c.contents
	free := len(b.sites.records.free)
	for id := uint32(1); id <= b.sites.records.last; id++ {
		switch {
		case !b.sites.records.has(id):
		case b.sites.at(id).id == 0:
			free--
		default:
			c.checkSite(b.sites.at(id), id)
		}
	}
	if free != 0 {
		c.fault("%d numbers of sites are both used and free, or neither", free)
	}
	c.checkEntries()
	c.checkSums()
	c.checkHeap("outer", b.ips.outer)
	c.checkHeap("vacant", b.ips.vacant)
	c.checkHeap("deferred", b.deferred)
	return errors.Join(c.faults...)
}

func (c *checker[S]) fault(format string, args ...any) {
	if len(c.faults) < 20 {
		c.faults = append(c.faults, fmt.Errorf("workbench: "+format, args...))
	}
}

func (c *checker[S]) checkSite(vs *site[S], id uint32) {
	b := c.contents
	if vs.id != id || b.sites.handles.at(id).id != id {
		c.fault("the record of site %d has the number %d", id, vs.id)
	}
	if key := b.sites.keyOf(vs); b.sites.find(b.sites.hash(key), key) != id {
		c.fault("site %d, %q, is not in the index", id, key)
	}
	st := vs.state()
	c.states[st]++
	if (vs.placement == addressed) != (vs.entry != 0) {
		c.fault("site %d has an entry without an address, or an address without an entry", id)
	}
	if vs.entry != 0 {
		c.members[vs.entry]++
		if st == Waiting {
			c.waiting[vs.entry]++
		}
		h := c.heapOf(b.ips.at(vs.entry))
		pos := placeOf(&h, vs)
		if on := pos > 0 && int(pos) <= len(h) && h[pos-1] == (node{vs.due, vs.id, vs.id}); on != (st == Waiting) {
			c.fault("W1: site %d is %v, in the heap of its entry: %v", id, st, on)
		}
	}
	if vs.placement == deferred &&
		(vs.pos < 1 || int(vs.pos) > b.deferred.len() || b.deferred[vs.pos-1].id != id) {
		c.fault("site %d is deferred but not in the deferred heap", id)
	}
	l := b.leaseOf(vs)
	if l != nil {
		if l.site != id {
			c.fault("W2: the lease of site %d belongs to another site", id)
		}
		c.inVisits += len(l.items)
		for _, item := range l.items {
			c.weight += itemWeight(len(item))
		}
		if l.frontPushes > vs.queued() {
			c.fault("W4: site %d has %d items pushed to the front during its Visit, but %d queued", id, l.frontPushes,
				vs.queued())
		}
	}
	c.checkQueue(vs)
	if held := b.held(vs); (held > 0) != vs.has(flagHolds) {
		c.fault("W5: site %d has %d items, flagHolds is %v", id, held, vs.has(flagHolds))
	} else if held > 0 {
		c.holders++
	}
	if vs.has(flagListed) {
		c.listed++
	} else if b.wantsRefill(vs) && !vs.has(flagRefillGiven) {
		c.fault("site %d needs a refill and is not on the refill list", id)
	}
}

func (c *checker[S]) checkQueue(vs *site[S]) {
	if vs.queue == nil {
		return
	}
	q := vs.queue
	if q.Count() == 0 || vs.placement == dead {
		c.fault("site %d, %v, has a queue of %d items", vs.id, vs.state(), q.Count())
	}
	walk, weight := q.Reader(), int64(0)
	for walk.Count() > 0 {
		weight += itemWeight(len(walk.PopFront(nil)))
	}
	if walk.Size() != 0 || weight != queueWeight(q) {
		c.fault("W4: the queue of site %d has another size than its items", vs.id)
	}
	c.queued += q.Count()
	c.weight += weight
}

// heapOf returns the heap of the Waiting sites of an entry.
func (c *checker[S]) heapOf(e *entry) dueHeap {
	if e.sites == 0 {
		return nil
	}
	return *c.contents.ips.heaps.at(e.sites)
}

func (c *checker[S]) checkEntries() {
	b := c.contents
	ips, onBench, empty, leased := 0, 0, 0, 0
	for id := uint32(1); id <= b.ips.last; id++ {
		e := b.ips.at(id)
		if e.state == unused {
			continue
		}
		ips++
		c.checkEntry(id, e)
		pos := *b.ips.places.at(id)
		on := e.state == occupied && pos != 0
		if want := e.lease == 0 && c.waiting[id] > 0; on != want {
			c.fault("W1: the entry of %v is in the outer heap: %v, want %v", e.address(), on, want)
		}
		switch {
		case on:
			onBench++
			if n := b.ips.outer[pos-1]; n.id != id || n.due != max(e.due, c.heapOf(e).top().due) {
				c.fault("W3: the entry of %v has another due time in the outer heap", e.address())
			}
		case e.state == vacant:
			empty++
			if n := b.ips.vacant[pos-1]; n.id != id || n.due != e.due {
				c.fault("the vacant entry of %v has another due time in its heap", e.address())
			}
		}
		if e.lease != 0 {
			leased++
			if s := b.sites.at(b.leases.at(e.lease).site); s.entry != id || !s.has(flagLeased) {
				c.fault("W2: the site of a Visit to %v is not leased or has another entry", e.address())
			}
		}
	}
	if ips != b.ips.count || onBench != b.ips.outer.len() || empty != b.ips.vacant.len() || leased != c.states[Leased] {
		c.fault("W2: %d IPs, %d on the workbench, %d vacant, %d leased; the counters are %d, %d, %d, %d", ips,
			onBench, empty, leased, b.ips.count, b.ips.outer.len(), b.ips.vacant.len(), c.states[Leased])
	}
}

// checkEntry verifies the members of an entry and that its address leads back to it.
func (c *checker[S]) checkEntry(id uint32, e *entry) {
	if e.members != c.members[id] {
		c.fault("the entry of %v has %d members, its counter is %d", e.address(), c.members[id], e.members)
	}
	if _, found := c.contents.ips.find(e.address()); found != id {
		c.fault("the entry of %v is not in the index", e.address())
	}
	h := c.heapOf(e)
	if len(h) != c.waiting[id] || (e.sites != 0) != (len(h) > 0) {
		c.fault("W1: the entry of %v has %d sites in its heap, %d are waiting", e.address(), len(h), c.waiting[id])
	}
	c.checkHeap(e.address().String(), h)
	if (e.state == vacant) != (e.members == 0) {
		c.fault("the entry of %v has %d members, vacant: %v", e.address(), e.members, e.state == vacant)
	}
}

func (c *checker[S]) checkSums() {
	b := c.contents
	if c.states != b.sites.states {
		c.fault("%v sites by state, the counters are %v", c.states, b.sites.states)
	}
	if c.queued != b.items.queued || c.inVisits != b.items.inVisits || c.holders != b.items.holders {
		c.fault("W5: %d items queued, %d in Visits, %d sites with items; the counters are %d, %d, %d", c.queued,
			c.inVisits, c.holders, b.items.queued, b.items.inVisits, b.items.holders)
	}
	if sum := c.weight + int64(c.holders)*siteOverhead; sum != b.items.weight() {
		c.fault("W5: the weight is %d, the counter is %d", sum, b.items.weight())
	}
	if n := b.refill.len(); n != c.listed {
		c.fault("%d sites on the refill list, %d with flagListed", n, c.listed)
	}
	if c.states[Deferred] != b.deferred.len() {
		c.fault("%d sites are deferred, %d in the deferred heap", c.states[Deferred], b.deferred.len())
	}
}

func (c *checker[S]) checkHeap(name string, h dueHeap) {
	for i := 1; i < len(h); i++ {
		if h[i].before(h[(i-1)/arity]) {
			c.fault("W3: heap %s: wrong order at position %d", name, i)
			return
		}
	}
}
