package fetch

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/net/bandwidth"
)

// IdleConns stores persistent connections between two exchanges with the same site, so that the second needs no connect
// and no handshake (RFC 9112, section 9.3). Any number of Fetchers share it. Number and time are limited: above the
// number, no other is stored, since those that wait are needed first. It has no effect on politeness.
//
// A server need not say how long it keeps a connection. If one was useless after some time, none is stored for a
// request that comes after half of it or more.
//
// It starts no goroutine; one timer closes expired connections. It is safe for concurrent use.
type IdleConns struct {
	idle     time.Duration
	connsMax int

	mu     sync.Mutex // guards the fields below; held for a few instructions
	sites  map[siteOf]*idleConn
	ofAddr map[netip.AddrPort]int   // connections to an address
	useful map[siteOf]time.Duration // for how long connections are, where one was useless; up to connsMax
	oldest *idleConn
	newest *idleConn
	free   *idleConn // unused idleConn values, linked by newer
	stats  IdleConnStats
	timer  *time.Timer // runs while any connection is stored, and once more
	timing bool        // the timer runs
	ended  bool

	expiring sync.WaitGroup // one while the timer runs, and until expire ends: Close waits for it
}

// IdleConnStats are the counters of an IdleConns.
type IdleConnStats struct {
	Held    int    // connections stored now
	Reused  uint64 // connections used for another exchange
	Stale   uint64 // connections that the server had closed, or on which unexpected bytes came
	Expired uint64 // connections closed after their time
	Evicted uint64 // connections not stored because there were too many, or closed because descriptors were short
}

// siteOf says for which requests a connection can be used. Through a proxy, plain requests to all sites share one.
type siteOf struct {
	addr netip.AddrPort // connected to
	name xxh3.Uint128   // hash of scheme, authority and what is offered; zero for plain requests through a proxy
}

// link is a connection as a Fetcher uses it.
type link struct {
	raw    net.Conn         // what was dialled
	conn   net.Conn         // raw, or TLS over it
	meter  *bandwidth.Meter // counts what TLS receives, if isMetered
	facts  TLSFacts
	secure bool          // facts hold
	stored time.Time     // when, the last time
	idle   time.Duration // how long it then waited for this exchange

	isMetered bool
}

// idleConn is a connection that is not in use.
type idleConn struct {
	link
	site         siteOf
	until        time.Time
	older, newer *idleConn // neighbours among all connections
	below, above *idleConn // neighbours of the same site
}

// NewIdleConns returns an empty IdleConns for at most most connections, each stored for at most idle. It panics unless
// both are positive.
func NewIdleConns(idle time.Duration, most int) *IdleConns {
	if idle <= 0 || most <= 0 {
		panic("BUG: fetch: a Keep that may hold nothing")
	}
	return &IdleConns{
		idle: idle, connsMax: most, sites: map[siteOf]*idleConn{}, ofAddr: map[netip.AddrPort]int{},
		useful: map[siteOf]time.Duration{},
	}
}

// Close closes all connections, and later every one that is returned.
func (k *IdleConns) Close() {
	k.mu.Lock()
	k.ended = true
	if k.timer != nil && k.timer.Stop() {
		k.expiring.Done()
	}
	all := k.removeWhileLocked(func(*idleConn) bool { return true })
	k.mu.Unlock()
	closeAll(all)
	k.expiring.Wait()
}

// Stats returns the counters.
func (k *IdleConns) Stats() IdleConnStats {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stats
}

// takeConn returns the connection to a site that was used last, if there is one.
func (k *IdleConns) takeConn(site siteOf) (link, bool) {
	k.mu.Lock()
	c := k.sites[site]
	if c == nil {
		k.mu.Unlock()
		return link{}, false
	}
	k.removeLocked(c)
	now := time.Now()
	l, late := c.link, !now.Before(c.until)
	l.idle = now.Sub(l.stored)
	if late {
		k.stats.Expired++
	} else {
		k.stats.Reused++
	}
	*c = idleConn{newer: k.free}
	k.free = c
	k.mu.Unlock()
	if late {
		_ = l.raw.Close() // it is not needed any more
		return k.takeConn(site)
	}
	return l, true
}

// stale notes that a connection to a site was useless.
func (k *IdleConns) stale(site siteOf, l *link) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.stats.Reused--
	k.stats.Stale++
	before, isKnown := k.useful[site]
	switch {
	case isKnown:
		k.useful[site] = min(before, l.idle/2)
	case len(k.useful) < k.connsMax:
		k.useful[site] = l.idle / 2
	}
}

// addrConnsMax is the most connections to one address that wait: as many as browsers have to one host. A server may
// need a process for each.
const addrConnsMax = 6

// keepsFor reports whether a connection to a site would be stored that is needed again after a time, and used then: it
// is kept for as long, also by its server as far as is known, and there is room. A negative time is that of no request.
// ofAddr is the most connections to the address of the site.
func (k *IdleConns) keepsFor(site siteOf, next time.Duration, ofAddr int) bool {
	if next < 0 || next >= k.idle {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	most, isKnown := k.useful[site]
	return k.stats.Held < k.connsMax && k.ofAddr[site.addr] < ofAddr && (!isKnown || next < most)
}

// put stores a connection, at most for idle, and for allowed if that is positive and shorter. It takes the connection.
func (k *IdleConns) put(site siteOf, l link, allowed time.Duration) {
	idle := k.idle
	if allowed > 0 {
		idle = min(idle, allowed)
	}
	now := time.Now()
	l.stored = now
	k.mu.Lock()
	var gone []*idleConn
	if k.stats.Held == k.connsMax {
		gone = k.removeExpiredLocked(now)
	}
	isStored := !k.ended && k.stats.Held < k.connsMax
	switch {
	case isStored:
		k.storeLocked(site, l, now.Add(idle))
		if !k.timing {
			k.startTimer(idle)
		}
	case !k.ended:
		k.stats.Evicted++
	}
	k.mu.Unlock()
	if !isStored {
		_ = l.raw.Close() // nothing was left to write
	}
	closeAll(gone)
}

// storeLocked stores a connection as the newest one.
func (k *IdleConns) storeLocked(site siteOf, l link, until time.Time) {
	c := k.free
	if c == nil {
		c = new(idleConn)
	}
	k.free = c.newer
	*c = idleConn{link: l, site: site, until: until}
	k.add(c)
}

// shed closes half of the connections, for a machine that lacks descriptors or ports.
func (k *IdleConns) shed() {
	k.mu.Lock()
	least := k.stats.Held / 2
	gone := k.removeWhileLocked(func(*idleConn) bool { return k.stats.Held > least })
	k.stats.Evicted += uint64(len(gone))
	k.mu.Unlock()
	closeAll(gone)
}

// startTimer starts the timer, which does not run. The caller holds mu.
func (k *IdleConns) startTimer(d time.Duration) {
	k.timing = true
	k.expiring.Add(1)
	if k.timer == nil {
		k.timer = time.AfterFunc(d, k.expire)
		return
	}
	k.timer.Reset(d)
}

// expire closes expired connections.
func (k *IdleConns) expire() {
	defer k.expiring.Done()
	now := time.Now()
	k.mu.Lock()
	k.timing = false
	gone := k.removeExpiredLocked(now)
	if k.oldest != nil && !k.ended {
		k.startTimer(k.oldest.until.Sub(now))
	}
	k.mu.Unlock()
	closeAll(gone)
}

// removeExpiredLocked removes connections that have waited for long enough, up to the first that has not.
func (k *IdleConns) removeExpiredLocked(now time.Time) (gone []*idleConn) {
	gone = k.removeWhileLocked(func(c *idleConn) bool { return !c.until.After(now) })
	k.stats.Expired += uint64(len(gone))
	return gone
}

// removeWhileLocked removes the oldest connections while goes returns true.
func (k *IdleConns) removeWhileLocked(goes func(*idleConn) bool) (gone []*idleConn) {
	for k.oldest != nil && goes(k.oldest) {
		gone = append(gone, k.oldest)
		k.removeLocked(k.oldest)
	}
	return gone
}

func closeAll(gone []*idleConn) {
	for _, c := range gone {
		_ = c.raw.Close() // nothing was left to write
	}
}

// add adds a connection as the newest one.
func (k *IdleConns) add(c *idleConn) {
	c.older = k.newest
	if c.older == nil {
		k.oldest = c
	} else {
		c.older.newer = c
	}
	k.newest = c
	if c.below = k.sites[c.site]; c.below != nil {
		c.below.above = c
	}
	k.sites[c.site] = c
	k.ofAddr[c.site.addr]++
	k.stats.Held++
}

// removeLocked removes a connection.
func (k *IdleConns) removeLocked(c *idleConn) {
	if c.older == nil {
		k.oldest = c.newer
	} else {
		c.older.newer = c.newer
	}
	if c.newer == nil {
		k.newest = c.older
	} else {
		c.newer.older = c.older
	}
	if c.below != nil {
		c.below.above = c.above
	}
	switch {
	case c.above != nil:
		c.above.below = c.below
	case c.below != nil:
		k.sites[c.site] = c.below
	default:
		delete(k.sites, c.site)
	}
	c.older, c.newer, c.below, c.above = nil, nil, nil, nil
	k.stats.Held--
	if k.ofAddr[c.site.addr]--; k.ofAddr[c.site.addr] == 0 {
		delete(k.ofAddr, c.site.addr)
	}
}
