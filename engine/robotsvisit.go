package engine

import (
	"context"
	"time"

	"orbweaver/engine/fetch"
	"orbweaver/engine/outcome"
	"orbweaver/engine/robots"
	"orbweaver/engine/urlx"
)

// RFC 9309, section 2.3, in the words of this file: a site whose rules are missing or stale is asked for /robots.txt
// before anything else. 2xx is parsed; 4xx means that all is allowed; up to five redirects are followed, each hop a
// priority item on the bench of the site it leads to, while the site that needs the rules is parked; 5xx, 429 and an
// unreachable server mean that nothing is allowed, so the site waits and is asked again.
//
// A copy is good for 24 hours and never longer. It is asked for again before it ends, so that a server that is down for an hour
// or two at that time is no loss: the copy serves on meanwhile. After its end nothing is allowed until there is a new one. A site that
// has never answered, and does not give one in seven attempts, is given up, and its queued URLs have the outcome RobotsUnreachable. A site that
// has answered before keeps its queue and is asked again every half hour (trouble.go). What the RFC lets
// a crawler do after 30 days, to take such a site for one without rules, this one never does.

const (
	robotsLife    = 24 * time.Hour   // a copy is good for this long
	robotsHopsMax = 5                // redirects followed
	robotsQuick   = 3                // attempts in a row, spaced by the retry policy
	robotsTries   = 7                // attempts before a site is given up that has never answered: half an hour
	robotsWait    = 2 * time.Minute  // after the quick attempts; doubles
	robotsEarly   = 2 * time.Hour    // so long before its end a copy is asked for again
	robotsAgain   = 30 * time.Minute // and then in such steps, while the server does not answer
	robotsPath    = "/robots.txt"
	robotsToken   = "orbweaver"
)

// robotsHop is a redirect of a robots.txt to another site.
type robotsHop struct {
	site   []byte // where it leads
	origin []byte // whose rules they are
	item   []byte
}

// robotsVerdict is what came of it, for the site that waits.
type robotsVerdict struct {
	site        []byte
	rules       *robots.Rules // nil when unreachable
	unreachable bool
	age         time.Duration // of the rules, if another agent fetched them
}

// apply writes the verdict into the waiting site.
func (v *robotsVerdict) apply(s *Site, now time.Time) {
	if v.unreachable {
		s.robotsUnreachable(now)
		return
	}
	s.setRules(v.rules, now.Add(robotsLife-v.age))
	s.RobotsTry, s.Denied = 0, false
}

// crawlDelay is what the site's rules ask for, 0 if nothing.
func (s *Site) crawlDelay() time.Duration {
	if s.Rules == nil {
		return 0
	}
	d, _ := s.Rules.CrawlDelay()
	return d
}

// robotsUnreachable notes one more failure; an old copy serves on to its end.
func (s *Site) robotsUnreachable(now time.Time) {
	if s.RobotsTry < 127 {
		s.RobotsTry++
	}
	s.dropRules(now)
	s.Denied = s.Rules == nil
}

// robotsOwn fetches the site's own robots.txt, which a page so many links from a seed waits for.
func (w *fetchWorker) robotsOwn(ctx context.Context, r *returned, depth int) error {
	w.url = append(append(w.url[:0], r.visit.Key...), robotsPath...)
	it := Item{Try: int(w.site.RobotsTry), Depth: depth}
	return w.robotsFetch(ctx, r, r.visit.Key, nil, &it)
}

// robotsHop fetches a hop of somebody's redirect chain.
func (w *fetchWorker) robotsHop(ctx context.Context, r *returned, raw []byte, it *Item) error {
	w.url = append(append(w.url[:0], r.visit.Key...), it.Rest...)
	return w.robotsFetch(ctx, r, it.RobotsOf, raw, it)
}

// robotsFetch makes the exchange and acts on its outcome. raw is nil for a site's own robots.txt.
func (w *fetchWorker) robotsFetch(ctx context.Context, r *returned, origin, raw []byte, it *Item) error {
	if !w.borrow(ctx, r, raw) {
		return nil
	}
	p, err := w.pool.Get(ctx)
	if err != nil {
		if raw != nil {
			r.release.Front = [][]byte{raw}
		}
		w.giveBack(r, nil)
		return nil //nolint:nilerr // the stop is told by ctx
	}
	f := flightOf(p)
	f.board(raw, w.url, it)
	f.robots = true
	w.target = fetch.Target{Robots: true, Fresh: true} // a failure counts against the site, so it must be none of an old connection
	o := w.exchange(ctx, r, p)
	if o == outcome.Cancelled {
		w.hungUp(r, p, 0)
		if raw != nil {
			r.release.Front = [][]byte{raw}
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
	d := w.decide(r, p, o, min(it.Try, robotsQuick-1))
	f.outcome, f.fp = o, urlx.Fingerprint(w.hashSeed, f.url)
	v := &robotsVerdict{site: origin}
	switch {
	case o == outcome.Redirect && it.Hops < robotsHopsMax && w.robotsRedirect(r, p, origin, it):
		v = nil
	case o == outcome.OK, isPageStatus(p.Status) && p.HeadLen > 0 && o != outcome.CutDisconnect && o != outcome.CutTime:
		body, _ := p.Decoded(w.decoder)
		if rules := robots.Parse(body, robotsToken); w.rules.mayTake(rules) {
			v.rules = w.rules.share(rules)
			w.capDelay(rules, origin)
		} else {
			v.unreachable = true
			w.clamps.robotsLarge(time.Now(), origin, rules.Size())
		}
	case o.Class() == outcome.ClassAnswer && !isPageStatus(p.Status):
		v.rules = w.rules.share(robots.AllowAll())
	case p.ProxyDown:
		if v = nil; raw != nil {
			r.release.Front = [][]byte{raw}
		}
	case raw != nil && d.Retry:
		again := *it
		again.Try++
		r.release.Front = [][]byte{appendItem(nil, &again)}
		v = nil
	default:
		v.unreachable = true
	}
	if v != nil {
		w.robotsSettle(r, v, o, raw == nil, d.KillSite)
	}
	// The delay that was just learned holds for the very next request.
	if due := p.Ended.Add(w.live.policy().SiteDelay(w.terms.Delay(), w.site.crawlDelay())); due.After(r.release.SiteDue) && p.HasHead() {
		r.release.SiteDue = due
	}
	f.siteDue, f.ipDue = r.release.SiteDue, r.release.IPDue
	return w.hand(ctx, r, p, f)
}

// robotsPause is how long a site without rules waits after so many attempts at them.
func robotsPause(tries int8) time.Duration {
	if tries < robotsQuick {
		return 0
	}
	return robotsWait << (min(tries, robotsTries) - robotsQuick)
}

// capDelay tells of a Crawl-delay that is longer than what is kept of it.
func (w *fetchWorker) capDelay(rules *robots.Rules, site []byte) {
	most := w.live.policy().CrawlDelayMax
	if asked, _ := rules.CrawlDelay(); asked > most {
		w.ledger.n.delayCapped.Add(1)
		w.clamps.crawlDelay(time.Now(), site, asked, most)
	}
}

// robotsRedirect sends a hop on; false when the target is nothing to be fetched.
func (w *fetchWorker) robotsRedirect(r *returned, p *fetch.Page, origin []byte, it *Item) bool {
	url, err := urlx.Resolve(nil, w.url, p.Location())
	if err != nil {
		return false
	}
	site, path := urlx.Split(url)
	hop := Item{RobotsOf: origin, Hops: it.Hops + 1, Depth: it.Depth, Rest: path}
	item := appendItem(nil, &hop)
	if here := string(r.visit.Key); string(site) == here {
		r.release.Front = [][]byte{item} // the next Visit of this very site
		return true
	} else if string(origin) == here {
		r.release.Park = true
	}
	r.hop = &robotsHop{site: site, origin: append([]byte(nil), origin...), item: item}
	return true
}

// robotsSettle gives the verdict to the site: directly when it is the one visited, by the returner when it waits.
func (w *fetchWorker) robotsSettle(r *returned, v *robotsVerdict, o outcome.Outcome, own, kill bool) {
	if !own {
		v.site = append([]byte(nil), v.site...)
		r.verdict = v
		if string(v.site) != string(r.visit.Key) {
			return
		}
		// A chain that came home: the site visited is the one that needs the rules. It is not parked, so the
		// verdict is applied here, where the Visit is held.
		r.verdict = nil
	}
	site := &w.site
	now := time.Now()
	v.apply(site, now)
	if !v.unreachable || site.Rules != nil {
		return
	}
	switch {
	case !site.Answered && (kill || site.RobotsTry >= robotsTries), w.isOverdue(now):
		site.Fate = outcome.RobotsUnreachable
		if o.Class() == outcome.ClassHost {
			site.Fate = o
		}
		site.Fate = w.fateOf(site.Fate, now)
		r.release.Kill = true
	default:
		if due := now.Add(robotsPause(site.RobotsTry)); due.After(r.release.SiteDue) {
			r.release.SiteDue = due
		}
	}
	if o.Class() == outcome.ClassHost {
		w.otherAddr(r)
	}
}
