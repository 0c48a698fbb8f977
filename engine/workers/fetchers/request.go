package fetchers

import (
	"bytes"
	"net/netip"
	"time"

	"orbweaver/engine/net/bandwidth"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/store/recrawl"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

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
