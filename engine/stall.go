package engine

import (
	"sync/atomic"
	"time"

	"orbweaver/engine/counters"
	"orbweaver/engine/outcome"
	"orbweaver/engine/site"
	"orbweaver/engine/visit"
	"orbweaver/workbench"
)

// stallWatch decides when a crawl stops as stalled: every queued URL is of a site in trouble, for so long no URL has
// got an outcome from a server, and no site has named a time to wait for. The distributor alone calls it, except view.
type stallWatch struct {
	wait time.Duration

	since  time.Time // when a site that is well, or an outcome, was seen last
	done   int64     // outcomes from servers then
	next   time.Time // the sites are not looked at before
	seen   bool      // at the last look all sites were in trouble
	urged  bool      // all of them were made due once more
	public atomic.Int64
}

const (
	stallRest  = time.Second // between two looks at the sites
	stallShare = 50          // and at least so many times as long as a look takes
	stallUrge  = 4           // with this part of the wait left, all sites are asked once more
)

// isStalled says that a crawl with queued URLs stops.
func (d *distributor) isStalled(now time.Time) bool {
	s := &d.stall
	if now.Before(s.next) {
		return false
	}
	done := fromServers(&d.ledger.Count)
	well := d.bench.Any((*site.State).IsHealthy)
	s.next = now.Add(max(stallRest, stallShare*time.Since(now)))
	if s.seen = !well; well || done != s.done || s.since.IsZero() {
		s.since, s.done, s.urged = now, done, false
	}
	s.publish()
	if s.seen && !s.urged && s.wait > 0 && now.Sub(s.since) >= s.wait-s.wait/stallUrge {
		s.urged = true
		d.tryAllAgain(now)
	}
	if well || now.Sub(s.since) < s.wait ||
		d.bench.Any(func(site *site.State) bool { return site.NamedRetryWithin(s.wait) }) {
		return false
	}
	// In the order in which things move: what one look misses, the next one sees.
	born := d.newborn.Puts()
	if d.cluster.AwaitsRobots() || d.ready.Len() > 0 || d.newborn.Len() > 0 && !d.servers.Down.Load() ||
		d.pagesOut.Load() > 0 {
		return false
	}
	return d.pending() == 0 && d.ready.Len() == 0 && (d.newborn.Puts() == born || d.servers.Down.Load())
}

// tryAllAgain makes all sites in trouble due, whatever they wait for by the policy. A time that a site named is waited
// for. After a kill the URLs of a site may still be in the ready queue, so sites without URLs are made due too.
func (d *distributor) tryAllAgain(now time.Time) {
	var key []byte
	d.bench.Each(func(vs *visit.State, state workbench.State) bool {
		if state == workbench.Leased || state == workbench.Parked || state == workbench.Dead {
			return true
		}
		again, delay := false, time.Duration(0)
		d.bench.ReadSite(vs, func(s *site.State) {
			again = s.IsFailing() && s.FailureStreak().RetryAt <= site.UnixSeconds(now)
			delay = s.CrawlDelay()
		})
		switch {
		case !again:
		case state == workbench.Deferred:
			d.bench.Defer(vs, now)
		default:
			key = d.bench.AppendKey(key[:0], vs)
			d.bench.Hasten(vs, now.Add(d.hosts.live.SiteDelay(key, delay)))
		}
		return true
	})
	d.feed()
}

// reset begins the wait again, for a crawl that was paused.
func (s *stallWatch) reset() {
	s.since, s.next, s.seen = time.Time{}, time.Time{}, false
	s.publish()
}

func (s *stallWatch) publish() {
	at := int64(0)
	if s.seen {
		at = s.since.Add(s.wait).UnixNano()
	}
	s.public.Store(at)
}

// ends is when the crawl stops as stalled if nothing changes; the zero time while a site with queued URLs is well. Safe
// for concurrent use.
func (s *stallWatch) ends() time.Time {
	if at := s.public.Load(); at != 0 {
		return time.Unix(0, at)
	}
	return time.Time{}
}

// fromServers is the number of URLs whose outcome came from a server.
func fromServers(c *counters.Live) (n int64) {
	for o := range c.Outcomes {
		switch outcome.Outcome(o).Class() {
		case outcome.ClassAnswer, outcome.ClassBusy, outcome.ClassFault:
			n += c.Outcomes[o].Load()
		default:
		}
	}
	return n
}
