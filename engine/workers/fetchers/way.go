package fetchers

import (
	"context"
	"time"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/site"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// observeWay tells an exchange that failed on the way to the site, or was answered there, from one with the site. If
// the way is down, or the answer is probably that of a captive portal, the exchange does not count.
func (x *exchange) observeWay(c *current, p *fetch.Page, o outcome.Outcome, answeredBefore bool) {
	c.ofWay = false
	isClosed := false
	switch fault := p.Connection.Way; {
	case fault != outcome.WayOpen:
		c.ofWay = x.isOfWay(c, fault)
		isClosed = x.Way.NoteFault(fault, c.result.Visit.Key, p.Err, p.Times.Ended)
	case p.HasHead():
		switch x.Way.NoteAnswer(x.answer(c, p, o)) {
		case outage.Suspect:
			isClosed = true
			site.AskRobotsAgain(&c.site, p.Times.Ended)
		case outage.AskRobots:
			site.AskRobotsAgain(&c.site, p.Times.Ended)
		case outage.Believed:
		}
	case x.Proxy && answeredBefore && (o.Class() == outcome.ClassHost || o.Class() == outcome.ClassFault) &&
		o != outcome.Stale:
		// If the way is open, and nothing is left but URLs that no server answers, robots.txt is answered.
		if isClosed = x.Way.NoteSilence(c.result.Visit.Key, p.Times.Ended); isClosed {
			site.AskRobotsAgain(&c.site, p.Times.Ended)
		}
	}
	if isClosed {
		x.counts = false
		site.NoteWayDown(&c.site, p.Times.Ended)
	}
}

// isOfWay reports whether a fault of the way spares the site, whatever becomes of the way. Other answers than that of a
// proxy that is down may be of a server, too. They spare no site that goes on with them while other sites answer.
func (x *exchange) isOfWay(c *current, fault outcome.Way) bool {
	if fault == outcome.WayDown || !fault.IsWhole() {
		return fault == outcome.WayDown
	}
	first := c.site.FailureStreak().FirstAt
	return first == 0 || !x.Way.HasAnsweredSince(time.Unix(int64(first)+1, 0))
}

// answer describes a response for outage.Way.
func (x *exchange) answer(c *current, p *fetch.Page, o outcome.Outcome) *outage.Answer {
	x.answered = outage.Answer{
		Host: urlx.Host(c.result.Visit.Key), Status: p.Status, Payload: p.Body(), IsRobots: attempt.Of(p).IsRobots,
		Served: c.site.Stored > 0, FirstByte: p.Times.FirstByte, EndedAt: p.Times.Ended,
	}
	switch {
	case o == outcome.Redirect:
		if target, err := urlx.Resolve(nil, c.url, p.Head().Location()); err == nil {
			x.answered.Kind, x.answered.Target = outage.AwayAnswer, urlx.Host(target)
		}
	case x.Proxy && o == outcome.ClientError && p.Status != 404 && p.Status != 410:
		x.answered.Kind = outage.DeniedAnswer
	}
	return &x.answered
}

func isWayDown(k *checker, _ context.Context, c *current) (verdict, error) {
	if k.Way.MayAsk(c.now) {
		return pass, nil
	}
	site.NoteWayDown(&c.site, c.now)
	c.postponeSite(c.now.Add(outage.NetworkRetryWait))
	return waitForWay, nil
}
