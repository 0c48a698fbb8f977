package fetchers

import (
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/site"
	"orbweaver/internal/outcome"
)

// A site that may refuse HTTP/1.1 is asked once more over HTTP/2 (--probe-h2), before a page of it is stored. This is
// the next try of the same URL, so all delays hold. A fault has it anyway; a page with 403 or 426 gets it.

// noteHTTP2 notes that the site needs a probe, or the result of its probe.
func (x *exchange) noteHTTP2(c *current, p *fetch.Page, o outcome.Outcome) {
	options, s, t := x.fetcher.Options(), &c.site, &x.request.target
	c.http2Due = false
	switch {
	case !t.HTTPS || o == outcome.Cancelled:
	case options.HTTP2:
		s.HTTP2 = afterHTTP2(s.HTTP2, p, o)
	case !options.ProbeHTTP2:
	case !t.HTTP2:
		if s.HTTP2 == site.NoHTTP2Probe && s.Stored == 0 {
			s.HTTP2 = reasonForHTTP2(p, o, c.kind)
			c.http2Due = s.HTTP2 == site.HTTP2For403 || s.HTTP2 == site.HTTP2For426
		}
	case !p.Connection.Secure && p.Err != fetch.CauseNoProtocol: // no answer to the question
	default:
		a := attempt.Of(p)
		a.HTTP2 = s.HTTP2.String()
		if p.Connection.TLS.HTTP2 && o != outcome.Wall && (p.Status == 404 || p.Status >= 200 && p.Status < 400) {
			a.HTTP2 += "-lifted"
		}
		s.HTTP2 = site.HTTP2Probed
	}
}

// afterHTTP2 returns what is known of a site with --http2 after an exchange: one that closes or resets connections over
// HTTP/2, and answers over HTTP/1.1, is not asked over HTTP/2 again. Otherwise each of its pages would have two
// requests. A site that has answered over HTTP/2 may fail once: a server that restarts refuses requests.
func afterHTTP2(before site.HTTP2Probe, p *fetch.Page, o outcome.Outcome) site.HTTP2Probe {
	isHTTP2 := p.Connection.TLS.HTTP2
	isFailure := isHTTP2 && (o == outcome.Reset || o == outcome.Protocol)
	switch {
	case isFailure && before == site.HTTP2Answered:
		return site.NoHTTP2Probe
	case isFailure:
		return site.HTTP2Failed
	case isHTTP2 && p.HasHead() && before == site.NoHTTP2Probe:
		return site.HTTP2Answered
	case before != site.HTTP2Failed:
		return before
	case p.HasHead() && isHTTP2: // over a connection that was kept
		return before
	case p.HasHead():
		return site.HTTP1Answered
	default:
		return site.NoHTTP2Probe
	}
}

// isTryOverHTTP1 reports whether a try of a URL does not offer HTTP/2. What fails over HTTP/2 is tried without. A site
// that has answered over HTTP/2 may have nothing else, so only each third try is.
func isTryOverHTTP1(known site.HTTP2Probe, tries int) bool {
	switch {
	case known >= site.HTTP2Failed:
		return true
	case known == site.HTTP2Answered:
		return tries%3 == 2
	default:
		return tries%2 == 1
	}
}

// reasonForHTTP2 returns why an answer calls for a probe. A robots.txt with 403 does not: it has no other try.
func reasonForHTTP2(p *fetch.Page, o outcome.Outcome, kind requestKind) site.HTTP2Probe {
	switch {
	case kind > robotsRequest:
	case p.Err == fetch.CauseNoProtocol:
		return site.HTTP2ForALPN
	case p.Err == fetch.CauseNoAnswer && p.Connection.Secure && o == outcome.Reset:
		return site.HTTP2ForNoWord
	case p.Status == 505:
		return site.HTTP2For505
	case kind != pageRequest:
	case p.Status == 403:
		return site.HTTP2For403
	case p.Status == 426:
		return site.HTTP2For426
	}
	return site.NoHTTP2Probe
}
