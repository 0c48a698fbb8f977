package fetchers

import (
	"bytes"
	"cmp"
	"context"
	"net/netip"
	"time"

	"orbweaver/engine/net/bandwidth"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/net/underway"
	"orbweaver/engine/page/wall"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/store/recrawl"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// An exchange makes the requests of a worker, one at a time.
type exchange struct {
	*Crawl
	worker    int
	runStart  time.Time // before the first request of this run
	fetcher   *fetch.Fetcher
	limits    *settings.ExchangeLimits // of the fetcher; nil for those of the start
	target    fetch.Target
	cookies   []byte            // of the request
	condition recrawl.Condition // of the request
	cancels   cluster.Exchange  // cancels the request when this agent may not go on with it
	answered  outage.Answer     // the last response, as package outage has it
	walls     *wall.Detector
	counts    bool // the last outcome counts against the site and as a try of the URL
}

// fetch makes the request of c into p and returns its outcome.
func (x *exchange) fetch(ctx context.Context, c *current, p *fetch.Page) outcome.Outcome {
	a := attempt.Of(p)
	a.Begin(c.item, c.url, &c.queued)
	a.Worker = x.worker
	switch c.kind {
	case pageRequest:
		a.RobotsRule = append(a.RobotsRule, c.rule...)
		x.target = fetch.Target{Fresh: c.queued.Tries > 0, Cookie: x.cookiesFor(a.URL)}
		x.addCondition(a)
	case rootRequest:
		a.IsProbe, a.WillRetry = true, true
		x.target = fetch.Target{Fresh: true, Cookie: x.cookiesFor(a.URL)}
	case robotsRequest, targetRequest:
		a.IsRobots = true
		// No cookies: rules are the same for all. A failure counts against the site, so it must not be the failure of
		// an old connection.
		x.target = fetch.Target{Robots: true, Fresh: true}
	}
	o := x.send(ctx, c, p)
	if !a.IsRobots && x.counts {
		a.SetsCookie = x.keepCookies(p, o)
	}
	return o
}

// send makes the request of target.
func (x *exchange) send(ctx context.Context, c *current, p *fetch.Page) outcome.Outcome {
	if l := x.Live.Exchanges.Load(); l != x.limits {
		x.limits = l
		o := x.fetcher.Options()
		o.DialTimeout, o.HeaderTimeout = l.Connect, l.Response
		o.TotalTimeout, o.Long.SlowTimeout = l.Exchange, l.Slow
		o.BodyMax = l.BodyMax
	}
	key, t := c.result.Visit.Key, &x.target
	_, authority, _ := bytes.Cut(key, []byte("://"))
	t.UserAgent = c.settings.UserAgent
	t.Limit = bandwidth.HostLimit{Host: urlx.Host(key), Rate: c.settings.Bandwidth}
	t.Timeouts = fetch.Timeouts(c.settings.Timeouts)
	t.Authorization, t.TrustedOnly = x.Logins.Line(key)
	t.URL, t.HTTPS, t.Host = attempt.Of(p).URL, urlx.HTTPS(key), authority
	most := x.Shares.TimeLimit(&c.result.Visit)
	if most > 0 {
		usual := cmp.Or(t.Timeouts.Exchange, x.fetcher.Options().TotalTimeout)
		t.Timeouts.Exchange = min(usual, most)
	}
	if t.OfMany = false; !x.Proxy {
		t.OfMany = c.site.HasUntriedAddr()
		t.Addr = netip.AddrPortFrom(c.site.Addrs().Current(c.result.Visit.Addr), uint16(urlx.Port(key)))
	}
	ctx = x.Cluster.BeginExchange(ctx, &x.cancels, key)
	x.Exchanges.Begin(x.worker, &underway.Exchange{
		URL: t.URL, Addr: t.Addr.Addr(), Port: t.Addr.Port(), Kind: kindOf(c.kind), Tries: c.queued.Tries, Began: time.Now(),
	})
	o := x.fetcher.Fetch(ctx, t, p)
	if o == outcome.NotModified && len(t.IfNoneMatch)+len(t.IfModifiedSince) == 0 {
		o = outcome.Unasked
	}
	if !t.Robots && o != outcome.Cancelled {
		if service := x.wallOf(c, p, o); service != "" {
			o, attempt.Of(p).Wall = outcome.Wall, service
		}
	}
	x.Cluster.EndExchange(&x.cancels)
	observed := outage.Attempt{
		Addr: t.Addr.Addr(), Outcome: o, AnsweredBefore: c.site.Failures == 0 && c.site.Rules != nil,
		BeganAt: p.Times.Started, ConnectedAt: p.Times.Connected, EndedAt: p.Times.Ended,
		BusyWorkers: x.Exchanges.End(x.worker),
	}
	x.counts = x.Proxy || x.Network.Observe(&observed)
	x.observeWay(c, p, o, observed.AnsweredBefore)
	x.measure(c, p, o)
	x.Shares.NoteExchange(&c.result.Visit, p.Times.Started, p.Times.Ended)
	if most > 0 && isTimeOut(o) && p.Times.Ended.Sub(p.Times.Started) >= most {
		return outcome.Cancelled // to be repeated in the share of slow Visits
	}
	return o
}

// isTimeOut reports whether an exchange took too long.
func isTimeOut(o outcome.Outcome) bool {
	return o == outcome.ConnectTimeout || o == outcome.HeaderTimeout || o == outcome.TruncatedTime
}

// idleAddress notes how long the address, or the group of hosts in its place, had been left alone. When its previous
// exchange ended follows from the time since when it is due. It does not if the wait was longer than the delay, if that
// exchange was of an earlier run, or if other agents contact the address: then later ones may have been lost, or are
// not known here.
func (x *exchange) idleAddress(c *current, p *fetch.Page) {
	v := &c.result.Visit
	if v.IPDue.IsZero() || x.Cluster.SharesAddresses() || politeness.UnpackIPSlowdown(v.IPNote).Level > 0 {
		return
	}
	delay := max(x.Live.Policy().IPDelay, x.Groups.Delay(v.Addr))
	if ended := v.IPDue.Add(-delay); ended.After(x.runStart) {
		attempt.Of(p).Delays.IPIdle = max(p.Times.Started.Sub(ended), 0)
	}
}

// measure counts how long the parts of an exchange took, and how long the site had been left alone before.
func (x *exchange) measure(c *current, p *fetch.Page, o outcome.Outcome) {
	d, times := &x.Store.Count.Distributions, &p.Times
	if gap, ok := c.site.LastExchange.Until(times.Started); ok {
		d.Gap.Observe(x.worker, gap)
		attempt.Of(p).Delays.Idle = gap
	}
	x.idleAddress(c, p)
	if !x.hasNextAddr(c, o) { // else no request was sent
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

// kindOf is what the table of exchanges under way calls a request.
func kindOf(k requestKind) underway.Kind {
	switch k {
	case robotsRequest, targetRequest:
		return underway.Robots
	case rootRequest:
		return underway.Proof
	default:
		return underway.Page
	}
}

// addCondition makes the request conditional if the previous crawl has a capture of the URL with a validator.
func (x *exchange) addCondition(a *attempt.Attempt) {
	if a.Tries >= recrawl.ConditionalTries || !x.Previous.FillCondition(&x.condition, a.URL) {
		return
	}
	a.Previous = x.condition.Previous
	x.target.IfNoneMatch, x.target.IfModifiedSince = x.condition.IfNoneMatch, x.condition.IfModifiedSince
}

// cookiesFor returns the value of the Cookie field for a URL.
func (x *exchange) cookiesFor(url []byte) []byte {
	if x.Jars == nil {
		return nil
	}
	x.cookies = x.Jars.Append(x.cookies[:0], url, time.Now())
	return x.cookies
}

// keepCookies keeps the cookies of a response with any status: a redirect or a 403 that sets a cookie expects it with
// the next request. It reports whether the response is a redirect within the site, to a URL that gets other cookies
// now.
func (x *exchange) keepCookies(p *fetch.Page, o outcome.Outcome) bool {
	if x.Jars == nil || !p.HasHead() {
		return false
	}
	var target, before []byte
	if o == outcome.Redirect && p.Head().Value("set-cookie") != nil {
		if url, err := urlx.Resolve(nil, p.URL, p.Head().Location()); err == nil && sameSite(url, p.URL) {
			target, before = url, x.Jars.Append(nil, url, time.Now())
		}
	}
	x.Jars.Take(p.URL, p.Head().Values("set-cookie"), time.Now())
	return target != nil && !bytes.Equal(before, x.Jars.Append(nil, target, time.Now()))
}

// sameSite reports whether two URLs in normal form have one site.
func sameSite(a, b []byte) bool {
	one, _ := urlx.Split(a)
	other, _ := urlx.Split(b)
	return bytes.Equal(one, other)
}

// close closes the connection.
func (x *exchange) close() {
	x.fetcher.Close()
	x.cancels.Close()
}
