package fetchers

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/fetch/coding"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/state/addrgroup"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// reuseWithin is how long an address lease is kept for the next exchange of this agent, while other agents wait for
// it.
const reuseWithin = 100 * time.Millisecond

// A settlement ends Visits: it counts outcomes, writes those without a response to the journal, passes Pages on, and
// returns the Visit. All that belongs together is done in one step of the journal.
type settlement struct {
	Records
	cluster  cluster.VisitGate
	groups   *addrgroup.Groups
	results  *visit.ResultQueue
	pool     *fetch.Pool
	queues   *Queues
	hashSeed uint64
	entry    *journal.Pending // of an attempt without a response
	scratch  []byte           // for items that go to other agents
}

// end passes a Page with something to archive on to the parse workers, and settles an attempt without. Of a response
// without a complete head only that of the last try is kept.
func (s *settlement) end(ctx context.Context, c *current, p *fetch.Page) error {
	a := attempt.Of(p)
	a.Fingerprint = urlx.Fingerprint(s.hashSeed, a.URL)
	a.Due = attempt.Due{Site: c.result.Release.SiteDue, IP: c.result.Release.IPDue}
	if c.namedDue.After(a.Due.Site) {
		a.Due.Site = c.namedDue
	}
	c.namedDue = time.Time{}
	if p.HeadLen > 0 || len(p.Raw) > 0 && !a.WillRetry && !a.IsRobots {
		s.queues.PagesOut.Add(1)
		s.giveBackFor(c, a)
		s.queues.passOn(p)
		return nil
	}
	defer s.pool.Put(p)
	if a.WillRetry || a.IsRobots {
		return s.count(c, p, func() error { return nil })
	}
	s.entry.Entry = journal.Entry{
		Kind: journal.KindPage, FP: a.Fingerprint, Outcome: a.Outcome, Depth: a.Depth, Embeds: a.Embeds, Hops: a.Redirects,
	}
	for {
		err := s.count(c, p, func() error { return s.Store.Write(s.entry) })
		if err == nil {
			return nil
		}
		if err := s.Store.Disk.Wait(ctx, err); err != nil {
			if errors.Is(err, outage.ErrFullAtStop) { // the URL is tried again in the next run, and its site waits
				c.returnItem() // not the copy of the Page, which goes to another site
				s.giveBack(c)
				return nil
			}
			return err
		}
	}
}

// count writes, logs and counts an attempt without a response, and returns the Visit.
func (s *settlement) count(c *current, p *fetch.Page, write func() error) error {
	a := attempt.Of(p)
	s.Store.Steps.Begin()
	defer s.Store.Steps.End()
	if err := write(); err != nil {
		return err
	}
	s.Log.Attempt(p, a, coding.OK, "")
	n := &s.Store.Count
	switch {
	case a.IsRobots:
		n.RobotsFetched.Add(1)
	case a.WillRetry:
		n.Attempts.Add(1)
		n.Retries.Add(1)
	default:
		n.Attempts.Add(1)
		n.Finish(a.Outcome, 1)
		s.cluster.NoteAnswered(a.Outcome, a.URL)
	}
	s.put(c)
	return nil
}

// giveBack returns the Visit.
func (s *settlement) giveBack(c *current) {
	s.Store.Steps.Begin()
	defer s.Store.Steps.End()
	s.put(c)
}

// giveBackFor returns the Visit of an attempt whose Page goes to a parse worker. From now on the Page has the item.
func (s *settlement) giveBackFor(c *current, a *attempt.Attempt) {
	s.Store.Steps.Begin()
	defer s.Store.Steps.End()
	if !a.WillRetry && !a.IsRobots {
		s.InFlight.Add(a)
	}
	s.put(c)
}

// put counts the refused items and returns the Visit. The caller is in a step.
func (s *settlement) put(c *current) {
	for _, r := range c.refused {
		switch {
		case r.holder != "":
			s.cluster.RouteRecovered(r.holder, r.routed)
		case r.routed != nil:
			s.scratch = s.cluster.Route(s.scratch, r.routed)
		}
		if r.outcome != outcome.None {
			s.Store.Count.Finish(r.outcome, 1)
		}
		if r.finished != (xxh3.Uint128{}) {
			s.Finished.Remove(r.finished)
		}
	}
	clear(c.refused)
	c.refused = c.refused[:0]
	if len(c.lines) > 0 {
		s.Log.AddLines(c.lines)
		c.lines = c.lines[:0]
	}
	s.giveAddress(c)
	c.result.Visit.Site = c.site
	r := c.result
	c.result = nil // the returner has it now
	s.results.Put(r)
}

// giveAddress ends the lease of the address.
func (s *settlement) giveAddress(c *current) {
	if !c.leased {
		return
	}
	c.leased = false
	v, release := &c.result.Visit, &c.result.Release
	due := release.IPDue
	if due.Before(release.SiteDue) && !s.cluster.Owns(v.Key) { // the new owner does not know about this exchange
		due = release.SiteDue
	}
	soon := func(due time.Time) bool { return !due.IsZero() && due.Before(release.IPDue.Add(reuseWithin)) }
	s.cluster.ReleaseAddress(v.Addr, due, soon(v.NextDue) || soon(release.SiteDue))
	if c.shared.IsValid() {
		s.groups.EndExchange(c.shared, due, time.Now())
		s.cluster.ReleaseAddress(c.shared, due, false)
		c.shared = netip.Addr{}
	}
}
