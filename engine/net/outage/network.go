package outage

import (
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/internal/outcome"
	"orbweaver/internal/throttle"
)

// Network watches the connections to all sites together, to detect faults of the network.
//
// Network outage: at least silentAddrsMin addresses whose sites answered before cannot be reached, for at least
// silentTimeMin, and no site is reached in between. Then the network counts as down. Until a site is reached again, no
// failure counts, neither against its site nor as a try of its URL. Every site is tried again after its delay, at least
// NetworkRetryWait. After networkDownMax, failures count again, so that every crawl ends.
//
// Overload on the way: at least timeoutShareHigh of the connections to sites that answered before time out. A NAT or
// the connection table of a firewall is probably full. Then the number of active workers falls by 30 % in each window,
// to workersMin at least. It rises by an eighth in each window in which the share is at most timeoutShareLow. If
// connections time out as before for uselessWindows, though only workersMin workers are active, their number is not the
// cause: the sites are. Then all workers are active, whatever happens, for distrustTime. So sites that time out on
// purpose cannot hold the crawl back for long.
//
// Limit of the method: if the last few addresses of a crawl all fail together, this looks like a network outage. The
// crawl then tries them for networkDownMax.
type Network struct {
	warn func(msg string, args ...any)

	workerLimit atomic.Int64 // number of fetch workers that may be active now

	mu      sync.Mutex
	workers int // number of fetch workers that should be active
	// addresses that answered before and were not reached since any site was; at most silentAddrsMin
	silentAddrs   map[netip.Addr]struct{}
	firstSilentAt time.Time    // when the first address became silent
	lastSilentAt  time.Time    // the last failure of such an address
	downSince     time.Time    // start of the outage; zero if the network is up
	throttle      throttle.Log // of the outage messages
	isLogged      bool         // the start of this outage was logged
	upSince       time.Time    // end of the last outage; attempts that began before it do not count
	window        window
	floorWindows  int       // windows in which the least number of workers did not help
	distrustUntil time.Time // until then time-outs hold no workers back
}

// window counts connections to sites that answered before.
type window struct {
	start                 time.Time
	connections, timeouts int
	peakWorkers           int64 // largest number of workers in an exchange
}

// When the network counts as down, and what follows.
const (
	silentAddrsMin    = 4                // silent addresses that make an outage
	silentTimeMin     = 5 * time.Second  // if they are silent for this long
	NetworkRetryWait  = 10 * time.Second // least time between two attempts at a site during an outage
	networkDownMax    = 24 * time.Hour   // after this time failures count against sites again
	longOutage        = time.Minute      // the end of a longer outage is always logged
	windowTime        = 10 * time.Second
	windowConnections = 40  // fewer connections are too few for a decision
	timeoutShareHigh  = 0.1 // share of timeouts from which workers are held back
	timeoutShareLow   = 0.03
	workersMin        = 8
	uselessWindows    = 12 // with workersMin workers, after which time-outs are the fault of the sites
	distrustTime      = time.Hour
)

// NewNetwork returns a Network that is up. workers is the number of fetch workers. warn logs warnings with key-value
// fields.
func NewNetwork(workers int, warn func(msg string, args ...any)) *Network {
	n := &Network{
		warn:        warn,
		workers:     workers,
		silentAddrs: make(map[netip.Addr]struct{}),
	}
	n.workerLimit.Store(int64(workers))
	return n
}

// Attempt is one attempt to connect, as reported to Network.
type Attempt struct {
	Addr           netip.Addr
	Outcome        outcome.Outcome
	AnsweredBefore bool // the site answered the last time
	BeganAt        time.Time
	ConnectedAt    time.Time // zero if not connected, or if the connection existed before
	EndedAt        time.Time
	BusyWorkers    int64 // workers in an exchange
}

// Observe evaluates an attempt. It reports whether a failure counts against the site and as a try of the URL.
func (n *Network) Observe(a *Attempt) bool {
	switch a.Outcome {
	case outcome.ConnectTimeout, outcome.Unreachable:
		return n.observeFailure(a)
	case outcome.Refused:
		// a refusal may come from the site or from a gateway before it, so it shows nothing about the network
		return n.countsAgainstSite(a)
	case outcome.Cancelled,
		outcome.LocalFault,
		outcome.ProxyFault,
		outcome.BlockedAddress,
		outcome.BlockedPort,
		outcome.Stale:
		// these show nothing about the network
	case outcome.HeaderTimeout, outcome.TruncatedTime, outcome.TruncatedDisconnect, outcome.TLSFault, outcome.Reset:
		n.observeContact(a, a.ConnectedAt) // a failure after the connection may be caused by the network
	default:
		n.observeContact(a, a.EndedAt)
	}
	return true
}

// observeFailure evaluates an attempt that did not reach its site.
func (n *Network) observeFailure(a *Attempt) (counts bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if a.AnsweredBefore {
		if n.lastSilentAt = a.EndedAt; len(n.silentAddrs) == 0 {
			n.firstSilentAt = a.EndedAt
		}
		n.countConnection(a.Outcome == outcome.ConnectTimeout, a.EndedAt, a.BusyWorkers)
		if len(n.silentAddrs) < silentAddrsMin {
			n.silentAddrs[a.Addr] = struct{}{}
		}
	}
	if n.downSince.IsZero() && len(n.silentAddrs) == silentAddrsMin &&
		a.EndedAt.Sub(n.firstSilentAt) >= silentTimeMin &&
		!a.BeganAt.Before(n.upSince) {
		n.downSince = a.EndedAt
		var times int
		if times, n.isLogged = n.throttle.Allow(a.EndedAt); n.isLogged {
			n.warn("no site that answered before can be reached: the network seems to be down; failures do not count, all "+
				"sites are tried again every 10 s", "times", times)
		}
	}
	return n.countsAgainstSiteLocked(a)
}

// countsAgainstSite reports whether a failed attempt counts against its site.
func (n *Network) countsAgainstSite(a *Attempt) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.countsAgainstSiteLocked(a)
}

func (n *Network) countsAgainstSiteLocked(a *Attempt) bool {
	down := !n.downSince.IsZero() && a.EndedAt.Sub(n.downSince) < networkDownMax
	return !down && !a.BeganAt.Before(n.upSince)
}

// observeContact evaluates an attempt that reached its site at time now.
func (n *Network) observeContact(a *Attempt, now time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if a.AnsweredBefore && !a.ConnectedAt.IsZero() {
		n.countConnection(false, a.EndedAt, a.BusyWorkers)
	}
	if now.Before(n.lastSilentAt) || now.Before(n.downSince) {
		return // the contact was before the last failure
	}
	clear(n.silentAddrs)
	if !n.downSince.IsZero() {
		if n.isLogged || now.Sub(n.downSince) >= longOutage {
			n.warn("servers can be reached again", "after", now.Sub(n.downSince).Round(time.Second).String())
		}
		n.downSince, n.upSince = time.Time{}, now
	}
}

// countConnection counts a connection to a site that answered before, and adapts workerLimit at the end of a window.
// The caller holds mu.
func (n *Network) countConnection(timeout bool, now time.Time, busy int64) {
	w := &n.window
	w.connections++
	w.peakWorkers = max(w.peakWorkers, busy)
	if timeout {
		w.timeouts++
	}
	if w.start.IsZero() {
		w.start = now
	}
	if w.connections < windowConnections || now.Sub(w.start) < windowTime {
		return
	}
	limit := n.workerLimit.Load()
	share := float64(w.timeouts) / float64(w.connections)
	switch {
	case !n.downSince.IsZero(): // during an outage the number of workers does not matter
	case share >= timeoutShareHigh:
		n.reduceWorkers(now)
	case share <= timeoutShareLow && limit < int64(n.workers):
		more := min(limit+limit/8+1, int64(n.workers))
		if more == int64(n.workers) {
			n.warn("connections no longer time out: all fetchers are active")
		}
		n.workerLimit.Store(more)
	}
	n.window = window{}
}

// reduceWorkers lowers workerLimit after a window with many time-outs, unless that has not helped. The caller holds mu.
func (n *Network) reduceWorkers(now time.Time) {
	w, limit, least := &n.window, n.workerLimit.Load(), min(workersMin, int64(n.workers))
	if now.Before(n.distrustUntil) || least == int64(n.workers) {
		return
	}
	if limit > least {
		n.floorWindows = 0
	} else if n.floorWindows++; n.floorWindows == uselessWindows {
		n.floorWindows, n.distrustUntil = 0, now.Add(distrustTime)
		n.workerLimit.Store(int64(n.workers))
		n.warn("as many connections time out with few fetchers: the sites do not answer, and all fetchers are active",
			"lost", w.timeouts, "of", w.connections)
		return
	}
	less := max(min(limit, w.peakWorkers)*7/10, least)
	if limit == int64(n.workers) && less < limit {
		n.warn("many connections to sites that answered before time out: a NAT or a firewall's connection table is "+
			"probably full; the number of active fetchers is reduced until the timeouts end",
			"lost", w.timeouts, "of", w.connections, "fetchers", less)
	}
	n.workerLimit.Store(min(limit, less))
}

// WorkerLimit returns the number of fetch workers that may be active: so many Visits may be out.
func (n *Network) WorkerLimit() int { return int(n.workerLimit.Load()) }

// SetWorkers changes the number of fetch workers that should be active. There are at least as many. The caller wakes
// the Feeder.
func (n *Network) SetWorkers(workers int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	limit := n.workerLimit.Load()
	if limit == int64(n.workers) || limit > int64(workers) { // they are not held back, or less than now
		limit = int64(workers)
	}
	n.workers = workers
	n.workerLimit.Store(limit)
}

// Workers returns the number of fetch workers that should be active.
func (n *Network) Workers() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.workers
}

// State returns the start of the outage, zero if the network is up, and the number of active workers.
func (n *Network) State() (down time.Time, workers int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.downSince, int(n.workerLimit.Load())
}
