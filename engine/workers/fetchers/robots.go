package fetchers

import (
	"bytes"
	"time"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/fetch/coding"
	"orbweaver/engine/net/robots"
	"orbweaver/engine/page/robotsanswer"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// RFC 9309, section 2.3, as it is kept here: a site whose rules are missing or expire soon is asked for /robots.txt
// before anything else. What follows from the answer is decided by package robotsanswer; docs/robots.md has its table.
// Up to five redirects are followed: each target is fetched by a Visit of its own site, while the site that needs the
// rules is parked. As long as the file is not known everything is disallowed, so the site waits and is asked again.
// Such an answer counts as a failure of the site, whatever its status is.

// A copy is valid for 24 hours. It is fetched again before it expires, so that a server that is down for an hour or
// two does not matter: the copy stays in use meanwhile. When it has expired nothing is allowed until there is a new
// one. A site that has never answered is given up after seven attempts with the outcome RobotsUnreachable. A site that
// has answered before keeps its queue and is asked again every half hour (see consequences). It is never treated as a
// site without rules, which RFC 9309 permits after 30 days.

// A site may redirect to any other, which did not ask for that. So what the target answers says nothing about the site
// that it is at: it counts neither for it nor against it, and changes no delay. The target is asked once; the site that
// needs the rules pays for a failure. See schedule.RobotsTargets.

// robotsVisits decides what follows from the exchange of a robots.txt.
type robotsVisits struct {
	*consequences
	rules   *site.RulesPool
	decoder *coding.Decoder
}

// conclude decides what follows from the exchange of the robots.txt of the site of the Visit.
func (r *robotsVisits) conclude(c *current, p *fetch.Page, o outcome.Outcome) {
	fault := r.settle(c, p, o)
	// The Crawl-delay that was just read also holds for the next request.
	if p.HasHead() {
		c.postponeSite(p.Times.Ended.Add(r.Live.Policy().SiteDelay(c.settings.Delay(), c.site.CrawlDelay())))
	}
	r.tell(p, c.result.Visit.Key, fault, c.result.Release.SiteDue)
}

// settle applies the result of an exchange, unless there is none yet: after a redirect, or if the item is tried again.
// It returns why the file is not known.
func (r *robotsVisits) settle(c *current, p *fetch.Page, o outcome.Outcome) robots.Fault {
	origin := c.result.Visit.Key
	if o == outcome.Redirect && c.queued.Redirects < robots.RedirectsMax && r.redirect(c, p) {
		r.decide(c, p, o, r.tryOf(c))
		return robots.NoFault
	}
	rules, fault := r.rulesOf(p, o, origin, c.queued.Redirects)
	counted := r.note(p, o, fault)
	d := r.decide(c, p, counted, r.tryOf(c))
	switch {
	case rules != nil:
	case c.ofWay, c.nextAddr:
		c.returnItem()
		return fault
	case c.item != nil && d.Retry:
		again := c.queued
		again.Tries++
		c.result.Release.Front = [][]byte{queued.Append(nil, &again)}
		return fault
	}
	result := &site.RobotsResult{Site: origin, Rules: rules, Unreachable: rules == nil, Fault: fault}
	r.apply(c, result, counted, d.GiveUpSite)
	return fault
}

// tell tells the log of an answer that leaves the rules of a site unknown. due is when the site is asked again.
func (r *robotsVisits) tell(p *fetch.Page, origin []byte, fault robots.Fault, due time.Time) {
	if fault != robots.NoFault && fault != robots.FaultMemory {
		u := settings.UnknownRobots{Site: origin, Seen: fault.Seen(), Status: p.Status, Due: due}
		r.clamps.RobotsUnknown(time.Now(), &u)
	}
}

// tryOf returns the number of the try, for the delays.
func (r *robotsVisits) tryOf(c *current) int { return min(c.queued.Tries, site.RobotsQuickTries-1) }

// note notes in the attempt what is wrong with an answer, and returns the outcome that counts for the site: an answer
// that is not understood does not show that the site is well.
func (r *robotsVisits) note(p *fetch.Page, o outcome.Outcome, fault robots.Fault) outcome.Outcome {
	a := attempt.Of(p)
	a.RobotsFault = fault
	switch {
	case fault == robots.FaultSurplus:
		a.Outcome = outcome.Protocol // the archive does not have those bytes, so the outcome must say it
		return a.Outcome
	case fault != robots.NoFault && fault != robots.FaultMemory && o.Class() == outcome.ClassAnswer:
		return outcome.Protocol
	default:
		return o
	}
}

// concludeTarget decides what follows from the exchange of a URL to which the robots.txt of another site redirects.
func (r *robotsVisits) concludeTarget(c *current, p *fetch.Page, o outcome.Outcome) {
	r.decide(c, p, outcome.Cancelled, 0) // for the due times alone
	if c.ofWay {
		c.returnItem()
		return
	}
	answer := &site.RobotsAnswer{URL: bytes.Clone(c.url), Item: bytes.Clone(c.item)}
	c.result.RobotsAnswer = answer
	if o == outcome.Redirect {
		if url, err := urlx.Resolve(nil, c.url, p.Head().Location()); err == nil {
			answer.RedirectsTo = url
			return
		}
	}
	answer.Rules, answer.Fault = r.rulesOf(p, o, c.queued.RobotsOf, 0)
	answer.Failed = answer.Rules == nil
	r.note(p, o, answer.Fault)
	r.tell(p, c.queued.RobotsOf, answer.Fault, time.Time{})
	if !answer.Failed && string(c.queued.Rest) == robots.FilePath && c.site.NeedsRobots(c.now) {
		own := &site.RobotsResult{Rules: answer.Rules}
		own.Apply(&c.site, p.Times.Ended)
		c.postponeSite(p.Times.Ended.Add(r.Live.Policy().SiteDelay(c.settings.Delay(), c.site.CrawlDelay())))
	}
}

// rulesOf returns the rules that a response has for the site origin. Without rules they are not known: fault says why,
// unless the outcome does.
func (r *robotsVisits) rulesOf(
	p *fetch.Page, o outcome.Outcome, origin []byte, redirects int,
) (rules *robots.Rules, fault robots.Fault) {
	ruling := robotsanswer.Of(p, o, redirects, r.decoder)
	rules = ruling.Parse(robots.Token)
	if rules == nil {
		return nil, ruling.Fault
	}
	if !r.rules.Accepts(rules) { // they are too large, which counts as unreachable
		r.clamps.RobotsLarge(time.Now(), origin, rules.Size())
		return nil, robots.FaultMemory
	}
	most := r.Live.Policy().CrawlDelayMax
	if asked, _ := rules.CrawlDelay(); asked > most {
		r.count.DelaysCapped.Add(1)
		r.clamps.CrawlDelay(time.Now(), origin, asked, most)
	}
	return r.rules.Share(rules), robots.NoFault
}

// redirect makes the target of a redirect an item of its site. It returns false if the target is not a URL that can be
// fetched.
func (r *robotsVisits) redirect(c *current, p *fetch.Page) bool {
	url, err := urlx.Resolve(nil, c.url, p.Head().Location())
	if err != nil {
		return false
	}
	origin := c.result.Visit.Key
	target, path := urlx.Split(url)
	it := queued.URL{RobotsOf: origin, Redirects: c.queued.Redirects + 1, Depth: c.queued.Depth, Rest: path}
	item := queued.Append(nil, &it)
	if bytes.Equal(target, origin) {
		c.result.Release.Front = [][]byte{item} // for the next Visit of this site
		return true
	}
	c.result.Release.Park = true
	c.result.RobotsRedirect = &site.RobotsRedirect{Site: target, Origin: bytes.Clone(origin), Item: item}
	return true
}

// apply applies the result to the site of the Visit.
func (r *robotsVisits) apply(c *current, result *site.RobotsResult, o outcome.Outcome, giveUp bool) {
	s, now := &c.site, time.Now()
	result.Apply(s, now)
	if !result.Unreachable || s.Rules != nil {
		return
	}
	hasTried := giveUp || int(s.RobotsTries) >= site.RobotsTriesOf(r.Live.Policy())
	if !s.HasAnswered && hasTried || r.isOverdue(c, now) {
		dead := outcome.RobotsUnreachable
		if o.Class() == outcome.ClassHost || o == outcome.ProxyFault || o == outcome.TLSFault {
			dead = o
		}
		c.giveUpSite(r.deadOutcome(c, dead, now))
	} else {
		c.postponeSite(now.Add(site.RobotsRetryWait(s.RobotsTries)))
	}
	if o.Class() == outcome.ClassHost {
		r.useNextAddr(c)
	}
}
