package schedule

import (
	"time"

	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/state/visit"
	"orbweaver/workbench"
)

// endCheck decides, when no URL can be moved, how long the Distributor waits or why the crawl is over.
type endCheck struct {
	Progress
	*Queues
	front   *Front
	flushes Flushes
	placer  *placer
	delayer *delayer
	cluster cluster.Termination
	isAlone bool // the crawl has no other agents

	surplus surplusScan
	closing closing
}

// controlPeriod is the longest wait: so often the Distributor looks at the front even if it is not woken.
const controlPeriod = time.Second

// next returns how long to wait, or why the crawl is over.
func (e *endCheck) next(now time.Time) (wait time.Duration, reason string) {
	wait = controlPeriod
	if next, ok := e.Workbench.DueTimes().NextDeferred(); ok {
		wait = min(wait, untilLeast(now, next))
	}
	n := e.Counters
	finished, admitted, pending := n.Finished.Load(), n.URLsAdmitted.Load(), e.flushes.Pending()
	if pending > 0 && !e.hasReady() {
		// First the question that costs nothing: a count of the front reads a thousand addresses.
		if left := e.flushes.RequestIn(now); left > 0 {
			wait = min(wait, left)
		} else if e.IsClosing() || e.front.isSmall(now) {
			e.flushes.Request()
			return wait, ""
		}
	}
	delayedSites, waiting := e.OnDisk.DelayedSites(), len(e.delayer.waiting)
	if delayedSites > 0 {
		wait = min(wait, untilLeast(now, e.placer.nextTurn))
	}
	if waiting > 0 {
		wait = min(wait, max(e.delayer.nextIn(now), leastWait))
	}
	if delayedSites > 0 || waiting > 0 {
		return wait, ""
	}
	if !e.IsSeeded() || pending > 0 || n.URLsAdmitted.Load() != admitted {
		return wait, ""
	}
	if finished == admitted {
		return 0, lifecycle.ReasonComplete
	}
	if e.Stall.IsStalled(now, e.nothingMoves) {
		if finished := n.Finished.Load(); finished == n.URLsAdmitted.Load() {
			return 0, lifecycle.ReasonComplete // the last URL was finished after the comparison above
		}
		return 0, lifecycle.ReasonStalled
	}
	return wait, ""
}

// isUnreached reports whether no server has ever answered, and the sites have had their tries. Agents that share a
// crawl do not know what the others have met.
func (e *endCheck) isUnreached(now time.Time) bool {
	n := e.Counters
	return e.isAlone && e.IsSeeded() && n.Finished.Load() < n.URLsAdmitted.Load() &&
		e.Stall.IsUnreached(now, e.nothingMoves)
}

// hasReady reports whether there are ready URLs that are still wanted: when the crawl has reached its limit of pages,
// only urgent ones.
func (e *endCheck) hasReady() bool {
	return e.Ready.Urgent.Len() > 0 || !e.IsClosing() && (e.Ready.Others.Len() > 0 || e.placer.ordered.total > 0)
}

const leastWait = time.Millisecond

func untilLeast(now, at time.Time) time.Duration { return max(at.Sub(now), leastWait) }

// nothingMoves reports whether no URL is on its way between the components. It asks them in the order in which URLs
// move: a URL that moves on after one answer is in the next.
func (e *endCheck) nothingMoves() bool {
	unresolved := e.Unresolved
	puts := unresolved.Puts()
	if e.cluster.AwaitsRobots() || e.hasReady() || unresolved.Len() > 0 && !e.NameServers.Down.Load() ||
		e.PagesOut.Load() > 0 {
		return false
	}
	return e.flushes.Pending() == 0 && !e.hasReady() &&
		(unresolved.Puts() == puts || e.NameServers.Down.Load())
}

// closing is the end of a crawl that has reached its limit of pages, and still fetches page requisites.
type closing struct {
	outcomes    int64     // so far
	lastOutcome time.Time // when there was the last one
}

// isClosed reports whether a crawl that has reached its limit of pages has all requisites, or waits for them in vain.
func (e *endCheck) isClosed(now time.Time) bool {
	if !e.IsClosing() {
		return false
	}
	n := e.Counters
	if done := n.Finished.Load() + n.RobotsFetched.Load(); done != e.closing.outcomes || e.closing.lastOutcome.IsZero() {
		e.closing = closing{done, now}
	}
	if now.Sub(e.closing.lastOutcome) > lifecycle.RequisitesMax {
		return true
	}
	if !e.surplus.isDone || !e.nothingMoves() {
		return false
	}
	c := e.Workbench.Counts()
	return c.Urgent == 0 && c.Leased == 0 && c.Refill == 0 && e.PagesOut.Load() == 0 && e.flushes.Pending() == 0
}

// isBusy reports whether the workbench has items. When all URLs have their outcome these are redirects of robots.txt
// for sites of other agents.
func (e *endCheck) isBusy() bool {
	c := e.Workbench.Counts()
	return c.Queued+c.InVisits > 0
}

// surplusScan looks once for all sites with surplus requisites on disk when the crawl reaches its limit of pages. From
// then on these are urgent, and a site that has nothing else must know of them.
type surplusScan struct {
	chunk  int
	isDone bool
	found  []*visit.State
}

// scanSurplus does a part of the scan, within a step of the journal, and reports whether there is more.
func (e *endCheck) scanSurplus() (more bool) {
	s := &e.surplus
	if !e.IsClosing() {
		s.chunk, s.isDone = 0, false
		return false
	}
	if s.isDone {
		return false
	}
	s.found = s.found[:0]
	more = e.Workbench.Listing().Keys(s.chunk, func(vs *visit.State, _ []byte, _ workbench.State, items uint64) {
		if items > 0 {
			s.found = append(s.found, vs)
		}
	})
	for _, vs := range s.found {
		if e.OnDisk.Surplus(vs) > 0 {
			e.noteOnDisk(vs)
		}
	}
	s.chunk++
	s.isDone = !more
	return more
}
