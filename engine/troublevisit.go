package engine

import (
	"context"
	"time"

	"orbweaver/engine/attempt"
	"orbweaver/engine/fetch"
	"orbweaver/engine/outcome"
	"orbweaver/engine/politeness"
	"orbweaver/engine/queued"
	"orbweaver/engine/site"
	"orbweaver/engine/urlx"
	"orbweaver/engine/visit"
)

// A failure of a site costs none of its URLs a try, a failure of a URL does. No connection is the site's failure. Of
// other failures (5xx, a reset, no answer in time) the crawler cannot know; the first counts as the URL's own, and
// those that follow do not until the site has answered something else. A URL whose failure does not count goes behind
// all others of its site, so that the others get their turn. If these fail too, or there are none, the site is asked
// for a proof that it is there: see NextProbe.

const (
	laterMost = 3 // URLs that a failed one lets pass whose failure counts as a try

	// slowing is which part of the time of failure a site is left alone at least, until a proof says that its URLs are
	// broken.
	slowing = 64

	// proofAfter is for how long pages fail before a proof shows that the URLs are broken and not the site. A deploy or
	// a reboot, during which a server in front answers robots.txt from its disk, is over by then. It is less than the
	// stall wait, so a crawl whose last URLs are broken ends as finished.
	proofAfter = 30 * time.Minute
)

// proofWait is proofAfter for a crawl that stalls after so long.
func proofWait(stallWait time.Duration) time.Duration { return min(proofAfter, max(stallWait, 0)/2) }

// answered notes an answer of the site.
func (w *fetchWorker) answered(p *fetch.Page) {
	switch f := attempt.Of(p); {
	case w.target.Robots:
		w.site.NoteRobotsAnswer(p.Ended, w.proofWait)
	case f.IsProbe:
		w.site.NoteRootAnswer()
	default:
		w.site.NotePageAnswer()
		w.site.HasServedRoot = w.site.HasServedRoot || isRoot(f.URL)
	}
}

// isRoot says that a URL in normal form is the root page of its site.
func isRoot(url []byte) bool {
	_, path := urlx.Split(url)
	return len(path) == 1
}

// isOwnFailure says whether a failure will count as a try of the URL. It must be asked before the failure is noted.
func (w *fetchWorker) isOwnFailure(p *fetch.Page, o outcome.Outcome) bool {
	t := w.site.FailureStreak()
	switch {
	case p.ProxyDown:
		return false
	case !w.site.HasAnswered:
		return true
	case o.Class() == outcome.ClassHost, o == outcome.BlockedAddress, o == outcome.BlockedPort:
		return false
	case t.ServesPages:
		return true
	case o == outcome.TooMany:
		return t.FirstAt == 0
	default:
		return t.Count == 0
	}
}

// note notes what an attempt says of the site, and makes a site that has answered before wait ever longer while it
// fails.
func (w *fetchWorker) note(p *fetch.Page, o outcome.Outcome, a *politeness.Attempt, d *politeness.Decision) {
	s := &w.site
	switch {
	case o.Class() == outcome.ClassAnswer:
		if s.HasAnswered || !w.target.Robots || o != outcome.Redirect { // a robots.txt that leads nowhere is no answer
			w.answered(p)
		}
		return
	case o == outcome.Stale, o == outcome.HeaderTooLarge: // nothing about the site
		return
	case o.Class() == outcome.ClassRefusal && o != outcome.BlockedAddress && o != outcome.BlockedPort:
		return
	}
	var back time.Time
	policy := w.live.Policy()
	if a.RetryAfter > 0 {
		back = p.Ended.Add(min(a.RetryAfter, policy.RetryAfterMax))
	}
	s.NoteFailure(o, p.Ended, back)
	switch {
	case attempt.Of(p).IsProbe:
		s.NoteProbeFailure(site.RootProbe)
	case w.target.Robots:
		s.NoteProbeFailure(site.RobotsProbe)
	}
	if t := s.FailureStreak(); (s.HasAnswered || p.ProxyDown) && t.Count > 1 {
		wait := max(policy.FailureWait(int(t.Count)-1, a.Jitter), min(s.FailingFor(p.Ended)/slowing, policy.BackoffMax))
		if due := p.Ended.Add(wait); due.After(d.SiteDue) {
			d.SiteDue = due
		}
	}
}

// spare changes a Decision for a site that has answered before: it is not given up, and its failures cost the URL no
// try, before it has failed for --give-up.
func (w *fetchWorker) spare(r *visit.Result, p *fetch.Page, o outcome.Outcome, own bool, d *politeness.Decision) {
	switch {
	case o.Class() == outcome.ClassAnswer:
	case w.isOverdue(p.Ended):
		d.GiveUpSite = true
	case p.ProxyDown:
		d.GiveUpSite, d.Retry = false, true
	case !w.site.HasAnswered || o.Class() == outcome.ClassRefusal && !d.GiveUpSite:
	default:
		if o.Class() == outcome.ClassRefusal { // its name leads to an address that is not allowed, as after a hijack
			r.Release.Unresolved = true
		}
		d.GiveUpSite = false
		d.Retry = d.Retry || !own
	}
}

// isOverdue says that the site has failed for --give-up.
func (w *fetchWorker) isOverdue(now time.Time) bool {
	return !w.site.FailureStreak().ServesPages && w.site.FailingFor(now) >= w.giveUp
}

// fateOf is the outcome of the URLs that are queued for a site that is given up over an attempt that came to o.
func (w *fetchWorker) fateOf(o outcome.Outcome, now time.Time) outcome.Outcome {
	if w.isOverdue(now) {
		return outcome.GivenUp
	}
	return o
}

// tryLater gives an item back that is to be tried again. If its failure counts as a try, it lets some others pass that
// are in this Visit, and else all others of its site.
func (w *fetchWorker) tryLater(r *visit.Result, o outcome.Outcome, own bool, item []byte) {
	pass := 0
	if w.site.HasAnswered && o != outcome.Stale && (o.Class() == outcome.ClassFault || o.Class() == outcome.ClassBusy) {
		pass = min(len(r.Release.Unused), laterMost)
		r.RequeueLast = !own
	}
	r.Release.Front = append(append([][]byte(nil), r.Release.Unused[:pass]...), item)
	r.Release.Unused = r.Release.Unused[pass:]
}

// asksFirst does what comes before the next page, so many links from a seed, of a Visit with so many items: it asks for
// missing rules, or a site in trouble for a proof that it is there, or gives the site up. It says whether it did.
func (w *fetchWorker) asksFirst(ctx context.Context, r *visit.Result, now time.Time, items, depth int) (bool, error) {
	s := &w.site
	switch {
	case !s.NeedsRobots(now):
	case s.Rules == nil && s.RobotsTries >= site.RobotsTriesMax && !s.HasAnswered:
		s.DeadOutcome = outcome.RobotsUnreachable
		r.Release.Kill = true
		w.giveBack(r, nil)
		return true, nil
	default:
		return true, w.robotsOwn(ctx, r, depth)
	}
	if s.FailureStreak() == (site.FailureStreak{}) {
		return false, nil
	}
	switch s.NextProbe(items, s.FailingFor(now) < w.proofWait) {
	case site.RobotsProbe:
		return true, w.robotsOwn(ctx, r, depth)
	case site.RootProbe:
		w.url = append(append(w.url[:0], r.Visit.Key...), '/')
		if w.passesFilters(w.live.Fetch.Load(), &queued.URL{Depth: depth}) {
			return true, w.askRoot(ctx, r, depth)
		}
		s.NoteRootFiltered()
	default:
	}
	return false, nil
}

// askRoot asks for the root page of a site, whose URL is in w.url, as a proof. It is no page of the crawl: it has its
// line in crawl.log, but it is not archived, and its links are not followed.
func (w *fetchWorker) askRoot(ctx context.Context, r *visit.Result, depth int) error {
	if !w.borrow(ctx, r, nil) {
		return nil
	}
	p, err := w.pool.Get(ctx)
	if err != nil {
		w.giveBack(r, nil)
		return nil //nolint:nilerr // the stop is told by ctx
	}
	f := attempt.Of(p)
	f.Begin(nil, w.url, &queued.URL{Depth: depth})
	f.IsProbe, f.WillRetry = true, true
	w.target = fetch.Target{Fresh: true, Cookie: w.cookiesFor(f.URL)}
	o := w.exchange(ctx, r, p)
	w.takeCookies(p)
	switch {
	case o == outcome.Cancelled:
		w.hungUp(r, p, 0)
		w.giveBack(r, nil)
		w.pool.Put(p)
		return nil
	case o == outcome.LocalFault:
		return w.notTried(ctx, r, p, nil)
	case !w.blamed:
		return w.putOff(ctx, r, p, nil)
	}
	d := w.decide(r, p, o, 1) // not the first try of a URL: it adds nothing to the site's strain
	if o.Class() == outcome.ClassHost {
		w.otherAddr(r)
	}
	if w.spare(r, p, o, false, &d); d.GiveUpSite {
		w.site.DeadOutcome = w.fateOf(o, p.Ended)
		r.Release.Kill = true
	}
	f.Outcome, f.Fingerprint = o, urlx.Fingerprint(w.hashSeed, f.URL)
	f.SiteDue, f.IPDue = r.Release.SiteDue, r.Release.IPDue
	return w.hand(ctx, r, p, f)
}
