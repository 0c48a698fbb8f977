package fetch

import (
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/zeebo/xxh3"
)

// Keep holds connections between two exchanges with the same site, so that the second need not connect, nor shake hands (RFC 9112,
// section 9.3). Fetchers of any number of goroutines share one. What it holds is bounded in number and in time: beyond the number the
// connection that has waited longest is closed. It decides nothing about politeness: who asks is as free or as bound as without it.
//
// It starts no goroutine; one timer closes what has waited for too long.
type Keep struct {
	idle time.Duration
	most int

	mu     sync.Mutex // guards what follows; held for a few instructions
	sites  map[siteOf]*kept
	oldest *kept
	newest *kept
	free   *kept // not in use, one behind the other by newer
	stats  KeepStats
	timer  *time.Timer // runs while anything is held, and then once more
	timing bool        // it runs
	closed bool

	expiring sync.WaitGroup // one while the timer runs, and until expire ends: Close waits for it
}

// KeepStats are a Keep's counters.
type KeepStats struct {
	Held    int    // connections now
	Reused  uint64 // taken for another exchange
	Stale   uint64 // found closed by the server, or talking out of turn
	Expired uint64 // closed by us after their time
	Crowded uint64 // closed by us for want of room
}

// siteOf says what a connection can be used for. Through a proxy, plain requests to all sites share one kind.
type siteOf struct {
	addr netip.AddrPort // connected to
	name xxh3.Uint128   // of the authority, scheme mixed in; zero for plain requests through a proxy
}

// link is a connection as a Fetcher uses it.
type link struct {
	raw    net.Conn // what was dialled
	conn   net.Conn // raw, or TLS over it
	facts  TLSFacts
	secure bool // facts hold
}

// kept is a connection that nobody uses now.
type kept struct {
	link
	site         siteOf
	until        time.Time
	older, newer *kept // of all
	below, above *kept // of the same site
}

// NewKeep makes a Keep of at most so many connections, each held for at most idle between two exchanges. Both must be positive.
func NewKeep(idle time.Duration, most int) *Keep {
	if idle <= 0 || most <= 0 {
		panic("BUG: fetch: a Keep that may hold nothing")
	}
	return &Keep{idle: idle, most: most, sites: map[siteOf]*kept{}}
}

// Close closes all connections, and every one that is given back later.
func (k *Keep) Close() {
	k.mu.Lock()
	k.closed = true
	if k.timer != nil && k.timer.Stop() {
		k.expiring.Done()
	}
	all := k.cutWhile(func(*kept) bool { return true })
	k.mu.Unlock()
	closeAll(all)
	k.expiring.Wait()
}

// Stats returns the counters.
func (k *Keep) Stats() KeepStats {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stats
}

// take gives the connection to a site that was used last, if one is there.
func (k *Keep) take(site siteOf) (link, bool) {
	k.mu.Lock()
	c := k.sites[site]
	if c == nil {
		k.mu.Unlock()
		return link{}, false
	}
	k.cut(c)
	l, late := c.link, !time.Now().Before(c.until)
	if late {
		k.stats.Expired++
	} else {
		k.stats.Reused++
	}
	*c = kept{newer: k.free}
	k.free = c
	k.mu.Unlock()
	if late {
		_ = l.raw.Close() // it is not needed any more
		return k.take(site)
	}
	return l, true
}

// stale counts a connection that was taken in vain.
func (k *Keep) stale() {
	k.mu.Lock()
	k.stats.Reused--
	k.stats.Stale++
	k.mu.Unlock()
}

// put takes a connection that can be used again within the time, or within what the server allows if that is positive and less.
func (k *Keep) put(site siteOf, l link, allowed time.Duration) {
	idle := k.idle
	if allowed > 0 {
		idle = min(idle, allowed)
	}
	until := time.Now().Add(idle)
	k.mu.Lock()
	if k.closed {
		k.mu.Unlock()
		_ = l.raw.Close() // nothing was left to write
		return
	}
	var gone *kept
	if k.stats.Held == k.most {
		gone = k.oldest
		k.cut(gone)
		k.stats.Crowded++
	}
	c := k.free
	if c == nil {
		c = new(kept)
	}
	k.free = c.newer
	*c = kept{link: l, site: site, until: until}
	k.add(c)
	if !k.timing {
		k.startTimer(idle)
	}
	k.mu.Unlock()
	if gone != nil {
		_ = gone.raw.Close()
	}
}

// shed closes half of what is held, for a machine that has no more of what a connection takes.
func (k *Keep) shed() {
	k.mu.Lock()
	least := k.stats.Held / 2
	gone := k.cutWhile(func(*kept) bool { return k.stats.Held > least })
	k.stats.Crowded += uint64(len(gone))
	k.mu.Unlock()
	closeAll(gone)
}

// startTimer starts the timer, which is not running, under the lock.
func (k *Keep) startTimer(d time.Duration) {
	k.timing = true
	k.expiring.Add(1)
	if k.timer == nil {
		k.timer = time.AfterFunc(d, k.expire)
		return
	}
	k.timer.Reset(d)
}

// expire closes what has waited for too long.
func (k *Keep) expire() {
	defer k.expiring.Done()
	now := time.Now()
	k.mu.Lock()
	k.timing = false
	gone := k.cutWhile(func(c *kept) bool { return !c.until.After(now) })
	k.stats.Expired += uint64(len(gone))
	if k.oldest != nil && !k.closed {
		k.startTimer(k.oldest.until.Sub(now))
	}
	k.mu.Unlock()
	closeAll(gone)
}

// cutWhile takes out what is oldest as long as it should go.
func (k *Keep) cutWhile(goes func(*kept) bool) (gone []*kept) {
	for k.oldest != nil && goes(k.oldest) {
		gone = append(gone, k.oldest)
		k.cut(k.oldest)
	}
	return gone
}

func closeAll(gone []*kept) {
	for _, c := range gone {
		_ = c.raw.Close() // nothing was left to write
	}
}

// add puts a connection at the young end, and on top of those of its site.
func (k *Keep) add(c *kept) {
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
	k.stats.Held++
}

// cut takes a connection out.
func (k *Keep) cut(c *kept) {
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
}
