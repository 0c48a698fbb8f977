package workbench

import (
	"encoding/binary"
	"net/netip"
	"sync"
)

// Workbench holds all sites and decides which may be visited. All methods are safe for concurrent use. Each holds one
// mutex for a short time and never waits for anything else. It calls no callback under the mutex unless its comment
// says so.
type Workbench[S any] struct {
	opts     Options
	mu       sync.Mutex
	contents contents[S] // guarded by mu
}

// New returns an empty workbench. It panics if o is not valid after defaults are set.
func New[S any](o Options) *Workbench[S] {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		panic("BUG: " + err.Error())
	}
	w := &Workbench[S]{opts: o}
	w.contents.init(o.PathsPerVisit)
	return w
}

// Get returns the site with the given key, or nil.
func (w *Workbench[S]) Get(key []byte) *VisitState[S] {
	hash := w.contents.sites.hash(key)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.contents.sites.use(hash, key)
}

// AppendKey appends the key of a site, scheme://authority.
func (w *Workbench[S]) AppendKey(dst []byte, vs *VisitState[S]) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	return append(dst, c.sites.keyOf(c.sites.of(vs))...)
}

// Addr returns the address of a site, or the zero Addr if it has none.
func (w *Workbench[S]) Addr(vs *VisitState[S]) netip.Addr {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	if s := c.sites.of(vs); s.entry != 0 {
		return c.ips.at(s.entry).address()
	}
	return netip.Addr{}
}

// GetOrAdd returns the site with the given key. If it is unknown, it is added as an unresolved site, and the caller
// must resolve it. It borrows key.
func (w *Workbench[S]) GetOrAdd(key []byte) (vs *VisitState[S], added bool) {
	hash := w.contents.sites.hash(key)
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	if vs := c.sites.use(hash, key); vs != nil {
		return vs, false
	}
	id := c.sites.records.allocate()
	c.add(hash, id, key)
	return c.sites.handles.at(id), true
}

// Counts is the content of the workbench at one moment.
type Counts struct {
	// Sites is the number of all sites and the sum of the seven states after it. Leased is also the number of Visits
	// that are out.
	Sites, Unresolved, Deferred, Idle, Waiting, Leased, Parked, Dead int
	// IPs counts all entries. OnBench counts those with a waiting site and without a Visit. Vacant counts those without
	// sites, which stay until their due time has passed.
	IPs, OnBench, Vacant int
	// Queued counts the items in queues, InVisits the items in Visits.
	Queued, InVisits int
	// Refill is the number of sites on the refill list.
	Refill int
	// Weight is the memory of all items in bytes. An item in a queue or a Visit counts its bytes, its length field and
	// 8; a site with items counts 96. Sites without items do not count, so the weight without items is 0.
	Weight int64
}

// Counts returns the current counts in O(1).
func (w *Workbench[S]) Counts() Counts {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	n := &c.sites.states
	return Counts{
		Sites: c.sites.count(), Unresolved: n[Unresolved], Deferred: n[Deferred], Idle: n[Idle], Waiting: n[Waiting],
		Leased: n[Leased], Parked: n[Parked], Dead: n[Dead],
		IPs: c.ips.count, OnBench: c.ips.outer.len(), Vacant: c.ips.vacant.len(),
		Queued: c.items.queued, InVisits: c.items.inVisits,
		Refill: c.refill.len(),
		Weight: c.items.weight(),
	}
}

// Snapshot takes a snapshot. The caller must then call Write, WriteChanges or Abandon. It returns ErrSnapshotOpen if
// another snapshot is open.
//
// site appends the encoded form of s to dst. It runs under the lock of the workbench, in any goroutine that needs it,
// and must not call the workbench. For a leased site it gets the Site from before the Visit.
func (w *Workbench[S]) Snapshot(site func(dst []byte, s *S) []byte) (*Snapshot[S], error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	h := &c.history
	if h.open != nil {
		return nil, ErrSnapshotOpen
	}
	step := c.clock.skew - h.skew
	s := &Snapshot[S]{w: w, whole: !h.recording || step > skewMax || step < -skewMax, total: c.sites.count()}
	s.head = binary.AppendVarint(s.head, c.clock.wall())
	s.head = binary.AppendUvarint(s.head, uint64(c.sites.records.last))
	s.head = binary.AppendUvarint(s.head, c.leases.lastID)
	s.capture.encode = site
	h.begin(&s.capture, c.sites.records.last, c.ips.entries.last)
	return s, nil
}
