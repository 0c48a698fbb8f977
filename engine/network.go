package engine

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/outcome"
)

// network watches the connections to all sites as a whole, for what no site is to blame for.
//
// When sites that answered the last time cannot be reached, several of them for some seconds, and nobody is reached in between, it is not them: the
// network is down, here or not far from here. Until somebody is reached again no failure counts, neither against a site nor as a try of its
// URL, and every site is asked again after networkWait or its delay, if that is longer. A site that had failed before the network did
// is not given up meanwhile.
//
// When a good part of the connections to such sites times out, and others do not, something on the way is full: a NAT, the table of a firewall
// (conntrack). Then fewer workers go on, a step less each window, until that is over, and more again after that.
//
// It cannot tell the network from a crawl whose last few addresses all fall silent together: that crawl goes on asking them for
// networkPatience.
type network struct {
	say  func(msg string, args ...any)
	most int // workers

	limit   atomic.Int64  // workers that go on: those with a lower number
	changed chan struct{} // guarded by mu; closed and replaced when limit grows

	mu     sync.Mutex
	silent map[netip.Addr]struct{} // answered before, not reached since anybody was; no more than silentMin
	first  time.Time               // when the first of them was found silent
	last   time.Time               // and the last
	since  time.Time               // when the network went down; zero if it is up
	murmur murmur                  // of that
	told   bool                    // it was said
	again  time.Time               // when it came back: attempts that began before say nothing
	window window
}

// window counts connections to sites that answered the last time.
type window struct {
	start       time.Time
	tried, lost int
	peak        int64 // workers in an exchange
}

const (
	silentMin       = 4                // addresses whose silence is the network's,
	silentFor       = 5 * time.Second  // if it lasts so long
	networkWait     = 10 * time.Second // between two attempts at a site while it is down
	networkPatience = 24 * time.Hour   // after that it is the sites' fault
	networkLong     = time.Minute      // an end of that is always said
	networkWindow   = 10 * time.Second
	windowMin       = 40  // connections that tell something
	lostHigh        = 0.1 // share of them that times out: too many at a time
	lostLow         = 0.03
	workersLeast    = 8
)

func newNetwork(workers int, say func(msg string, args ...any)) *network {
	n := &network{say: say, most: workers, changed: make(chan struct{}), silent: make(map[netip.Addr]struct{})}
	n.limit.Store(int64(workers))
	return n
}

// attempt is what the network is told of one.
type attempt struct {
	addr      netip.Addr
	outcome   outcome.Outcome
	answered  bool // the last time, the site did
	began     time.Time
	connected time.Time // zero if it was not, or before
	ended     time.Time
	busy      int64 // workers in an exchange
}

// blames takes what became of an attempt, and reports whether it counts.
func (n *network) blames(a *attempt) bool {
	switch a.outcome {
	case outcome.ConnectTimeout, outcome.Unreachable:
		return n.failed(a)
	case outcome.Refused:
		return n.counts(a) // whoever refuses is there, or a gateway before him: who knows?
	case outcome.Cancelled, outcome.LocalFault, outcome.ProxyFault, outcome.BlockedAddress, outcome.BlockedPort, outcome.Stale:
		// says nothing about the network
	case outcome.HeaderTimeout, outcome.CutTime, outcome.CutDisconnect, outcome.TLSFault, outcome.Reset:
		n.reached(a, a.connected) // what came after that may be the network's end
	default:
		n.reached(a, a.ended)
	}
	return true
}

// failed takes an attempt that did not reach its site.
func (n *network) failed(a *attempt) (counts bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if a.answered {
		if n.last = a.ended; len(n.silent) == 0 {
			n.first = a.ended
		}
		n.count(a.outcome == outcome.ConnectTimeout, a.ended, a.busy)
		if len(n.silent) < silentMin {
			n.silent[a.addr] = struct{}{}
		}
	}
	if n.since.IsZero() && len(n.silent) == silentMin && a.ended.Sub(n.first) >= silentFor && !a.began.Before(n.again) {
		n.since = a.ended
		var times int
		if times, n.told = n.murmur.may(a.ended); n.told {
			n.say("nobody can be reached who answered before: the network seems to be down. No site is blamed; all are asked again every 10 s",
				"times", times)
		}
	}
	return n.countsLocked(a)
}

// counts says whether a failed attempt may be held against its site.
func (n *network) counts(a *attempt) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.countsLocked(a)
}

func (n *network) countsLocked(a *attempt) bool {
	down := !n.since.IsZero() && a.ended.Sub(n.since) < networkPatience
	return !down && !a.began.Before(n.again)
}

// reached takes an attempt that did reach its site, at least until now.
func (n *network) reached(a *attempt, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if a.answered && !a.connected.IsZero() {
		n.count(false, a.ended, a.busy)
	}
	if now.Before(n.last) || now.Before(n.since) {
		return // it was reached before the others were not
	}
	clear(n.silent)
	if !n.since.IsZero() {
		if n.told || now.Sub(n.since) >= networkLong {
			n.say("servers can be reached again", "after", now.Sub(n.since).Round(time.Second).String())
		}
		n.since, n.again = time.Time{}, now
	}
}

// count notes one connection, and draws the conclusion when a window is full. The caller holds mu.
func (n *network) count(lost bool, now time.Time, busy int64) {
	w := &n.window
	w.tried++
	w.peak = max(w.peak, busy)
	if lost {
		w.lost++
	}
	if w.start.IsZero() {
		w.start = now
	}
	if w.tried < windowMin || now.Sub(w.start) < networkWindow {
		return
	}
	limit := n.limit.Load()
	share := float64(w.lost) / float64(w.tried)
	switch {
	case !n.since.IsZero(): // it is down: how many ask makes no difference
	case share >= lostHigh:
		less := max(min(limit, w.peak)*7/10, min(workersLeast, int64(n.most)))
		if limit == int64(n.most) && less < limit {
			n.say("connections to servers that answered before time out: something on the way is full (a NAT, a firewall's table of connections); "+
				"fewer are opened at a time until it is over", "lost", w.lost, "of", w.tried, "fetchers", less)
		}
		n.limit.Store(min(limit, less))
	case share <= lostLow && limit < int64(n.most):
		more := min(limit+limit/8+1, int64(n.most))
		if more == int64(n.most) {
			n.say("connections do not time out any more: all fetchers go on")
		}
		n.limit.Store(more)
		close(n.changed)
		n.changed = make(chan struct{})
	}
	n.window = window{}
}

// wait holds a worker back that is one too many, until it is not or the crawl stops.
func (n *network) wait(ctx context.Context, id int, stopping <-chan struct{}) {
	for int64(id) >= n.limit.Load() {
		n.mu.Lock()
		changed := n.changed
		n.mu.Unlock()
		if int64(id) < n.limit.Load() {
			return
		}
		select {
		case <-changed:
		case <-stopping:
			return
		case <-ctx.Done():
			return
		}
	}
}

// state says since when the network is down, zero if it is not, and how many workers go on.
func (n *network) state() (down time.Time, workers int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.since, int(n.limit.Load())
}
