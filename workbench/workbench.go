package workbench

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// Workbench holds all sites and decides which may be visited. All methods are safe for concurrent use. Each holds one
// mutex for a short time and never waits for anything else. It calls no callback under the mutex unless its comment
// says so.
type Workbench[S any] struct {
	opts Options

	mu      sync.Mutex
	clock   clock
	sites   siteTable[S]
	ips     ipTable[S]
	waiting dueHeap // deferred sites

	leases      leaseTable[S]
	items       itemStore
	refill      refillList
	prefetchSum uint32 // result of prefetch, so that the compiler keeps its reads
	candidateAt int    // position in outer where the next UnloadCandidates starts

	evictAt uint32 // number of the last site that Evict examined

	history history[S]
}

// New returns an empty workbench. It panics if o is not valid after defaults are set.
func New[S any](o Options) *Workbench[S] {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		panic("BUG: " + err.Error())
	}
	w := &Workbench[S]{opts: o}
	w.sites.seed, w.ips.seed = maphash.MakeSeed(), maphash.MakeSeed()
	w.ips.setPlace = func(id uint32, pos int32) { *w.ips.places.at(id) = pos }
	w.ips.setSitePos = func(id uint32, pos int32) { w.sites.at(id).pos = pos }
	w.ips.history = &w.history
	return w
}

// Get returns the site with the given key, or nil.
func (w *Workbench[S]) Get(key []byte) *VisitState[S] {
	hash := w.sites.hash(key)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sites.use(hash, key)
}

// AppendKey appends the key of a site, scheme://authority.
func (w *Workbench[S]) AppendKey(dst []byte, vs *VisitState[S]) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append(dst, w.sites.keyOf(w.sites.of(vs))...)
}

// Addr returns the address of a site, or the zero Addr if it has none.
func (w *Workbench[S]) Addr(vs *VisitState[S]) netip.Addr {
	w.mu.Lock()
	defer w.mu.Unlock()
	if s := w.sites.of(vs); s.entry != 0 {
		return w.ips.at(s.entry).address()
	}
	return netip.Addr{}
}

// GetOrAdd returns the site with the given key. If it is unknown, it is added as an unresolved site, and the caller
// must resolve it. It borrows key.
func (w *Workbench[S]) GetOrAdd(key []byte) (vs *VisitState[S], added bool) {
	hash := w.sites.hash(key)
	w.mu.Lock()
	defer w.mu.Unlock()
	if vs := w.sites.use(hash, key); vs != nil {
		return vs, false
	}
	id := w.sites.records.allocate()
	w.add(hash, id, key)
	return w.sites.handles.at(id), true
}

// add creates the site with the given free id.
func (w *Workbench[S]) add(hash uint64, id uint32, key []byte) *site[S] {
	w.history.noteAdded(id)
	return w.sites.add(hash, id, key)
}

// remove removes a site. The site must not be leased, have items, or be on the refill list.
func (w *Workbench[S]) remove(s *site[S]) {
	id, state := s.id, s.state()
	w.touch(s)
	w.detach(s)
	w.sites.remove(s, state)
	w.history.noteEvicted(id)
}

// detach removes a site that is not leased from its entry or from the deferred sites. The caller must then call
// reconcile.
func (w *Workbench[S]) detach(s *site[S]) {
	if s.placement == deferred {
		w.waiting.remove(s.pos, w.ips.setSitePos)
	}
	if s.entry != 0 {
		w.ips.detach(s)
	}
	s.placement = unplaced
}

// NextDue returns the due time of the first entry of the outer heap. A site can be fetched now if and only if this time
// is not after now. The zero time means that the site was never visited and is due at once. The result is false if no
// site is waiting.
func (w *Workbench[S]) NextDue() (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ips.outer.len() == 0 {
		return time.Time{}, false
	}
	return w.clock.time(w.ips.outer.top().due), true
}

// NextDeferred returns the time from which DueDeferred returns a site. The result is false if no site is deferred.
func (w *Workbench[S]) NextDeferred() (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.waiting.len() == 0 {
		return time.Time{}, false
	}
	return w.clock.time(w.waiting.top().due), true
}

// Any reports whether is returns true for any waiting, leased or deferred site, including the waiting sites of IPs with
// a Visit. For a leased site it gets the Site from before the Visit. is runs under the lock of the workbench: it must
// be short and must not call the workbench.
func (w *Workbench[S]) Any(is func(*S) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.waiting {
		if is(&w.sites.at(n.id).data) {
			return true
		}
	}
	for _, ip := range w.ips.outer {
		for _, site := range *w.ips.heaps.at(w.ips.at(ip.id).sites) {
			if is(&w.sites.at(site.id).data) {
				return true
			}
		}
	}
	for n := range w.leases.leases.last {
		if l := w.leases.at(n + 1); l.id != 0 {
			s := w.sites.at(l.site)
			if is(&s.data) {
				return true
			}
			if e := w.ips.at(s.entry); e.sites != 0 { // the other sites of its IP, which is not in the outer heap
				for _, other := range *w.ips.heaps.at(e.sites) {
					if is(&w.sites.at(other.id).data) {
						return true
					}
				}
			}
		}
	}
	return false
}
