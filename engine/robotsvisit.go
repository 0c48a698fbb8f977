package engine

import (
	"context"
	"time"

	"orbweaver/engine/attempt"
	"orbweaver/engine/fetch"
	"orbweaver/engine/outcome"
	"orbweaver/engine/queued"
	"orbweaver/engine/robots"
	"orbweaver/engine/site"
	"orbweaver/engine/urlx"
	"orbweaver/engine/visit"
)

// RFC 9309, section 2.3, in the words of this file: a site whose rules are missing or stale is asked for /robots.txt
// before anything else. 2xx is parsed; 4xx means that all is allowed; up to five redirects are followed, each hop a
// priority item on the bench of the site it leads to, while the site that needs the rules is parked; 5xx, 429 and an
// unreachable server mean that nothing is allowed, so the site waits and is asked again.
//
// A copy is good for 24 hours and never longer. It is asked for again before it ends, so that a server that is down for
// an hour or two at that time is no loss: the copy serves on meanwhile. After its end nothing is allowed until there is
// a new one. A site that has never answered, and does not give one in seven attempts, is given up, and its queued URLs
// have the outcome RobotsUnreachable. A site that has answered before keeps its queue and is asked again every half
// hour (troublevisit.go). It is never treated as a site without rules, which RFC 9309 permits after 30 days.

const robotsHopsMax = 5 // redirects followed

// robotsOwn fetches the site's own robots.txt, which a page so many links from a seed waits for.
func (w *fetchWorker) robotsOwn(ctx context.Context, r *visit.Result, depth int) error {
	w.url = append(append(w.url[:0], r.Visit.Key...), robots.FilePath...)
	it := queued.URL{Tries: int(w.site.RobotsTries), Depth: depth}
	return w.robotsFetch(ctx, r, r.Visit.Key, nil, &it)
}

// robotsHop fetches a hop of somebody's redirect chain.
func (w *fetchWorker) robotsHop(ctx context.Context, r *visit.Result, raw []byte, it *queued.URL) error {
	w.url = append(append(w.url[:0], r.Visit.Key...), it.Rest...)
	return w.robotsFetch(ctx, r, it.RobotsOf, raw, it)
}

// robotsFetch makes the exchange and acts on its outcome. raw is nil for a site's own robots.txt.
func (w *fetchWorker) robotsFetch(ctx context.Context, r *visit.Result, origin, raw []byte, it *queued.URL) error {
	if !w.borrow(ctx, r, raw) {
		return nil
	}
	p, err := w.pool.Get(ctx)
	if err != nil {
		if raw != nil {
			r.Release.Front = [][]byte{raw}
		}
		w.giveBack(r, nil)
		return nil //nolint:nilerr // the stop is told by ctx
	}
	f := attempt.Of(p)
	f.Begin(raw, w.url, it)
	f.IsRobots = true
	w.target = fetch.Target{Robots: true, Fresh: true} // a failure counts against the site, so it must be none of an old connection
	o := w.exchange(ctx, r, p)
	if o == outcome.Cancelled {
		w.hungUp(r, p, 0)
		if raw != nil {
			r.Release.Front = [][]byte{raw}
		}
		w.giveBack(r, nil)
		w.pool.Put(p)
		return nil
	}
	if o == outcome.LocalFault {
		return w.notTried(ctx, r, p, raw)
	}
	if !w.blamed {
		return w.putOff(ctx, r, p, raw)
	}
	d := w.decide(r, p, o, min(it.Tries, site.RobotsQuickTries-1))
	f.Outcome, f.Fingerprint = o, urlx.Fingerprint(w.hashSeed, f.URL)
	v := &site.RobotsResult{Site: origin}
	switch {
	case o == outcome.Redirect && it.Redirects < robotsHopsMax && w.robotsRedirect(r, p, origin, it):
		v = nil
	case o == outcome.OK, outcome.IsPageStatus(p.Status) && p.HeadLen > 0 && o != outcome.CutDisconnect && o != outcome.CutTime:
		body, _ := p.Decoded(w.decoder)
		if rules := robots.Parse(body, robots.Token); w.rules.Accepts(rules) {
			v.Rules = w.rules.Share(rules)
			w.capDelay(rules, origin)
		} else {
			v.Unreachable = true
			w.clamps.RobotsLarge(time.Now(), origin, rules.Size())
		}
	case o.Class() == outcome.ClassAnswer && !outcome.IsPageStatus(p.Status):
		v.Rules = w.rules.Share(robots.AllowAll())
	case p.ProxyDown:
		if v = nil; raw != nil {
			r.Release.Front = [][]byte{raw}
		}
	case raw != nil && d.Retry:
		again := *it
		again.Tries++
		r.Release.Front = [][]byte{queued.Append(nil, &again)}
		v = nil
	default:
		v.Unreachable = true
	}
	if v != nil {
		w.robotsSettle(r, v, o, raw == nil, d.GiveUpSite)
	}
	// The delay that was just learned holds for the very next request.
	if due := p.Ended.Add(w.live.Policy().SiteDelay(w.terms.Delay(), w.site.CrawlDelay())); due.After(r.Release.SiteDue) && p.HasHead() {
		r.Release.SiteDue = due
	}
	f.SiteDue, f.IPDue = r.Release.SiteDue, r.Release.IPDue
	return w.hand(ctx, r, p, f)
}

// capDelay tells of a Crawl-delay that is longer than what is kept of it.
func (w *fetchWorker) capDelay(rules *robots.Rules, site []byte) {
	most := w.live.Policy().CrawlDelayMax
	if asked, _ := rules.CrawlDelay(); asked > most {
		w.ledger.Count.DelayCapped.Add(1)
		w.clamps.CrawlDelay(time.Now(), site, asked, most)
	}
}

// robotsRedirect sends a hop on; false when the target is nothing to be fetched.
func (w *fetchWorker) robotsRedirect(r *visit.Result, p *fetch.Page, origin []byte, it *queued.URL) bool {
	url, err := urlx.Resolve(nil, w.url, p.Location())
	if err != nil {
		return false
	}
	s, path := urlx.Split(url)
	hop := queued.URL{RobotsOf: origin, Redirects: it.Redirects + 1, Depth: it.Depth, Rest: path}
	item := queued.Append(nil, &hop)
	if here := string(r.Visit.Key); string(s) == here {
		r.Release.Front = [][]byte{item} // the next Visit of this very site
		return true
	} else if string(origin) == here {
		r.Release.Park = true
	}
	r.RobotsRedirect = &site.RobotsRedirect{Site: s, Origin: append([]byte(nil), origin...), Item: item}
	return true
}

// robotsSettle gives the verdict to the site: directly when it is the one visited, by the returner when it waits.
func (w *fetchWorker) robotsSettle(r *visit.Result, v *site.RobotsResult, o outcome.Outcome, own, kill bool) {
	if !own {
		v.Site = append([]byte(nil), v.Site...)
		r.RobotsResult = v
		if string(v.Site) != string(r.Visit.Key) {
			return
		}
		// A chain that came home: the site visited is the one that needs the rules. It is not parked, so the
		// verdict is applied here, where the Visit is held.
		r.RobotsResult = nil
	}
	s := &w.site
	now := time.Now()
	v.Apply(s, now)
	if !v.Unreachable || s.Rules != nil {
		return
	}
	switch {
	case !s.HasAnswered && (kill || s.RobotsTries >= site.RobotsTriesMax), w.isOverdue(now):
		s.DeadOutcome = outcome.RobotsUnreachable
		if o.Class() == outcome.ClassHost {
			s.DeadOutcome = o
		}
		s.DeadOutcome = w.fateOf(s.DeadOutcome, now)
		r.Release.Kill = true
	default:
		if due := now.Add(site.RobotsRetryWait(s.RobotsTries)); due.After(r.Release.SiteDue) {
			r.Release.SiteDue = due
		}
	}
	if o.Class() == outcome.ClassHost {
		w.otherAddr(r)
	}
}
