package visit

import (
	"bytes"
	"maps"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/internal/urlx"
)

// Shares keeps fetch workers free for sites that answer promptly: see docs/adr/0064-slow-hosts-get-a-share.md. There
// are three classes of Visits.
//
//   - Slow: an exchange with the address took longer than slowFrom, not long ago.
//   - New: the site has served no page yet. It counts as slow if another host of its domain does.
//   - Prompt: all others.
//
// Slow and new Visits together hold at most seven of eight workers, and slow ones six. So the wait of a prompt site
// does not depend on the number of slow ones, and a new site need not wait behind all of them. All that is
// known is in memory, and expires.
//
// The Feeder calls Divide, Hold and NextHeld, the code that ends a Visit calls GiveBack, and a fetch worker calls
// NoteExchange.
type Shares struct {
	domainOf func(host []byte) []byte
	out      [classes]atomic.Int64    // Visits of each class
	newMost  atomic.Int64             // new and slow Visits that may be out
	waiting  [heldQueues]atomic.Int64 // sites in held, about

	held [heldQueues]heldSites // that wait for a worker; the Feeder's
	turn uint64                // of NextHeld

	mu      sync.Mutex
	addrs   map[netip.Addr]slowness
	domains map[string]slowness // of the new sites of a domain
}

// The classes of Visits: see Shares.
const (
	promptClass uint8 = iota
	newClass
	slowClass
	classes
)

// The queues of sites that wait, in the order in which they are asked. A new site that has answered comes before those
// that have not: else no page would come before every robots.txt. One in otherTurn is of the others, since a site that
// has no page stays new. Slow ones have a share of their own.
const (
	answeredNew = iota
	otherNew
	slowOnes
	heldQueues
)

const otherTurn = 4

// queueOf returns the queue in which a Visit waits.
func queueOf(v *Visit) int {
	switch {
	case v.Class == slowClass:
		return slowOnes
	case v.Site.HasAnswered:
		return answeredNew
	default:
		return otherNew
	}
}

const (
	slowFrom = 5 * time.Second // an exchange that takes longer makes its address slow
	// slowFactor: an address is slow for so many times as long as the exchange took, within slowLeast and slowMost, and
	// for twice as long as before if it was slow not long ago. So hosts that are prompt by turns hold the workers of the
	// prompt ones for a small part of the time.
	slowFactor  = 64
	slowLeast   = time.Hour
	slowMost    = 24 * time.Hour
	newTimeMost = 20 * time.Second // see TimeLimit
	slowPlaces  = 1 << 15          // addresses, and domains, that can be slow at the same time
	shareParts  = 8                // one of so many workers is kept for each better class
)

// NewShares returns shares without a slow address. domainOf returns the registrable domain of a host.
func NewShares(domainOf func(host []byte) []byte) *Shares {
	return &Shares{domainOf: domainOf, addrs: map[netip.Addr]slowness{}, domains: map[string]slowness{}}
}

// NoteExchange notes how long an exchange of a Visit took.
func (s *Shares) NoteExchange(v *Visit, began, ended time.Time) {
	took := ended.Sub(began)
	if took <= slowFrom {
		return
	}
	long := min(max(took*slowFactor, slowLeast), slowMost)
	s.mu.Lock()
	defer s.mu.Unlock()
	addPlace(s.addrs, v.Addr, ended, long)
	addPlace(s.domains, string(s.domainOf(urlx.Host(v.Key))), ended, long)
}

// slowness says for how long an address, or a domain, is slow.
type slowness struct {
	until time.Time
	long  time.Duration
}

// addPlace adds a slow place. If there are too many, those that have expired are removed, and then the next ones at
// hand.
func addPlace[K comparable](places map[K]slowness, place K, now time.Time, long time.Duration) {
	before, isKnown := places[place]
	switch since := now.Sub(before.until); {
	case isKnown && since < 0: // this exchange began in the share of the slow ones, or at the same time as another
		long = max(long, before.long)
	case isKnown && since < before.long:
		long = max(long, min(2*before.long, slowMost))
	case !isKnown && len(places) == slowPlaces:
		makeRoom(places, now)
	}
	places[place] = slowness{now.Add(long), long}
}

// makeRoom removes an eighth of the places at least.
func makeRoom[K comparable](places map[K]slowness, now time.Time) {
	maps.DeleteFunc(places, func(_ K, s slowness) bool { return !s.until.After(now) })
	for p := range places {
		if len(places) <= slowPlaces*7/8 {
			return
		}
		delete(places, p)
	}
}

// Divide moves the Visits for which there is no worker in their share to the end, and returns how many others there
// are. active is the number of fetch workers that may be active. The others count as out until GiveBack.
func (s *Shares) Divide(visits []Visit, active int, now time.Time) (kept int) {
	s.newMost.Store(int64(active - reserveOf(active)))
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range visits {
		v := &visits[i]
		if v.Class = s.classOf(v, now); s.mayGo(v.Class, active) {
			s.out[v.Class].Add(1)
			visits[kept], visits[i] = visits[i], visits[kept]
			kept++
		}
	}
	return kept
}

// classOf returns the class of a Visit. The caller holds mu.
func (s *Shares) classOf(v *Visit, now time.Time) uint8 {
	if len(s.addrs) > 0 && s.addrs[v.Addr].until.After(now) {
		return slowClass
	}
	switch {
	case v.Site.Stored > 0:
		return promptClass
	case len(s.domains) > 0 && s.domains[string(s.domainOf(urlx.Host(v.Key)))].until.After(now):
		return slowClass
	default:
		return newClass
	}
}

// mayGo reports whether one more Visit of a class may be out.
func (s *Shares) mayGo(class uint8, active int) bool {
	return class == promptClass || s.room(class, active) > 0
}

// room returns how many more Visits of a class that has a share may be out.
func (s *Shares) room(class uint8, active int) int64 {
	reserve := reserveOf(active)
	slow := s.out[slowClass].Load()
	room := int64(active-reserve) - slow - s.out[newClass].Load()
	if class == slowClass {
		room = min(room, int64(max(active-2*reserve, 1))-slow)
	}
	return room
}

// reserveOf returns how many of the active workers are kept for each better class. A single worker serves all.
func reserveOf(active int) int {
	if active < 2 {
		return 0
	}
	return (active + shareParts - 1) / shareParts
}

// PromptRoom returns how many Visits of prompt sites may be out more, though others hold all active workers.
func (s *Shares) PromptRoom(active int) int {
	return reserveOf(active) - int(s.out[promptClass].Load())
}

// Hold notes a Visit that must wait for a worker. It returns when the site is due again if NextHeld does not give it
// first.
func (s *Shares) Hold(v *Visit, now time.Time) (siteDue time.Time) {
	h := HeldSite{Key: bytes.Clone(v.Key), Due: now, Until: now.Add(heldMost)}
	queue := queueOf(v)
	s.held[queue].add(h, now)
	s.waiting[queue].Store(int64(s.held[queue].len()))
	return h.Until
}

// NextHeld returns the site that has waited longest in a queue for which there is a worker now, if taken more Visits
// were out.
func (s *Shares) NextHeld(active, taken int, now time.Time) (h HeldSite, ok bool) {
	if s.room(newClass, active) > int64(taken) {
		first, second := answeredNew, otherNew
		if s.turn++; s.turn%otherTurn == 0 {
			first, second = second, first
		}
		if h, ok = s.next(first, now); !ok {
			h, ok = s.next(second, now)
		}
	}
	if !ok && s.room(slowClass, active) > int64(taken) {
		h, ok = s.next(slowOnes, now)
	}
	return h, ok
}

// next removes the site that has waited longest in a queue.
func (s *Shares) next(queue int, now time.Time) (h HeldSite, ok bool) {
	h, ok = s.held[queue].next(now)
	s.waiting[queue].Store(int64(s.held[queue].len()))
	return h, ok
}

// NewWaiting returns how many new sites wait for a worker, about.
func (s *Shares) NewWaiting() int {
	return int(s.waiting[answeredNew].Load() + s.waiting[otherNew].Load())
}

// Waiting returns how many new and slow sites wait for a worker, about.
func (s *Shares) Waiting() int { return s.NewWaiting() + int(s.waiting[slowOnes].Load()) }

// TimeLimit returns how long an exchange of a Visit may take before its worker is wanted for others; 0 for no limit.
// It limits those with new sites while they hold more than half of their share. Such an exchange is repeated in the
// share of slow Visits, which have all their time.
func (s *Shares) TimeLimit(v *Visit) time.Duration {
	if v.Class != newClass || s.out[newClass].Load()+s.out[slowClass].Load() <= max(s.newMost.Load()/2, 1) {
		return 0
	}
	return newTimeMost
}

// GiveBack ends a Visit of a class.
func (s *Shares) GiveBack(class uint8) { s.out[class].Add(-1) }
