package fetchers

import (
	"bytes"
	"time"

	"orbweaver/engine/fetch"
	"orbweaver/engine/fetch/coding"
	"orbweaver/engine/politeness"
	"orbweaver/engine/queued"
	"orbweaver/engine/robots"
	"orbweaver/engine/site"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// RFC 9309, section 2.3, as it is kept here: a site whose rules are missing or expire soon is asked for /robots.txt
// before anything else. A 2xx response is parsed; 4xx means that everything is allowed. Up to five redirects are
// followed: each target is fetched by a Visit of its own site, while the site that needs the rules is parked. After
// 5xx, 429 or no response everything is disallowed, so the site waits and is asked again.
//
// A copy is valid for 24 hours. It is fetched again before it expires, so that a server that is down for an hour or
// two does not matter: the copy stays in use meanwhile. When it has expired nothing is allowed until there is a new
// one. A site that has never answered is given up after seven attempts with the outcome RobotsUnreachable. A site
// that has answered before keeps its queue and is asked again every half hour (see trouble). It is never treated as
// a site without rules, which RFC 9309 permits after 30 days.

// A site may redirect to any other, which did not ask for that. So what the target answers says nothing about the site
// that it is at: it counts neither for it nor against it, and changes no delay. The target is asked once; the site that
// needs the rules pays for a failure. See schedule.RobotsTargets.

// robotsVisits decides what follows from the exchange of a robots.txt.
type robotsVisits struct {
	*Crawl
	trouble *trouble
	decoder *coding.Decoder
}

// conclude decides what follows from the exchange of the robots.txt of the site of the Visit.
func (r *robotsVisits) conclude(c *current, p *fetch.Page, o outcome.Outcome) {
	d := r.trouble.decide(c, p, o, min(c.queued.Tries, site.RobotsQuickTries-1))
	if result := r.read(c, p, o, &d); result != nil {
		r.apply(c, result, o, d.GiveUpSite)
	}
	// The Crawl-delay that was just read also holds for the next request.
	if p.HasHead() {
		c.postponeSite(p.Times.Ended.Add(r.Live.Policy().SiteDelay(c.settings.Delay(), c.site.CrawlDelay())))
	}
}

// read returns the result of an exchange. It returns nil if there is no result yet: after a redirect, or if the item
// is tried again.
func (r *robotsVisits) read(
	c *current, p *fetch.Page, o outcome.Outcome, d *politeness.Decision,
) *site.RobotsResult {
	origin := c.result.Visit.Key
	if o == outcome.Redirect && c.queued.Redirects < site.RobotsRedirectsMax && r.redirect(c, p) {
		return nil
	}
	rules, known := r.rulesOf(p, o, origin)
	switch {
	case known:
	case c.ofWay:
		c.returnItem()
		return nil
	case c.item != nil && d.Retry:
		again := c.queued
		again.Tries++
		c.result.Release.Front = [][]byte{queued.Append(nil, &again)}
		return nil
	}
	return &site.RobotsResult{Site: origin, Rules: rules, Unreachable: rules == nil}
}

// concludeTarget decides what follows from the exchange of a URL to which the robots.txt of another site redirects.
func (r *robotsVisits) concludeTarget(c *current, p *fetch.Page, o outcome.Outcome) {
	r.trouble.decide(c, p, outcome.Cancelled, 0) // for the due times alone
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
	answer.Rules, _ = r.rulesOf(p, o, c.queued.RobotsOf)
	answer.Failed = answer.Rules == nil
	if !answer.Failed && string(c.queued.Rest) == robots.FilePath && c.site.NeedsRobots(c.now) {
		own := &site.RobotsResult{Rules: answer.Rules}
		own.Apply(&c.site, p.Times.Ended)
		c.postponeSite(p.Times.Ended.Add(r.Live.Policy().SiteDelay(c.settings.Delay(), c.site.CrawlDelay())))
	}
}

// rulesOf returns the rules that a response has for the site origin. known is false if there is no response that
// decides. Rules that are too large are known, and nil.
func (r *robotsVisits) rulesOf(p *fetch.Page, o outcome.Outcome, origin []byte) (rules *robots.Rules, known bool) {
	switch {
	case o == outcome.OK,
		outcome.IsPageStatus(p.Status) && p.HeadLen > 0 && o != outcome.TruncatedDisconnect && o != outcome.TruncatedTime:
		return r.parse(p, origin), true
	case o.Class() == outcome.ClassAnswer && !outcome.IsPageStatus(p.Status):
		return r.Rules.Share(robots.AllowAll()), true
	default:
		return nil, false
	}
}

// parse reads the rules of a robots.txt. It returns nil if they are too large, which counts as unreachable.
func (r *robotsVisits) parse(p *fetch.Page, origin []byte) *robots.Rules {
	body, _ := p.Decoded(r.decoder)
	rules := robots.Parse(body, robots.Token)
	if !r.Rules.Accepts(rules) {
		r.Clamps.RobotsLarge(time.Now(), origin, rules.Size())
		return nil
	}
	most := r.Live.Policy().CrawlDelayMax
	if asked, _ := rules.CrawlDelay(); asked > most {
		r.Store.Count.DelaysCapped.Add(1)
		r.Clamps.CrawlDelay(time.Now(), origin, asked, most)
	}
	return r.Rules.Share(rules)
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
	if !s.HasAnswered && hasTried || r.trouble.isOverdue(c, now) {
		dead := outcome.RobotsUnreachable
		if o.Class() == outcome.ClassHost || o == outcome.ProxyFault || o == outcome.TLSFault {
			dead = o
		}
		c.giveUpSite(r.trouble.deadOutcome(c, dead, now))
	} else {
		c.postponeSite(now.Add(site.RobotsRetryWait(s.RobotsTries)))
	}
	if o.Class() == outcome.ClassHost {
		r.trouble.useNextAddr(c)
	}
}
