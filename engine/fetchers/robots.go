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

// robotsVisits decides what follows from the exchange of a robots.txt.
type robotsVisits struct {
	*Crawl
	trouble *trouble
	decoder *coding.Decoder
}

// conclude decides what follows from the exchange of a robots.txt for the site origin: that of the Visit, or one whose
// robots.txt redirects here.
func (r *robotsVisits) conclude(c *current, p *fetch.Page, o outcome.Outcome, origin []byte) {
	d := r.trouble.decide(c, p, o, min(c.queued.Tries, site.RobotsQuickTries-1))
	if result := r.read(c, p, o, origin, &d); result != nil {
		r.deliver(c, result, o, d.GiveUpSite)
	}
	// The Crawl-delay that was just read also holds for the next request.
	if p.HasHead() {
		c.postponeSite(p.Times.Ended.Add(r.Live.Policy().SiteDelay(c.settings.Delay(), c.site.CrawlDelay())))
	}
}

// read returns the result of an exchange. It returns nil if there is no result yet: after a redirect, or if the item
// is tried again.
func (r *robotsVisits) read(
	c *current, p *fetch.Page, o outcome.Outcome, origin []byte, d *politeness.Decision,
) *site.RobotsResult {
	result := &site.RobotsResult{Site: origin}
	switch {
	case o == outcome.Redirect && c.queued.Redirects < site.RobotsRedirectsMax && r.redirect(c, p, origin):
		return nil
	case o == outcome.OK,
		outcome.IsPageStatus(p.Status) && p.HeadLen > 0 && o != outcome.TruncatedDisconnect && o != outcome.TruncatedTime:
		r.parse(p, result)
	case o.Class() == outcome.ClassAnswer && !outcome.IsPageStatus(p.Status):
		result.Rules = r.Rules.Share(robots.AllowAll())
	case c.ofWay:
		c.returnItem()
		return nil
	case c.item != nil && d.Retry:
		again := c.queued
		again.Tries++
		c.result.Release.Front = [][]byte{queued.Append(nil, &again)}
		return nil
	default:
		result.Unreachable = true
	}
	return result
}

// parse reads the rules of a robots.txt. Rules that are too large count as unreachable.
func (r *robotsVisits) parse(p *fetch.Page, result *site.RobotsResult) {
	body, _ := p.Decoded(r.decoder)
	rules := robots.Parse(body, robots.Token)
	if !r.Rules.Accepts(rules) {
		result.Unreachable = true
		r.Clamps.RobotsLarge(time.Now(), result.Site, rules.Size())
		return
	}
	result.Rules = r.Rules.Share(rules)
	most := r.Live.Policy().CrawlDelayMax
	if asked, _ := rules.CrawlDelay(); asked > most {
		r.Store.Count.DelaysCapped.Add(1)
		r.Clamps.CrawlDelay(time.Now(), result.Site, asked, most)
	}
}

// redirect makes the target of a redirect an item of its site. It returns false if the target is not a URL that can be
// fetched.
func (r *robotsVisits) redirect(c *current, p *fetch.Page, origin []byte) bool {
	url, err := urlx.Resolve(nil, c.url, p.Head().Location())
	if err != nil {
		return false
	}
	target, path := urlx.Split(url)
	it := queued.URL{RobotsOf: origin, Redirects: c.queued.Redirects + 1, Depth: c.queued.Depth, Rest: path}
	item, visited := queued.Append(nil, &it), c.result.Visit.Key
	if bytes.Equal(target, visited) {
		c.result.Release.Front = [][]byte{item} // for the next Visit of this site
		return true
	}
	if bytes.Equal(origin, visited) {
		c.result.Release.Park = true
	}
	c.result.RobotsRedirect = &site.RobotsRedirect{Site: target, Origin: bytes.Clone(origin), Item: item}
	return true
}

// deliver gives the result to the site that needs it: here if it is the site of the Visit, by the returner if it is
// parked.
func (r *robotsVisits) deliver(c *current, result *site.RobotsResult, o outcome.Outcome, giveUp bool) {
	if c.item != nil {
		result.Site = bytes.Clone(result.Site)
		if !bytes.Equal(result.Site, c.result.Visit.Key) {
			c.result.RobotsResult = result
			return
		}
		// A chain of redirects that leads back: the site is not parked, since it is visited.
	}
	s, now := &c.site, time.Now()
	result.Apply(s, now)
	if !result.Unreachable || s.Rules != nil {
		return
	}
	if !s.HasAnswered && (giveUp || s.RobotsTries >= site.RobotsTriesMax) || r.trouble.isOverdue(c, now) {
		dead := outcome.RobotsUnreachable
		if o.Class() == outcome.ClassHost || o == outcome.ProxyFault {
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
