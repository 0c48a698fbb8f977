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

	sites  []*[chunkLen]VisitState[S] // by id-1
	last   uint32                     // the youngest site's id
	byKey  index
	keys   []byte // what is left of the current block of keys
	states [stateCount]int

	entries []*entry[S] // by id; nil where free; [0] is never used
	freeIDs []uint32
	byAddr  index
	ips     int

	outer   dueHeap // entries with something to do
	vacant  dueHeap // entries without sites whose due time has not passed
	waiting dueHeap // deferred sites
	sitePos posFunc
	ipPos   posFunc

	leaseSeq   uint64
	freeLeases []*lease[S]
	freeQueues []*pathQueue

	queued    int   // items in queues
	inVisits  int   // items in Visits
	itemBytes int64 // what all of them weigh
	holders   int   // sites that have any
	refill    []uint32
	refillAt  int
	distantAt int // where in outer the next Distant begins

	cut   *Cut[S] // the snapshot being written, or nil
	epoch uint32
}

const (
	chunkLen    = 256
	keyBlockLen = 32 << 10
)

// New makes an empty bench. It panics if o, with its defaults, does not validate.
func New[S any](o Options) *Workbench[S] {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		panic("BUG: " + err.Error())
	}
	w := &Workbench[S]{opts: o, seed: maphash.MakeSeed(), entries: make([]*entry[S], 1)}
	w.sitePos = func(id uint32, pos int32) { w.site(id).pos = pos }
	w.ipPos = func(id uint32, pos int32) { w.entries[id].pos = pos }
	return w
}

func (w *Workbench[S]) site(id uint32) *VisitState[S] {
	return &w.sites[(id-1)/chunkLen][(id-1)%chunkLen]
}

// Get finds a site by its key, or returns nil.
func (w *Workbench[S]) Get(key []byte) *VisitState[S] {
	hash := maphash.Bytes(w.seed, key)
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.get(hash, key)
}

func (w *Workbench[S]) get(hash uint64, key []byte) *VisitState[S] {
	id := w.byKey.find(hash, func(id uint32) bool { return bytes.Equal(w.site(id).key, key) })
	if id == 0 {
		return nil
	}
	return w.site(id)
}

// GetOrAdd finds a site by its key or makes it: a newborn, to be placed once its address is known. It borrows key.
func (w *Workbench[S]) GetOrAdd(key []byte) (vs *VisitState[S], added bool) {
	hash := maphash.Bytes(w.seed, key)
	w.mu.Lock()
	defer w.mu.Unlock()
	if vs = w.get(hash, key); vs != nil {
		return vs, false
	}
	if w.last == math.MaxUint32 {
		panic("BUG: workbench: more than 2^32 sites")
	}
	return w.add(hash, w.last+1, key), true
}

// add makes the site with the given id: the next one or, while loading, any that is not there yet.
func (w *Workbench[S]) add(hash uint64, id uint32, key []byte) *VisitState[S] {
	w.extend(id)
	vs := w.site(id)
	vs.id, vs.due, vs.epoch = id, noDue, w.epoch
	vs.key = w.keepKey(key)
	w.byKey.add(hash, id)
	w.states[Newborn]++
	return vs
}

// extend makes room for a site with this id.
func (w *Workbench[S]) extend(id uint32) {
	w.last = max(w.last, id)
	k := int((id - 1) / chunkLen)
	if more := k + 1 - len(w.sites); more > 0 {
		w.sites = append(w.sites, make([]*[chunkLen]VisitState[S], more)...)
	}
	if w.sites[k] == nil {
		w.sites[k] = new([chunkLen]VisitState[S])
	}
}

// keepKey copies key into a block shared by many.
func (w *Workbench[S]) keepKey(key []byte) []byte {
	if len(key) > keyBlockLen/16 {
		return bytes.Clone(key)
	}
	if cap(w.keys)-len(w.keys) < len(key) {
		w.keys = make([]byte, 0, keyBlockLen)
	}
	from := len(w.keys)
	w.keys = append(w.keys, key...)
	return w.keys[from:len(w.keys):len(w.keys)]
}

func (w *Workbench[S]) findEntry(addr netip.Addr) (hash uint64, e *entry[S]) {
	hash = maphash.Comparable(w.seed, addr)
	id := w.byAddr.find(hash, func(id uint32) bool { return w.entries[id].addr == addr })
	return hash, w.entries[id]
}

// entryOf finds or makes the entry of an address.
func (w *Workbench[S]) entryOf(addr netip.Addr) *entry[S] {
	hash, e := w.findEntry(addr)
	if e != nil {
		return e
	}
	e = &entry[S]{addr: addr, due: noDue, epoch: w.epoch}
	if n := len(w.freeIDs); n > 0 {
		e.id, w.freeIDs = w.freeIDs[n-1], w.freeIDs[:n-1]
		w.entries[e.id] = e
	} else {
		e.id = uint32(len(w.entries))
		w.entries = append(w.entries, e)
	}
	w.byAddr.add(hash, e.id)
	w.ips++
	return e
}

// dropEntry forgets an entry that nothing points to.
func (w *Workbench[S]) dropEntry(e *entry[S]) {
	w.byAddr.remove(maphash.Comparable(w.seed, e.addr), e.id)
	w.entries[e.id] = nil
	w.freeIDs = append(w.freeIDs, e.id)
	w.ips--
}

// sweep forgets vacant entries whose due time has passed: a few per call, so that no caller pays for all.
func (w *Workbench[S]) sweep(now int64) {
	for range 64 {
		if len(w.vacant) == 0 || w.vacant[0].due > now {
			return
		}
		e := w.entries[w.vacant[0].id]
		w.touchEntry(e)
		w.vacant.remove(e.pos, w.ipPos)
		w.dropEntry(e)
	}
}

// NextDue is the due time of the head of the outer heap: something can be fetched now if and only if it is not after
// now. The zero time means that it was never fetched from, so it is due at once. False when nothing is on the bench.
func (w *Workbench[S]) NextDue() (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.outer) == 0 {
		return time.Time{}, false
	}
	return w.clock.time(w.outer[0].due), true
}

// NextDeferred is when DueDeferred will have something to give. False when no site is deferred.
func (w *Workbench[S]) NextDeferred() (time.Time, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.waiting) == 0 {
		return time.Time{}, false
	}
	return w.clock.time(w.waiting[0].due), true
}

// Soon says whether anything can come of the bench until limit: a Visit is out, a site wants a refill, or something is
// due by then, on the bench or deferred. A Waiting site that is worth the wait counts however late it is due; worth is
// called under the lock, and only if nothing else is soon. All of it is one look: sites go round.
func (w *Workbench[S]) Soon(limit time.Time, worth func(*S) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	until := w.clock.offset(limit)
	switch {
	case w.states[Leased] > 0, w.refillAt < len(w.refill):
		return true
	case len(w.outer) > 0 && w.outer[0].due <= until, len(w.waiting) > 0 && w.waiting[0].due <= until:
		return true
	}
	for _, ip := range w.outer {
		for _, site := range w.entries[ip.id].sites {
			if worth(&w.site(site.id).Site) {
				return true
			}
		}
	}
	return false
}
