package fetchers

import (
	"bytes"
	"cmp"
	"context"
	"net/netip"
	"time"

	"orbweaver/engine/net/bandwidth"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/net/underway"
	"orbweaver/engine/state/addrgroup"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/recrawl"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// An exchange makes the requests of a worker, one at a time.
type exchange struct {
	cluster  cluster.VisitGate
	cancels  cluster.Exchange // cancels the request when this agent may not go on with it
	shares   *visit.Shares
	table    *underway.Table // of the exchanges of all workers
	fetcher  *fetch.Fetcher
	live     *settings.Live
	limits   *settings.ExchangeLimits // of the fetcher; nil for those of the start
	groups   *addrgroup.Groups
	times    *counters.Distributions
	worker   int
	began    time.Time // before the first request of this run
	request  request
	observer observer
}

// fetch makes the request of c into p and returns its outcome. counts says that the outcome counts against the site and
// as a try of the URL.
func (x *exchange) fetch(ctx context.Context, c *current, p *fetch.Page) (o outcome.Outcome, counts bool) {
	a, v := attempt.Of(p), &c.result.Visit
	a.Begin(c.item, c.url, &c.queued)
	a.Worker, a.IsProbe, a.WillRetry = x.worker, c.kind == rootRequest, c.kind == rootRequest
	if c.kind == pageRequest {
		a.RobotsRule = append(a.RobotsRule, c.rule...)
	}
	x.useLimits()
	x.request.fill(c, a)
	t := &x.request.target
	t.Next = x.untilNext(c)
	a.IsRobots = t.Robots
	most := x.shares.TimeLimit(v)
	if most > 0 {
		usual := cmp.Or(t.Timeouts.Exchange, x.fetcher.Options().TotalTimeout)
		t.Timeouts.Exchange = min(usual, most)
	}
	ctx = x.cluster.BeginExchange(ctx, &x.cancels, v.Key)
	x.table.Begin(x.worker, &underway.Exchange{
		URL: t.URL, Addr: t.Addr.Addr(), Port: t.Addr.Port(), Kind: c.kind.inTable(), Tries: c.queued.Tries,
		Began: time.Now(),
	})
	if o = x.fetcher.Fetch(ctx, t, p); o == outcome.NotModified && !x.request.isConditional() {
		o = outcome.Unasked
	}
	if !t.Robots && o != outcome.Cancelled {
		if a.Wall = x.observer.wallOf(c, p, o); a.Wall != "" {
			o = outcome.Wall
		}
	}
	x.noteHTTP2(c, p, o)
	x.cluster.EndExchange(&x.cancels)
	counts = x.observer.observe(c, p, o, x.table.End(x.worker))
	x.measure(c, p, o)
	x.shares.NoteExchange(v, p.Times.Started, p.Times.Ended)
	if most > 0 && isTimeOut(o) && p.Times.Ended.Sub(p.Times.Started) >= most {
		o = outcome.Cancelled // to be repeated in the share of slow Visits
	}
	if !t.Robots && counts {
		a.SetsCookie = x.request.keepCookies(p, o)
	}
	return o, counts
}

// untilNext returns the least time until the next request to the site of c; negative if no URL is queued for one.
func (x *exchange) untilNext(c *current) time.Duration {
	v := &c.result.Visit
	if c.kind == pageRequest && c.index+1 >= len(v.Items) && v.More == 0 {
		return -1
	}
	p := x.live.Policy()
	delay := p.SlowedDelay(p.SiteDelay(c.settings.Delay(), c.site.CrawlDelay()), c.site.Slowdown)
	return max(delay, p.IPDelay, x.groups.Delay(v.Addr))
}

// useLimits gives the fetcher the limits in force.
func (x *exchange) useLimits() {
	if l := x.live.Exchanges.Load(); l != x.limits {
		x.limits = l
		o := x.fetcher.Options()
		o.DialTimeout, o.HeaderTimeout = l.Connect, l.Response
		o.TotalTimeout, o.Long.SlowTimeout = l.Exchange, l.Slow
		o.BodyMax = l.BodyMax
	}
}

// isTimeOut reports whether an exchange took too long.
func isTimeOut(o outcome.Outcome) bool {
	return o == outcome.ConnectTimeout || o == outcome.HeaderTimeout || o == outcome.TruncatedTime
}

// isUnconnected reports whether there was no connection, and so no request.
func isUnconnected(o outcome.Outcome) bool {
	return o == outcome.Refused || o == outcome.Unreachable || o == outcome.ConnectTimeout
}

// idleAddress notes how long the address, or the group of hosts in its place, had been left alone. When its previous
// exchange ended follows from the time since when it is due. It does not if the wait was longer than the delay, if that
// exchange was of an earlier run, or if other agents contact the address: then later ones may have been lost, or are
// not known here.
func (x *exchange) idleAddress(c *current, p *fetch.Page) {
	v := &c.result.Visit
	if v.IPDue.IsZero() || x.cluster.SharesAddresses() || politeness.UnpackIPSlowdown(v.IPNote).Level > 0 {
		return
	}
	delay := max(x.live.Policy().IPDelay, x.groups.Delay(v.Addr))
	if ended := v.IPDue.Add(-delay); ended.After(x.began) {
		attempt.Of(p).Delays.IPIdle = max(p.Times.Started.Sub(ended), 0)
	}
}

// measure counts how long the parts of an exchange took, and how long the site had been left alone before.
func (x *exchange) measure(c *current, p *fetch.Page, o outcome.Outcome) {
	d, times := x.times, &p.Times
	if gap, ok := c.site.LastExchange.Until(times.Started); ok {
		d.Gap.Observe(x.worker, gap)
		attempt.Of(p).Delays.Idle = gap
	}
	x.idleAddress(c, p)
	if !isUnconnected(o) || !x.request.target.OfMany { // else no request was sent, and another address is tried
		c.site.LastExchange = site.MomentOf(times.Ended)
	}
	if times.FirstByte.IsZero() {
		return
	}
	if times.Connected != times.Started { // the connection is new
		d.Connect.Observe(x.worker, times.Connected.Sub(times.Started))
	}
	d.FirstByte.Observe(x.worker, times.FirstByte.Sub(times.Connected))
	d.Body.Observe(x.worker, times.Ended.Sub(times.FirstByte))
	if p.HeadLen > 0 {
		d.BodySize.Observe(x.worker, p.PayloadLen)
	}
}

// close closes the connection.
func (x *exchange) close() {
	x.fetcher.Close()
	x.cancels.Close()
}

// A request says what a worker asks a site for: with which cookies and login, and under which conditions.
type request struct {
	Identity
	proxy     bool
	target    fetch.Target
	cookies   []byte            // of target
	condition recrawl.Condition // of target
}

// fill makes target that of the item of c.
func (r *request) fill(c *current, a *attempt.Attempt) {
	key, t := c.result.Visit.Key, &r.target
	_, authority, _ := bytes.Cut(key, []byte("://"))
	*t = fetch.Target{
		URL: a.URL, HTTPS: urlx.HTTPS(key), Host: authority, UserAgent: c.settings.UserAgent,
		Limit:    bandwidth.HostLimit{Host: urlx.Host(key), Rate: c.settings.Bandwidth},
		Timeouts: fetch.Timeouts(c.settings.Timeouts),
		Fresh:    c.kind != pageRequest || c.queued.Tries > 0, // the failure of an old connection must not count
	}
	t.HTTP1 = isTryOverHTTP1(c.site.HTTP2, c.queued.Tries)
	mayProbe := c.kind <= robotsRequest && c.queued.Tries > 0
	t.HTTP2 = mayProbe && c.site.HTTP2 > site.HTTP2Probed && c.site.HTTP2 < site.HTTP2Failed
	t.Authorization, t.TrustedOnly = r.Logins.Line(key)
	if !r.proxy {
		t.OfMany = c.site.HasUntriedAddr()
		t.Addr = netip.AddrPortFrom(c.site.Addrs().Current(c.result.Visit.Addr), uint16(urlx.Port(key)))
	}
	if t.Robots = c.kind == robotsRequest || c.kind == targetRequest; t.Robots {
		return // without cookies: rules are the same for all
	}
	if r.Jars != nil {
		r.cookies = r.Jars.Append(r.cookies[:0], a.URL, time.Now())
		t.Cookie = r.cookies
	}
	if c.kind == pageRequest && a.Tries < recrawl.ConditionalTries && r.Previous.FillCondition(&r.condition, a.URL) {
		a.Previous = r.condition.Previous
		t.IfNoneMatch, t.IfModifiedSince = r.condition.IfNoneMatch, r.condition.IfModifiedSince
	}
}

// isConditional reports whether the server may answer that the page is unchanged.
func (r *request) isConditional() bool {
	return len(r.target.IfNoneMatch)+len(r.target.IfModifiedSince) > 0
}

// keepCookies keeps the cookies of a response with any status: a redirect or a 403 that sets a cookie expects it with
// the next request. It reports whether the response is a redirect within the site, to a URL that gets other cookies
// now.
func (r *request) keepCookies(p *fetch.Page, o outcome.Outcome) bool {
	if r.Jars == nil || !p.HasHead() {
		return false
	}
	var target, before []byte
	if o == outcome.Redirect && p.Head().Value("set-cookie") != nil {
		url, err := urlx.Resolve(nil, p.URL, p.Head().Location())
		own, _ := urlx.Split(p.URL)
		if site, _ := urlx.Split(url); err == nil && bytes.Equal(site, own) {
			target, before = url, r.Jars.Append(nil, url, time.Now())
		}
	}
	r.Jars.Take(p.URL, p.Head().Values("set-cookie"), time.Now())
	return target != nil && !bytes.Equal(before, r.Jars.Append(nil, target, time.Now()))
}
