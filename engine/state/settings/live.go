package settings

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/net/bandwidth"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/wall"
	"orbweaver/engine/state/queued"
)

// Live holds settings that the loops read for each URL and that may change while a crawl runs. It is safe for
// concurrent use.
type Live struct {
	policy atomic.Pointer[politeness.Policy]
	bounds atomic.Pointer[Bounds]
	turn   sync.Mutex // held while one of them changes: each change starts from the value before
	Hosts  *HostRules
	Fetch  atomic.Pointer[filter.Fetch] // nil if it refuses nothing
	Lists  atomic.Pointer[filter.Lists] // nil if no list refuses anything
	// Exchanges are the limits of exchanges; nil while they are those of the start. A worker notices a new pointer.
	Exchanges atomic.Pointer[ExchangeLimits]
	// Admits checks queued URLs once more; nil while the rules of admission are those under which all were queued.
	Admits atomic.Pointer[AdmissionCheck]

	Bandwidth *bandwidth.Limits
	Walls     atomic.Pointer[wall.Table] // never nil
}

// AdmissionCheck reports whether a queued URL would be admitted now. It borrows its arguments.
type AdmissionCheck func(url []byte, it *queued.URL) bool

// Bounds limit what is done for one site.
type Bounds struct {
	MaxPerHost int           // pages stored from a site, unless a host rule says otherwise; 0 for no limit
	GiveUp     time.Duration // a site that answered before is given up after failing this long
	StallWait  time.Duration // the crawl waits this long if all sites with queued URLs fail; 0 or less: not at all
}

// ExchangeLimits limit one exchange: see fetch.Options.
type ExchangeLimits struct {
	Connect, Response, Exchange, Slow time.Duration
	BodyMax                           int64 // bytes
}

// NewLive returns settings without bounds and without filters.
func NewLive(p politeness.Policy, hosts *HostRules) *Live {
	l := &Live{Hosts: hosts, Bandwidth: bandwidth.Unlimited()}
	l.policy.Store(&p)
	l.bounds.Store(new(Bounds))
	l.Walls.Store(wall.BuiltIn())
	return l
}

// Policy returns the policy in force.
func (l *Live) Policy() *politeness.Policy { return l.policy.Load() }

// Bounds returns the bounds in force.
func (l *Live) Bounds() *Bounds { return l.bounds.Load() }

// ChangePolicy changes the policy for all exchanges that end from now on.
func (l *Live) ChangePolicy(change func(*politeness.Policy)) {
	l.turn.Lock()
	defer l.turn.Unlock()
	p := *l.policy.Load()
	change(&p)
	l.policy.Store(&p)
}

// ChangeBounds changes the bounds.
func (l *Live) ChangeBounds(change func(*Bounds)) {
	l.turn.Lock()
	defer l.turn.Unlock()
	b := *l.bounds.Load()
	change(&b)
	l.bounds.Store(&b)
}

// SiteDelay is the least time between two requests to a site whose robots.txt asks for crawlDelay.
func (l *Live) SiteDelay(site []byte, crawlDelay time.Duration) time.Duration {
	t := l.Hosts.Terms(site)
	return l.Policy().SiteDelay(t.Delay(), crawlDelay)
}

// AddrDelay is the least time between two requests to an address, or to a group of hosts, whose address key is given.
func (l *Live) AddrDelay(key netip.Addr) time.Duration {
	return max(l.Policy().IPDelay, l.Hosts.Groups()[key].Delay)
}

// FetchErrors counts the evaluations of the fetch filter in force that failed.
func (l *Live) FetchErrors() int64 {
	if f := l.Fetch.Load(); f != nil {
		return int64(f.Errors())
	}
	return 0
}

// Passes reports whether neither the rules of admission, if they have changed, nor the lists nor the fetch filter in
// force refuse a queued URL. It borrows its arguments.
func (l *Live) Passes(url []byte, it *queued.URL) bool {
	if lists := l.Lists.Load(); lists != nil && lists.Refuses(url) != filter.NoList {
		return false
	}
	f := l.Fetch.Load()
	if f != nil &&
		!f.Allows(url, filter.Way{Depth: it.Depth, Embeds: it.Embeds, Hops: it.Redirects}, it.Tries, it.Via) {
		return false
	}
	admits := l.Admits.Load()
	return admits == nil || (*admits)(url, it)
}
