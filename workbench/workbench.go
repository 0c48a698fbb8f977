package workbench

import (
	"encoding/binary"
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
	w.contents.items.urgentFlags = o.UrgentFlags
	return w
}

// Get returns the site with the given key, or nil.
func (w *Workbench[S]) Get(key []byte) *VisitState[S] {
	hash := w.contents.sites.hash(key)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.contents.sites.use(hash, key)
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

// getGroup is the most keys of one GetAll.
const getGroup = 16

// GetAll appends the sites with the given keys to dst, nil for an unknown one. It does so for up to 16 keys: their data
// is usually not in the CPU's cache, and reading the places of many sites together takes hardly longer than those of a
// single one. A Push to these sites then finds them in the cache. It borrows keys.
func (w *Workbench[S]) GetAll(keys [][]byte, dst []*VisitState[S]) []*VisitState[S] {
	var hashes [getGroup]uint64
	keys = keys[:min(len(keys), getGroup)]
	for i, key := range keys {
		hashes[i] = w.contents.sites.hash(key)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.contents.prefetchSites(hashes[:len(keys)])
	for i, key := range keys {
		dst = append(dst, w.contents.sites.use(hashes[i], key))
	}
	return dst
}

// PushWithin is Push, if the site has room for the item: fewer items of its class in memory than most, and no item on
// disk unless the item is urgent. On a full workbench the limit is mostFull: see Memory.Full. hasRoom says whether the
// site had room, and pushed is the result of Push.
func (w *Workbench[S]) PushWithin(vs *VisitState[S], item []byte, most, mostFull int) (hasRoom, pushed bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	s := c.sites.of(vs)
	if c.items.weight() >= w.opts.MemoryMax {
		most = mostFull
	}
	if isUrgent(item, c.items.urgentFlags) {
		hasRoom = s.urgent() < most
	} else {
		hasRoom = s.onDisk == 0 && s.queued() < most
	}
	return hasRoom, hasRoom && c.pushItem(s, item, (*itemQueue).PushBack)
}

// Push appends an item to the queue of a site. It borrows item. If the site is dead, or a Kill waits for its Release,
// it does nothing and returns false.
func (w *Workbench[S]) Push(vs *VisitState[S], item []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	return c.pushItem(c.sites.of(vs), item, (*itemQueue).PushBack)
}

// PushFront puts an item before all others of the site: a retry, a redirect or a robots.txt. The item that was pushed
// last leaves first. It borrows item. Like Push, it returns false for a dead site.
func (w *Workbench[S]) PushFront(vs *VisitState[S], item []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	s := c.sites.of(vs)
	ok := c.pushItem(s, item, (*itemQueue).PushFront)
	if l := c.leaseOf(s); l != nil && ok {
		l.frontPushes++
	}
	return ok
}

// Site returns access to one site.
func (w *Workbench[S]) Site(vs *VisitState[S]) Site[S] { return Site[S]{w, vs} }

// Listing returns access to all sites.
func (w *Workbench[S]) Listing() Listing[S] { return Listing[S]{w} }

// DueTimes returns access to the due times of all sites. For those of one site see Site.
func (w *Workbench[S]) DueTimes() DueTimes[S] { return DueTimes[S]{w} }

// Memory returns access to what bounds the memory of the workbench.
func (w *Workbench[S]) Memory() Memory[S] { return Memory[S]{w} }

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
	// Urgent counts the urgent items in queues.
	Urgent int
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
		Queued: c.items.queued, InVisits: c.items.inVisits, Urgent: c.items.urgent,
		Refill: c.refill.len(),
		Weight: c.items.weight(),
	}
}

// Snapshot takes a snapshot. The caller must then call Write, WriteChanges or Abandon. It returns ErrSnapshotOpen if
// another snapshot is open.
//
// site appends the encoded form of s to dst. It runs under the lock of the workbench, in any goroutine that needs it,
// and must not call the workbench. For a leased site it gets the data from before the Visit.
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
	h.begin(&s.capture, c.sites.records.last, c.ips.last)
	return s, nil
}

// Check verifies all data structures and returns the broken promises as a joined error, or nil. It holds the lock for
// O(everything), so it is for tests and fsck.
func (w *Workbench[S]) Check() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := checker[S]{contents: &w.contents, members: make(map[uint32]int32), waiting: make(map[uint32]int)}
	return c.check()
}
