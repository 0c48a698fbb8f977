package fetchers

import (
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/frontier/ending"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/internal/outcome"
)

// A failure of a site does not count as a try of its URLs, a failure of a URL does. No connection is a failure of the
// site. The cause of other failures (5xx, a reset, no response in time) is unknown. The first one counts as the URL's
// own; later ones do not, until the site has answered another request. A URL whose failure does not count goes behind
// all others of its site, so that these get their turn. The first failure of a page requisite always counts: requisites
// precede other URLs until they have been tried. If they fail too, or if there are none, the site is asked for a proof
// that it serves pages: see site.State.NextProbe.

const (
	// passedItems is the number of URLs of a Visit that come before a failed URL whose failure counts as a try.
	passedItems = 3
	// slowingPart: a failing site waits at least this part of the time for which it has failed, until a proof shows
	// that only some of its URLs fail.
	slowingPart = 64
	// cancelledWait is the least wait of site and address after an exchange that this agent cancelled. The server may
	// go on with its response for some time, and notice late that the connection is closed.
	cancelledWait = 10 * time.Second
)

// consequences decides what follows from an outcome: when the site and the address are due, whether the URL is tried
// again, and whether the site is given up. The policy is engine/net/politeness; consequences spares sites that have
// answered before.
type consequences struct {
	Settings
	clamps   *settings.ClampLog
	count    *counters.Live
	hashSeed uint64
	proxy    bool
}

// concludePage decides what follows from the exchange of a page.
func (t *consequences) concludePage(c *current, p *fetch.Page, o outcome.Outcome) {
	a := attempt.Of(p)
	if queued.IsRequisite(c.queued.Embeds) && c.queued.Tries == 0 {
		site.CountRequisite(&c.site, c.queued.Embeds)
	}
	isConstant := isCut(o) && c.site.HasAnswered && c.site.NoteCut(cutHash(p))
	own := t.isOwnFailure(c, o)
	d := t.decide(c, p, o, c.queued.Tries)
	own = own && !c.nextAddr
	if isAddrRefusal(o) {
		d.GiveUpSite = !t.useNextAddr(c)
		d.Retry = !d.GiveUpSite
	} else if o.Class() == outcome.ClassHost && t.useNextAddr(c) {
		d.GiveUpSite = false
	}
	t.spare(c, p, o, own, &d)
	if d.GiveUpSite {
		c.giveUpSite(t.deadOutcome(c, o, p.Times.Ended))
		d.Retry = false
	}
	d.Retry = d.Retry && !isConstant
	if c.http2Due && !d.GiveUpSite {
		d.Retry, own = true, true
	}
	a.WillRetry = d.Retry
	switch {
	case d.Retry:
		again := c.queued
		if own {
			again.Tries++
		}
		t.retryItem(c, o, own, queued.Append(nil, &again))
	case p.HeadLen > 0 && (o.IsPage(p.Status) || attempt.IsUnchanged(p, a)):
		a.FirstOfSite = c.site.Stored == 0
		countStored(c)
		a.OfSite = int(c.site.Stored)
		t.Quotas.AddPage(c.result.Visit.Key)
	}
}

// countStored counts a page of the site that is stored.
func countStored(c *current) {
	site.CountStored(&c.site)
	if !queued.IsRequisite(c.queued.Embeds) {
		site.CountPage(&c.site)
	}
}

// concludeRoot decides what follows from the exchange of the root page as a proof. It is not a page of the crawl: it
// has a line in crawl.log, but it is not archived, and its links are not followed.
func (t *consequences) concludeRoot(c *current, p *fetch.Page, o outcome.Outcome) {
	d := t.decide(c, p, o, 1) // not the first try of a URL: then a failure does not slow the site down further
	if o.Class() == outcome.ClassHost {
		t.useNextAddr(c)
	}
	if t.spare(c, p, o, false, &d); d.GiveUpSite {
		c.giveUpSite(t.deadOutcome(c, o, p.Times.Ended))
	}
}

// decide applies the policy to an outcome: it notes in the site what the outcome says about it, and sets the due
// times. try is the number of the try of the URL, from 0.
func (t *consequences) decide(c *current, p *fetch.Page, o outcome.Outcome, try int) politeness.Decision {
	s, v := &c.site, &c.result.Visit
	streak := s.FailureStreak()
	a := politeness.Attempt{
		Outcome: o, Try: try, Started: p.Times.Started, Ended: p.Times.Ended,
		CrawlDelay: s.CrawlDelay(), HostDelay: c.settings.Delay(), GroupDelay: t.Groups.Delay(v.Addr),
		SiteFailures: int(s.Failures), AddrFailures: s.AddrFailures(), SiteSlowdown: s.Slowdown,
		IPSlowdown:   politeness.UnpackIPSlowdown(v.IPNote),
		FailedBefore: streak.Count > 0, PageOnly: streak.ServesPages,
		SiteHash: t.siteHash(v.Key), Jitter: t.jitter(c, p, try),
	}
	if o.Class() == outcome.ClassBusy {
		a.RetryAfter = t.retryAfter(p)
	}
	c.ofPage = a.RetryAfter > politeness.PageRetryAfter && t.mayBeOfPage(c, streak)
	c.namedDue = time.Time{}
	if c.ofPage {
		c.namedDue = p.Times.Ended.Add(min(a.RetryAfter, t.Live.Policy().RetryAfterMax))
		a.RetryAfter, a.PageOnly = 0, true
	}
	c.nextAddr = t.hasNextAddr(c, o)
	policy := t.Live.Policy()
	d := policy.Decide(a)
	if ending.IsCertificateRefused(p, o) && !s.HasAnswered { // it does not become valid by waiting
		d.Retry, d.GiveUpSite = false, true
	}
	delays := &attempt.Of(p).Delays
	delays.Host, delays.IP = policy.SiteDelay(a.HostDelay, 0), max(policy.IPDelay, a.GroupDelay)
	delays.Group, delays.CrawlMax = t.Groups.Name(v.Addr), policy.CrawlDelayMax
	s.Failures, s.Slowdown = int16(min(d.SiteFailures, 1<<14)), d.SiteSlowdown
	if c.nextAddr { // no request was sent
		d.Retry, d.GiveUpSite, d.SiteDue = true, false, p.Times.Ended
		t.rotateAddr(c)
	} else if t.note(c, p, &a, &d); c.ofPage && !streak.ServesPages {
		s.AskRootNext()
	}
	v.IPNote = d.IPSlowdown.Pack()
	if d.IPSlowdown.Level > 0 {
		t.count.IPsSlowed.Add(1)
	}
	release := &c.result.Release
	if !d.SiteDue.IsZero() {
		release.SiteDue = d.SiteDue
	}
	if !d.IPDue.IsZero() {
		release.IPDue = d.IPDue
	}
	return d
}

// decideCancelled sets the due times after an exchange that this agent cancelled: the request may have been sent.
func (t *consequences) decideCancelled(c *current, p *fetch.Page) {
	try := 0
	if c.kind == pageRequest {
		try = c.queued.Tries
	}
	t.decide(c, p, outcome.Cancelled, try)
	wait := p.Times.Ended.Add(cancelledWait)
	for _, due := range [...]*time.Time{&c.result.Release.SiteDue, &c.result.Release.IPDue} {
		if due.Before(wait) {
			*due = wait
		}
	}
}

// siteHash tells the sites of an address apart. It is never 0.
func (t *consequences) siteHash(key []byte) uint16 { return uint16(xxh3.HashSeed(key, t.hashSeed)) | 1 }

// jitter is a number that looks random, but is the same in two crawls that get the same responses.
func (t *consequences) jitter(c *current, p *fetch.Page, try int) uint64 {
	state := uint64(try) + uint64(c.site.Slowdown)<<32 + uint64(uint16(c.site.Failures))<<40
	return xxh3.HashSeed(attempt.Of(p).URL, t.hashSeed+state)
}

// mayBeOfPage reports whether a long Retry-After may concern the URL alone: the site has answered just before, or the
// last proof showed that it serves pages, and it has URLs that were not tried. Then the site has its usual back-off, is
// asked for its root page as a proof, and the URL goes behind all others. If that proof fails, or nothing but such URLs
// is left, the whole site waits as it asked to.
func (t *consequences) mayBeOfPage(c *current, streak site.FailureStreak) bool {
	if c.kind != pageRequest || !c.site.HasAnswered || site.IsRoot(c.url) ||
		!streak.ServesPages && (streak.Count > 0 || !streak.CanProbeRoot(c.site.Rules)) {
		return false
	}
	if c.result.Visit.More > 0 {
		return true
	}
	for _, item := range c.result.Release.Unused {
		if it := queued.MustDecode(item); it.Tries == 0 {
			return true
		}
	}
	return false
}

// retryAfter returns the Retry-After of a response; 0 if there is none.
func (t *consequences) retryAfter(p *fetch.Page) time.Duration {
	asked, ok := p.Head().RetryAfter(p.Times.Ended)
	if !ok {
		return 0
	}
	if most := t.Live.Policy().RetryAfterMax; asked.Negative || asked.Wait > most {
		t.count.RetryClamped.Add(1)
		t.clamps.RetryAfter(time.Now(), attempt.Of(p).URL, p.Head().Value("retry-after"), min(asked.Wait, most))
	}
	return asked.Wait
}

// note notes what an outcome says about the site. A site that has answered before waits longer with each failure.
func (t *consequences) note(c *current, p *fetch.Page, a *politeness.Attempt, d *politeness.Decision) {
	s, o := &c.site, a.Outcome
	switch {
	case c.site.CutsBodies && isCut(o) && c.kind != robotsRequest:
		t.noteAnswer(c, p) // the site answers as it can
		return
	case o.Class() == outcome.ClassAnswer:
		c.site.CutsBodies = c.site.CutsBodies && o != outcome.OK
		// A robots.txt that only redirects does not show that a new site answers.
		if s.HasAnswered || c.kind != robotsRequest || o != outcome.Redirect {
			t.noteAnswer(c, p)
		}
		return
	case o == outcome.Stale, o == outcome.HeaderTooLarge: // say nothing about the site
		return
	case o.Class() == outcome.ClassRefusal && !isAddrRefusal(o):
		return
	}
	var retryAt time.Time // by Retry-After
	policy := t.Live.Policy()
	if a.RetryAfter > 0 {
		retryAt = p.Times.Ended.Add(min(a.RetryAfter, policy.RetryAfterMax))
	}
	if c.ofWay {
		site.NoteWayDown(s, p.Times.Ended)
	} else {
		s.NoteFailure(o, p.Times.Ended, retryAt)
	}
	switch {
	case c.ofWay: // no probe has reached the site
	case c.kind == rootRequest:
		s.NoteProbeFailure(site.RootProbe)
	case c.kind == robotsRequest:
		s.NoteProbeFailure(site.RobotsProbe)
	}
	if f := s.FailureStreak(); (s.HasAnswered || c.ofWay) && f.Count > 1 {
		wait := policy.FailureWait(int(f.Count)-1, a.Jitter)
		wait = max(wait, min(f.FailingFor(p.Times.Ended)/slowingPart, policy.BackoffMax))
		if c.ofWay {
			wait = outage.NetworkRetryWait
		}
		if due := p.Times.Ended.Add(wait); due.After(d.SiteDue) {
			d.SiteDue = due
		}
	}
}

// noteAnswer notes an answer of the site.
func (t *consequences) noteAnswer(c *current, p *fetch.Page) {
	s := &c.site
	switch c.kind {
	case robotsRequest:
		s.NoteRobotsAnswer(p.Times.Ended, site.ProbeWait(t.Live.Bounds().StallWait))
	case rootRequest:
		s.NoteRootAnswer()
	case pageRequest:
		s.NotePageAnswer()
		s.HasServedRoot = s.HasServedRoot || site.IsRoot(attempt.Of(p).URL)
	}
}

// isCut reports whether a response ended too early, is no HTTP, or does not belong to the request. All of these may
// pass, or come each time.
func isCut(o outcome.Outcome) bool {
	return o == outcome.TruncatedDisconnect || o == outcome.Protocol || o == outcome.Unasked
}

// cutHash is what equal cuts of a URL have in common.
func cutHash(p *fetch.Page) uint32 {
	return uint32(xxh3.HashSeed(p.URL, uint64(p.PayloadLen)<<20^uint64(len(p.Raw)))>>32) | 1<<31
}

// isAddrRefusal reports whether o says that no request may be sent to an address or port.
func isAddrRefusal(o outcome.Outcome) bool {
	return o == outcome.BlockedAddress || o == outcome.BlockedPort
}

// isOwnFailure reports whether a failure will count as a try of the URL. It must be asked before decide.
func (t *consequences) isOwnFailure(c *current, o outcome.Outcome) bool {
	f := c.site.FailureStreak()
	switch {
	case c.ofWay:
		return false
	case !c.site.HasAnswered:
		return true
	case o.Class() == outcome.ClassHost, isAddrRefusal(o):
		return false
	case f.ServesPages, c.site.CutsBodies && isCut(o):
		return true
	case c.kind == pageRequest && queued.IsRequisite(c.queued.Embeds) && c.queued.Tries == 0:
		return true // or it would precede the URLs that can show whether the site answers
	case o.IsOfRate():
		return f.FirstAt == 0
	default:
		return f.Count == 0
	}
}

// spare changes a Decision about a site that has answered before: before it has failed for --give-up, it is not given
// up, and its failures do not count as tries of the URL. own is the result of isOwnFailure.
func (t *consequences) spare(c *current, p *fetch.Page, o outcome.Outcome, own bool, d *politeness.Decision) {
	switch {
	case o.Class() == outcome.ClassAnswer:
	case t.isOverdue(c, p.Times.Ended):
		d.GiveUpSite = true
	case c.ofWay:
		d.GiveUpSite, d.Retry = false, true
	case !c.site.HasAnswered || o.Class() == outcome.ClassRefusal && !d.GiveUpSite:
	default:
		if o.Class() == outcome.ClassRefusal { // the name leads to an address that is not allowed, as after a hijack
			c.result.Release.Unresolved = true
		}
		d.GiveUpSite = false
		d.Retry = d.Retry || !own
	}
}

// isOverdue reports whether the site has failed for --give-up.
func (t *consequences) isOverdue(c *current, now time.Time) bool {
	f := c.site.FailureStreak()
	return !f.ServesPages && f.FailingFor(now) >= t.Live.Bounds().GiveUp
}

// deadOutcome is the outcome of the queued URLs of a site that is given up after outcome o.
func (t *consequences) deadOutcome(c *current, o outcome.Outcome, now time.Time) outcome.Outcome {
	if t.isOverdue(c, now) {
		return outcome.GivenUp
	}
	return o
}

// useNextAddr moves the site to its next address. It returns false if all addresses have failed. After a failure
// without a connection, decide has moved the site already: the next address is due at once, when its own delay allows.
func (t *consequences) useNextAddr(c *current) bool {
	s := &c.site
	if n := s.Addrs().Count(); n < 2 {
		return false
	} else if !c.nextAddr { // decide did
		t.rotateAddr(c)
	}
	return c.nextAddr || int(s.Failures) < s.Addrs().Count()
}

// rotateAddr moves the site to its next address.
func (t *consequences) rotateAddr(c *current) {
	c.result.Release.Replace = t.Groups.KeyOfAddr(c.site.RotateAddrs())
}

// hasNextAddr reports whether o says that there was no connection, and so no request, and the site has another address
// to try.
func (t *consequences) hasNextAddr(c *current, o outcome.Outcome) bool {
	return isUnconnected(o) && !t.proxy && c.site.HasUntriedAddr()
}

// retryItem returns an item that is tried again. If its failure counts as a try, it comes after some other items of
// this Visit, and else after all others of its site.
func (t *consequences) retryItem(c *current, o outcome.Outcome, own bool, item []byte) {
	r, before := c.result, 0
	if c.site.HasAnswered && o != outcome.Stale && (o.Class() == outcome.ClassFault || o.Class() == outcome.ClassBusy) {
		before = min(len(r.Release.Unused), passedItems)
		r.RequeueLast = !own || c.ofPage
	}
	r.Release.Front = append(append([][]byte(nil), r.Release.Unused[:before]...), item)
	r.Release.Unused = r.Release.Unused[before:]
}
