package workbench

import (
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

// Any reports whether is returns true for any waiting, leased or deferred site, including the waiting sites of IPs with
// a Visit. For a leased site it gets the Site from before the Visit. is runs under the lock of the workbench: it must
// be short and must not call the workbench.
func (w *Workbench[S]) Any(is func(*S) bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &w.contents
	for _, n := range c.deferred {
		if is(&c.sites.at(n.id).data) {
			return true
		}
	}
	for _, ip := range c.ips.outer {
		for _, site := range *c.ips.heaps.at(c.ips.at(ip.id).sites) {
			if is(&c.sites.at(site.id).data) {
				return true
			}
		}
	}
	for n := range c.leases.leases.last {
		if l := c.leases.at(n + 1); l.id != 0 {
			s := c.sites.at(l.site)
			if is(&s.data) {
				return true
			}
			if e := c.ips.at(s.entry); e.sites != 0 { // the other sites of its IP, which is not in the outer heap
				for _, other := range *c.ips.heaps.at(e.sites) {
					if is(&c.sites.at(other.id).data) {
						return true
					}
				}
			}
		}
	}
	return false
}
