package workbench

import (
	"bytes"
	"hash/maphash"
	"math"
	"net/netip"
	"sync"
	"time"
)

// Workbench holds all sites and says which may be visited. All methods are safe for concurrent use; each holds one
// short mutex, calls nothing foreign while it does unless it says so, and never waits for anything else.
type Workbench[S any] struct {
	opts Options
	seed maphash.Seed

	mu    sync.Mutex
	clock clock

	handles slab[VisitState[S]] // by id
	sites   slab[site[S]]       // by id
	byKey   index
	keys    keys
	states  [stateCount]int

	entries slab[entry]
	places  slab[int32] // of entries in the outer heap, or in that of the vacant; 0 for none. Apart, so that it stays in the CPU's cache
	byAddr  index
	ips     int

	outer   dueHeap // entries with something to do
	vacant  dueHeap // entries without sites whose due time has not passed
	waiting dueHeap // deferred sites
	heaps   slab[dueHeap]
	sitePos posFunc
	ipPos   posFunc

	leaseSeq   uint64
	leases     slab[lease[S]]
	freeQueues []*pathQueue

	queued    int   // items in queues
	inVisits  int   // items in Visits
	itemBytes int64 // what all of them weigh
	holders   int   // sites that have any
	refill    []uint32
	refillAt  int
	warmth    uint32 // what warm read: nobody needs it
	distantAt int    // where in outer the next Distant begins

	evictAt uint32 // the number that Evict looked at last

	history history[S]
}

// New makes an empty bench. It panics if o, with its defaults, does not validate.
func New[S any](o Options) *Workbench[S] {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		panic("BUG: " + err.Error())
	}
	w := &Workbench[S]{opts: o, seed: maphash.MakeSeed()}
	w.sitePos = func(id uint32, pos int32) { w.sites.at(id).pos = pos }
	w.ipPos = func(id uint32, pos int32) { *w.places.at(id) = pos }
	return w
}

// of is the site that a VisitState stands for.
func (w *Workbench[S]) of(vs *VisitState[S]) *site[S] { return w.sites.at(vs.id) }

// Get finds a site by its key, or returns nil.
func (w *Workbench[S]) Get(key []byte) *VisitState[S] {
	hash := maphash.Bytes(w.seed, key)
	w.mu.Lock()
	defer w.mu.Unlock()
	if id := w.find(hash, key); id != 0 {
		w.sites.at(id).flags |= flagUsed
		return w.handles.at(id)
	}
	return nil
}

// find returns the id of the site with this key, or 0.
func (w *Workbench[S]) find(hash uint64, key []byte) uint32 {
	return w.byKey.find(hash, func(id uint32) bool { return bytes.Equal(w.keyOf(w.sites.at(id)), key) })
}

// keyOf borrows a site's key.
func (w *Workbench[S]) keyOf(s *site[S]) []byte { return w.keys.get(s.key, int(s.keyLen)) }

// AppendKey appends a site's key, scheme://authority.
func (w *Workbench[S]) AppendKey(dst []byte, vs *VisitState[S]) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append(dst, w.keyOf(w.of(vs))...)
}

// Addr is the address that a site is placed under, or the zero Addr.
func (w *Workbench[S]) Addr(vs *VisitState[S]) netip.Addr {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.of(vs); s.entry != 0 {
		return w.entries.at(s.entry).address()
	}
	return netip.Addr{}
}

// GetOrAdd finds a site by its key or makes it: a newborn, to be placed once its address is known. It borrows key.
func (w *Workbench[S]) GetOrAdd(key []byte) (vs *VisitState[S], added bool) {
	hash := maphash.Bytes(w.seed, key)
	w.mu.Lock()
	defer w.mu.Unlock()
	if id := w.find(hash, key); id != 0 {
		w.sites.at(id).flags |= flagUsed
		return w.handles.at(id), false
	}
	id := w.sites.take()
	w.add(hash, id, key)
	return w.handles.at(id), true
}

// add makes the site with the given id: a free one.
func (w *Workbench[S]) add(hash uint64, id uint32, key []byte) *site[S] {
	w.sites.reach(id)
	w.handles.reach(id)
	w.handles.at(id).id = id
	w.touchFree(id)
	s := w.sites.at(id)
	s.id, s.due, s.flags = id, noDue, flagUsed
	s.key, s.keyLen = w.keys.add(key), uint16(min(len(key), math.MaxUint16))
	w.byKey.add(hash, id)
	w.states[Newborn]++
	return s
}

// remove takes a site away that is not leased, holds nothing and is not on the refill list. Its number is free.
func (w *Workbench[S]) remove(s *site[S]) {
	id, state, key := s.id, s.state(), w.keyOf(s)
	w.touch(s)
	w.detach(s)
	w.states[state]--
	w.byKey.remove(maphash.Bytes(w.seed, key), id)
	w.keys.drop(s.key)
	*s = site[S]{}
	w.handles.at(id).id = 0
	w.history.left(id)
}

// NextDue is the due time of the head of the outer heap: something can be fetched now if and only if it is not after
// now. The zero time means that it was never fetched from, so it is due at once. False when nothing is on the bench.
func (w *Workbench[S]) NextDue() (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.outer.len() == 0 {
		return time.Time{}, false
	}
	return w.clock.time(w.outer.top().due), true
}

// NextDeferred is when DueDeferred will have something to give. False when no site is deferred.
func (w *Workbench[S]) NextDeferred() (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting.len() == 0 {
		return time.Time{}, false
	}
	return w.clock.time(w.waiting.top().due), true
}

// Any says whether is holds for a site that has items in memory, or waits to be resolved again. Of a leased site it is asked about the Site
// as it was when its Visit went out. is runs under the bench's lock: it must be short and must not call the bench.
func (w *Workbench[S]) Any(is func(*S) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.waiting {
		if is(&w.sites.at(n.id).data) {
			return true
		}
	}
	for _, ip := range w.outer {
		for _, site := range *w.heaps.at(w.entries.at(ip.id).sites) {
			if is(&w.sites.at(site.id).data) {
				return true
			}
		}
	}
	for n := range w.leases.last {
		if l := w.leases.at(n + 1); l.id != 0 {
			s := w.sites.at(l.site)
			if is(&s.data) {
				return true
			}
			if e := w.entries.at(s.entry); e.sites != 0 { // the others of its IP, which is not on the bench
				for _, other := range *w.heaps.at(e.sites) {
					if is(&w.sites.at(other.id).data) {
						return true
					}
				}
			}
		}
	}
	return false
}
