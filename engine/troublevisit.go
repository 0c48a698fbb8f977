package engine

import (
	"time"

	"orbweaver/engine/fetch"
	"orbweaver/engine/outcome"
	"orbweaver/engine/politeness"
)

// A failure of a site costs none of its URLs a try, a failure of a URL does. No connection is the site's failure. Of other failures (5xx, a reset, no
// answer in time) nobody can know; the first counts as the URL's own, and those that follow do not until the site has answered something
// else. So the failed URL goes behind the next ones, and if those fail too, or there are none, robots.txt is asked for: after proofAfter it proves that
// the server is there. A 429 speaks of the pace: only an answer to a request for a page ends that.

const (
	laterMost   = 3 // URLs that a failed one lets pass
	proofPeriod = 4 // of so many requests to a site in trouble, the last is for robots.txt

	// proofAfter is for how long pages fail before an answer to robots.txt proves that the URLs are broken and not the site. A deploy or a reboot,
	// during which a server in front answers robots.txt from its disk, is over by then. It is less than the stall wait, so a crawl whose last URLs are
	// broken ends as finished.
	proofAfter = 30 * time.Minute
)

// proofWait is proofAfter for a crawl that stalls after so long.
func proofWait(stallWait time.Duration) time.Duration { return min(proofAfter, max(stallWait, 0)/2) }

// answered notes an answer of the site.
func (w *fetchWorker) answered(p *fetch.Page) {
	if w.target.Robots {
		w.site.answeredRobots(p.Ended, w.proofWait)
	} else {
		w.site.answeredPage()
	}
}

// isOwnFailure says whether a failure will count as a try of the URL. It must be asked before the failure is noted.
func (w *fetchWorker) isOwnFailure(p *fetch.Page, o outcome.Outcome) bool {
	t := w.site.trouble()
	switch {
	case p.ProxyDown:
		return false
	case !w.site.Answered:
		return true
	case o.Class() == outcome.ClassHost, o == outcome.BlockedAddress, o == outcome.BlockedPort:
		return false
	case o == outcome.TooMany:
		return t.since == 0
	default:
		return t.row == 0
	}
}

// note notes what an attempt says of the site, and makes a site that has answered before wait ever longer while it fails.
func (w *fetchWorker) note(p *fetch.Page, o outcome.Outcome, a *politeness.Attempt, d *politeness.Decision) {
	site := &w.site
	switch {
	case o.Class() == outcome.ClassAnswer:
		if site.Answered || !w.target.Robots || o != outcome.Redirect { // a robots.txt that leads nowhere is no answer
			w.answered(p)
		}
		return
	case o == outcome.Stale, o == outcome.HeaderTooLarge: // nothing about the site
		return
	case o.Class() == outcome.ClassRefusal && o != outcome.BlockedAddress && o != outcome.BlockedPort:
		return
	}
	var back time.Time
	policy := w.live.policy()
	if a.RetryAfter > 0 {
		back = p.Ended.Add(min(a.RetryAfter, policy.RetryAfterMax))
	}
	site.failed(o, p.Ended, back)
	if row := int(site.trouble().row); (site.Answered || p.ProxyDown) && row > 1 {
		if due := p.Ended.Add(policy.TroubleWait(row-1, a.Jitter)); due.After(d.SiteDue) {
			d.SiteDue = due
		}
	}
}

// spare changes a Decision for a site that has answered before: it is not given up, and its failures cost the URL no try, before
// it has failed for --give-up.
func (w *fetchWorker) spare(r *returned, p *fetch.Page, o outcome.Outcome, own bool, d *politeness.Decision) {
	switch {
	case o.Class() == outcome.ClassAnswer:
	case w.isOverdue(p.Ended):
		d.KillSite = true
	case p.ProxyDown:
		d.KillSite, d.Retry = false, true
	case !w.site.Answered || o.Class() == outcome.ClassRefusal && !d.KillSite:
	default:
		if o.Class() == outcome.ClassRefusal { // its name leads to an address that is not allowed, as after a hijack
			r.release.Newborn = true
		}
		d.KillSite = false
		d.Retry = d.Retry || !own
	}
}

// isOverdue says that the site has failed for --give-up.
func (w *fetchWorker) isOverdue(now time.Time) bool { return w.site.failedFor(now) >= w.giveUp }

// fateOf is the outcome of the URLs that are queued for a site that is given up over an attempt that came to o.
func (w *fetchWorker) fateOf(o outcome.Outcome, now time.Time) outcome.Outcome {
	if w.isOverdue(now) {
		return outcome.GivenUp
	}
	return o
}

// tryLater gives an item back that is to be tried again. That of a site that answers other requests lets some others pass.
func (w *fetchWorker) tryLater(r *returned, o outcome.Outcome, item []byte) {
	pass := 0
	if w.site.Answered && o != outcome.Stale && (o.Class() == outcome.ClassFault || o.Class() == outcome.ClassBusy) {
		pass = min(len(r.release.Unused), laterMost)
	}
	r.release.Front = append(append([][]byte(nil), r.release.Unused[:pass]...), item)
	r.release.Unused = r.release.Unused[pass:]
}

// wantsProof says that a site in trouble, of whose items so many are in this Visit, must prove by its robots.txt that it is there.
func (w *fetchWorker) wantsProof(items int) bool {
	if w.site.rare == nil || !w.site.Answered {
		return false
	}
	t := w.site.trouble()
	if t.why.Class() != outcome.ClassFault && t.why != outcome.Unavailable || t.why == outcome.ProxyFault {
		return false
	}
	return items == 1 && t.row > 0 && t.row%2 == 0 || t.row%proofPeriod == proofPeriod-1
}
