package workbench

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"
)

// model is the simplest implementation of a workbench: lists that are searched from start to end.
type model struct {
	sites []*mSite // in the order of their ids
	cold  map[string]mCold
	ips   map[netip.Addr]*mIP
	k     int
}

type mIP struct {
	due    time.Time // zero if never visited
	leased bool
}

// mCold is an evicted site: its model and its form.
type mCold struct {
	site mSite
	form string
}

type mSite struct {
	id     int
	key    string
	laid   bool // dead, and SetOnDisk(0, 0) was called since
	at     placement
	addr   netip.Addr
	parked bool
	due    time.Time
	until  time.Time
	queue  []string
	onDisk uint64
	given  bool // returned by Refill
	site   int
	visit  *mVisit
}

type mVisit struct {
	real     Visit[int]
	items    []string
	site     int // as it was when the Visit was acquired
	fronts   int
	kill     bool
	unparked bool
	moveTo   netip.Addr
	updates  int
}

func newModel(k int) *model {
	return &model{ips: make(map[netip.Addr]*mIP), cold: make(map[string]mCold), k: k}
}

// enter adds a site; its id may have been free.
func (m *model) enter(s *mSite) {
	at, taken := slices.BinarySearchFunc(m.sites, s.id, func(s *mSite, id int) int { return s.id - id })
	if taken {
		panic(fmt.Sprint("two sites with the id ", s.id))
	}
	m.sites = slices.Insert(m.sites, at, s)
}

func (m *model) byID(id uint64) *mSite {
	at, _ := slices.BinarySearchFunc(m.sites, int(id), func(s *mSite, id int) int { return s.id - id })
	return m.sites[at]
}

func (m *model) byKey(key string) *mSite {
	for _, s := range m.sites {
		if s.key == key {
			return s
		}
	}
	return nil
}

func (m *model) ip(addr netip.Addr) *mIP {
	if m.ips[addr] == nil {
		m.ips[addr] = &mIP{}
	}
	return m.ips[addr]
}

func (s *mSite) state() State {
	switch {
	case s.at == dead:
		return Dead
	case s.visit != nil:
		return Leased
	case s.at == unplaced:
		return Unresolved
	case s.at == deferred:
		return Deferred
	case s.parked:
		return Parked
	case len(s.queue) > 0:
		return Waiting
	}
	return Idle
}

func (s *mSite) held() int {
	n := len(s.queue)
	if s.visit != nil {
		n += len(s.visit.items)
	}
	return n
}

func (s *mSite) wantsRefill() bool {
	return s.onDisk > 0 && s.at == addressed && !s.parked && s.held() < minItemsInMemory && !s.given
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// next returns the site that Acquire must return next, and its due time.
func (m *model) next() (best *mSite, due time.Time) {
	for _, first := range m.firsts() {
		d := later(first.due, m.ip(first.addr).due)
		if best == nil || d.Before(due) || (d.Equal(due) && first.id < best.id) {
			best, due = first, d
		}
	}
	return best, due
}

// firsts returns the first site of each IP without a Visit.
func (m *model) firsts() map[netip.Addr]*mSite {
	firsts := make(map[netip.Addr]*mSite)
	for _, s := range m.sites {
		if s.state() != Waiting || m.ip(s.addr).leased {
			continue
		}
		if f := firsts[s.addr]; f == nil || s.due.Before(f.due) {
			firsts[s.addr] = s
		}
	}
	return firsts
}

// sweep removes IPs without sites whose due times have passed.
func (m *model) sweep(now time.Time) {
	for addr, ip := range m.ips {
		if !ip.due.After(now) && !slices.ContainsFunc(m.sites, func(s *mSite) bool { return s.addr == addr }) {
			delete(m.ips, addr)
		}
	}
}

func (m *model) lend(s *mSite, v Visit[int]) {
	n := min(m.k, len(s.queue))
	s.visit = &mVisit{real: v, items: slices.Clone(s.queue[:n]), site: s.site}
	s.queue = slices.Clone(s.queue[n:])
	m.ip(s.addr).leased = true
}

func (s *mSite) bury() (dropped []string) {
	dropped = s.queue
	s.laid = s.laid && s.at == dead
	s.queue, s.at, s.addr, s.parked, s.given = nil, dead, netip.Addr{}, false, false
	return dropped
}

// giveBack puts items before the queue, but after the items that PushFront added during the Visit.
func (v *mVisit) giveBack(s *mSite, items []string) {
	s.queue = slices.Insert(slices.Clone(s.queue), v.fronts, items...)
}

func (m *model) release(s *mSite, r Release, unused, front []string) (dropped []string) {
	v := s.visit
	s.visit = nil
	ip := m.ip(s.addr)
	ip.leased = false
	s.due, ip.due = later(s.due, r.SiteDue), later(ip.due, r.IPDue)
	s.site += v.updates
	v.giveBack(s, append(slices.Clone(front), unused...))
	if r.Kill || v.kill {
		return s.bury()
	}
	s.parked = r.Park && !v.unparked
	to := r.Replace
	if !to.IsValid() {
		to = v.moveTo
	}
	switch {
	case to.IsValid() && to != s.addr:
		s.addr = to
		m.ip(to)
	case r.Unresolved:
		s.at, s.addr = unplaced, netip.Addr{}
	}
	s.given = s.given && len(s.queue) > 0
	return nil
}

// restored returns the model after Save and Load.
func (m *model) restored() *model {
	c := newModel(m.k)
	for addr, ip := range m.ips {
		c.ips[addr] = &mIP{due: ip.due}
	}
	c.cold = maps.Clone(m.cold)
	for _, s := range m.sites {
		copied := *s
		copied.laid = s.at == dead && s.onDisk == 0
		copied.queue = slices.Clone(s.queue)
		copied.given = false
		if v := s.visit; v != nil {
			v.giveBack(&copied, v.items)
			copied.site, copied.visit = v.site, nil
		}
		c.sites = append(c.sites, &copied)
	}
	return c
}

// compare returns the differences between workbench and model as an error.
func (m *model) compare(w *Workbench[int]) error {
	if err := w.Check(); err != nil {
		return err
	}
	want := Counts{Sites: len(m.sites)}
	for _, s := range m.sites {
		vs, have := w.contents.sites.handles.at(uint32(s.id)), w.contents.sites.at(uint32(s.id))
		if have.state() != s.state() || w.Site(vs).Addr() != s.addr || w.Site(vs).Queued() != len(s.queue) ||
			w.Site(vs).OnDisk() != s.onDisk {
			return fmt.Errorf(
				"site %d is %v at %v with %d queued, should be %v at %v with %d",
				s.id,
				have.state(),
				w.Site(vs).Addr(),
				w.Site(vs).Queued(),
				s.state(),
				s.addr,
				len(s.queue),
			)
		}
		if string(w.contents.sites.keyOf(have)) != s.key || !w.contents.clock.time(have.due).Equal(s.due) {
			return fmt.Errorf("site %d is %s, due %v; should be %s, due %v", s.id, w.contents.sites.keyOf(have),
				w.contents.clock.time(have.due), s.key, s.due)
		}
		if have.data != s.site && s.visit == nil {
			return fmt.Errorf("site %d carries %d, should carry %d", s.id, have.data, s.site)
		}
		*[]*int{
			&want.Unresolved, &want.Deferred, &want.Idle, &want.Waiting, &want.Leased, &want.Parked, &want.Dead,
		}[s.state()]++
		want.Queued += len(s.queue)
		want.InVisits += s.held() - len(s.queue)
		want.Weight += m.weight(s)
	}
	want.OnBench = len(m.firsts())
	got := w.Counts()
	want.IPs, want.Vacant, want.Refill = got.IPs, got.Vacant, got.Refill
	if got != want {
		return fmt.Errorf("counts are  %+v\nthey should be %+v", got, want)
	}
	best, due := m.next()
	if next, ok := w.DueTimes().Next(); ok != (best != nil) || (ok && !next.Equal(due)) {
		return fmt.Errorf("next due is %v %v, should be %v", next, ok, due)
	}
	even := func(site *int) bool { return *site%2 == 0 }
	if got := w.Listing().Any(even); got != m.any() {
		return fmt.Errorf("that any site has an even number is %v, and should not be", got)
	}
	return nil
}

// any returns what Any must return for even numbers.
func (m *model) any() bool {
	return slices.ContainsFunc(m.sites, func(s *mSite) bool {
		switch s.state() {
		case Waiting, Deferred, Leased:
			return s.site%2 == 0
		default:
			return false
		}
	})
}

func (m *model) weight(s *mSite) (sum int64) {
	items := s.queue
	if s.visit != nil {
		items = append(slices.Clone(items), s.visit.items...)
	}
	for _, item := range items {
		sum += itemWeight(len(item))
	}
	if len(items) > 0 {
		sum += siteOverhead
	}
	return sum
}

// pick returns a random site for which ok is true, or nil.
func (m *model) pick(rng *rand.Rand, ok func(*mSite) bool) *mSite {
	var fit []*mSite
	for _, s := range m.sites {
		if ok(s) {
			fit = append(fit, s)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	return fit[rng.IntN(len(fit))]
}
