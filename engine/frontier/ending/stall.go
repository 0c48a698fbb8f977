package ending

import (
	"sync/atomic"
	"time"

	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/internal/outcome"
	"orbweaver/workbench"
)

// StallDetector decides when a crawl stops as stalled: every queued URL is of a failing site, no URL has got an outcome
// from a server for the stall wait, and no site has named a time for the next request. Only the distributor calls its
// methods, except EndsAt and GivesUpAt.
type StallDetector struct {
	workbench *visit.Workbench
	live      *settings.Live
	counts    *counters.Live
	feed      func() // wakes the feeder
	// IsRefused reports whether a proxy has refused everything since the start of the run; nil for no proxy.
	IsRefused func() bool

	healthyAt  time.Time // the last time that a site was healthy or a server brought an outcome
	outcomes   int64     // outcomes from servers at healthyAt
	nextScan   time.Time // the sites are not scanned before this time
	allFailing bool      // at the last scan all sites with queued URLs were failing
	retried    bool      // all of them were made due once more since healthyAt
	hasStalled bool      // the crawl has stalled, by the last scan
	activity   int64     // see activity, before that scan
	retriedAt  time.Time // the last RetryAll; zero if there was none
	unreached  unreached
	endsAt     atomic.Int64 // see EndsAt, in nanoseconds
	givesUpAt  atomic.Int64 // see GivesUpAt
}

const (
	scanPause = time.Second // between two scans of all sites
	scanShare = 50          // and at least this many times the duration of a scan
	retryPart = 4           // with this part of the stall wait left, all sites are tried once more

	// How long after RetryAll the crawl does not stall because a failing site has not been tried: longer than the
	// longest delay of a site and a time-out. A name lookup waits for no delay.
	triedWithin    = 10 * time.Minute
	resolvedWithin = time.Minute
)

// NewStallDetector returns a detector for a crawl. A crawl with a stall wait of 0 or less stalls as soon as every
// queued URL is of a site that has been tried and fails.
func NewStallDetector(
	w *visit.Workbench, live *settings.Live, counts *counters.Live, feed func(),
) *StallDetector {
	return &StallDetector{workbench: w, live: live, counts: counts, feed: feed}
}

// refusedWait is the stall wait of a crawl whose proxy has refused everything: only the operator can change that.
const refusedWait = time.Minute

func (s *StallDetector) stallWait() time.Duration {
	wait := max(s.live.Bounds().StallWait, 0)
	if s.isRefused() {
		wait = min(wait, refusedWait)
	}
	return wait
}

func (s *StallDetector) isRefused() bool { return s.IsRefused != nil && s.IsRefused() }

// IsStalled reports whether a crawl with queued URLs must stop. nothingMoves reports whether no URL is on its way
// between the components; it is called last, because it is expensive.
//
// Between two scans the last answer holds unless something has happened: the agents of a cluster must find each other
// stalled at one moment, however often their distributors ask.
func (s *StallDetector) IsStalled(now time.Time, nothingMoves func() bool) bool {
	if now.Before(s.nextScan) {
		return s.hasStalled && s.activity == activity(s.counts) && nothingMoves()
	}
	s.activity = activity(s.counts)
	s.hasStalled = s.scan(now) && s.isConfirmed(nothingMoves)
	return s.hasStalled
}

// isConfirmed reports whether a scan has missed no healthy site. A URL that was on its way during the scan may be on
// its site now, and a site that was asked may have answered.
func (s *StallDetector) isConfirmed(nothingMoves func() bool) bool {
	return nothingMoves() && !s.workbench.Listing().Any((*site.State).IsHealthy) && s.activity == activity(s.counts)
}

// activity grows with everything that could make a site healthy, or give it its first URL.
func activity(c *counters.Live) int64 {
	return c.URLsAdmitted.Load() + c.Finished.Load() + c.Attempts.Load() + c.RobotsFetched.Load()
}

// scan looks at all sites. It reports whether all have failed for the stall wait, and none has named a time.
func (s *StallDetector) scan(now time.Time) bool {
	outcomes := fromServers(s.counts)
	healthy := s.workbench.Listing().Any((*site.State).IsHealthy)
	s.nextScan = now.Add(max(scanPause, scanShare*time.Since(now)))
	if s.allFailing = !healthy; healthy || outcomes != s.outcomes || s.healthyAt.IsZero() {
		s.healthyAt, s.outcomes, s.retried = now, outcomes, false
	}
	s.publish()
	wait := s.stallWait()
	if s.allFailing && !s.retried && wait > 0 && now.Sub(s.healthyAt) >= wait-wait/retryPart {
		s.retried = true
		s.RetryAll(now)
	}
	if healthy || now.Sub(s.healthyAt) < wait {
		return false
	}
	waits := s.workbench.Listing().Any(func(site *site.State) bool {
		return site.FailureStreak().NamedRetryWithin(wait) || s.isUntried(site, now)
	})
	return !waits
}

// isUntried reports whether RetryAll made a failing site due that has not been asked since.
func (s *StallDetector) isUntried(state *site.State, now time.Time) bool {
	streak := state.FailureStreak()
	since := now.Sub(s.retriedAt)
	switch {
	case s.isRefused(): // the proxy lets no request pass, and few are made to find that out
		return false
	case s.retriedAt.IsZero() || since >= triedWithin || streak.RetryAt > site.UnixSeconds(now):
		return false
	case streak.NameFailures > 0:
		return since < resolvedWithin && !streak.HasFailedAfter(s.retriedAt)
	default:
		ago, asked := state.LastExchange.Until(now)
		return !asked || ago > since
	}
}

// RetryAll makes all failing sites due, except those that named a time for the next request. After a kill the URLs of a
// site may still be in the ready queue, so sites without URLs are made due too. The crawl does not stall until they
// have been tried.
func (s *StallDetector) RetryAll(now time.Time) {
	s.retriedAt = now
	var key []byte
	s.workbench.Listing().Each(func(vs *visit.State, state workbench.State) bool {
		if state == workbench.Leased || state == workbench.Parked || state == workbench.Dead {
			return true
		}
		retry, crawlDelay := false, time.Duration(0)
		s.workbench.Site(vs).Read(func(known *site.State) {
			retry = known.IsFailing() && known.FailureStreak().RetryAt <= site.UnixSeconds(now)
			crawlDelay = known.CrawlDelay()
		})
		switch {
		case !retry:
		case state == workbench.Deferred:
			s.workbench.Defer(vs, now)
		default:
			key = s.workbench.Site(vs).AppendKey(key[:0])
			s.workbench.Site(vs).Hasten(now.Add(s.live.SiteDelay(key, crawlDelay)))
		}
		return true
	})
	s.feed()
}

// Reset starts the stall wait again, after a pause of the crawl.
func (s *StallDetector) Reset() {
	s.healthyAt, s.nextScan, s.allFailing, s.hasStalled = time.Time{}, time.Time{}, false, false
	s.unreached = unreached{}
	s.givesUpAt.Store(0)
	s.publish()
}

func (s *StallDetector) publish() {
	at := int64(0)
	if s.allFailing {
		at = s.healthyAt.Add(s.stallWait()).UnixNano()
	}
	s.endsAt.Store(at)
}

// EndsAt returns when the crawl stops as stalled if nothing changes; zero while a site with queued URLs is healthy.
// Safe for concurrent use.
func (s *StallDetector) EndsAt() time.Time { return timeOf(&s.endsAt) }

// timeOf returns a time in nanoseconds since 1970; the zero time for 0.
func timeOf(at *atomic.Int64) time.Time {
	if n := at.Load(); n != 0 {
		return time.Unix(0, n)
	}
	return time.Time{}
}

// fromServers counts the URLs whose outcome came from a server.
func fromServers(c *counters.Live) (n int64) {
	for o := range c.Outcomes {
		if outcome.Outcome(o) == outcome.ProxyFault {
			continue
		}
		switch outcome.Outcome(o).Class() {
		case outcome.ClassAnswer, outcome.ClassBusy, outcome.ClassFault:
			n += c.Outcomes[o].Load()
		default:
		}
	}
	return n
}
