package fetchers

import (
	"bytes"
	"context"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/page/wall"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// An observer finds out what stood between this machine and the pages of a site in an exchange: an outage of the
// network, a fault on the way to all sites, such as a proxy, or the wall of a service against robots.
type observer struct {
	network  *outage.Network
	way      *outage.Way
	walls    *wall.Detector
	live     *settings.Live
	hashSeed uint64
	proxy    bool
	answered outage.Answer // the last response, as package outage has it
}

// observe notes what an exchange shows of the network and of the way. busy is how many workers were in one. It reports
// whether the outcome counts against the site and as a try of the URL.
func (b *observer) observe(c *current, p *fetch.Page, o outcome.Outcome, busy int64) (counts bool) {
	answeredBefore := c.site.Failures == 0 && c.site.Rules != nil
	counts = b.proxy || b.network.Observe(&outage.Attempt{
		Addr: c.site.Addrs().Current(c.result.Visit.Addr), Outcome: o, AnsweredBefore: answeredBefore,
		BeganAt: p.Times.Started, ConnectedAt: p.Times.Connected, EndedAt: p.Times.Ended, BusyWorkers: busy,
	})
	if b.closesWay(c, p, o, answeredBefore) {
		site.NoteWayDown(&c.site, p.Times.Ended)
		return false
	}
	return counts
}

// closesWay tells an exchange that failed on the way to the site, or was answered there, from one with the site. It
// reports whether the way is down, or the answer is probably that of a captive portal.
func (b *observer) closesWay(c *current, p *fetch.Page, o outcome.Outcome, answeredBefore bool) (isClosed bool) {
	c.ofWay = false
	switch fault := p.Connection.Way; {
	case fault != outcome.WayOpen:
		c.ofWay = b.isOfWay(c, fault)
		return b.way.NoteFault(fault, c.result.Visit.Key, p.Err, p.Times.Ended)
	case p.HasHead():
		view := b.way.NoteAnswer(b.answer(c, p, o))
		if view != outage.Believed {
			site.AskRobotsAgain(&c.site, p.Times.Ended)
		}
		return view == outage.Suspect
	case b.proxy && answeredBefore && (o.Class() == outcome.ClassHost || o.Class() == outcome.ClassFault) &&
		o != outcome.Stale:
		// If the way is open, and nothing is left but URLs that no server answers, robots.txt is answered.
		if isClosed = b.way.NoteSilence(c.result.Visit.Key, p.Times.Ended); isClosed {
			site.AskRobotsAgain(&c.site, p.Times.Ended)
		}
	}
	return isClosed
}

// isOfWay reports whether a fault of the way spares the site, whatever becomes of the way. Other answers than that of a
// proxy that is down may be of a server, too. They spare no site that goes on with them while other sites answer.
func (b *observer) isOfWay(c *current, fault outcome.Way) bool {
	if fault == outcome.WayDown || !fault.IsWhole() {
		return fault == outcome.WayDown
	}
	first := c.site.FailureStreak().FirstAt
	return first == 0 || !b.way.HasAnsweredSince(time.Unix(int64(first)+1, 0))
}

// answer describes a response for outage.Way.
func (b *observer) answer(c *current, p *fetch.Page, o outcome.Outcome) *outage.Answer {
	b.answered = outage.Answer{
		Host: urlx.Host(c.result.Visit.Key), Status: p.Status, Payload: p.Body(), IsRobots: attempt.Of(p).IsRobots,
		Served: c.site.Stored > 0, FirstByte: p.Times.FirstByte, EndedAt: p.Times.Ended,
	}
	switch {
	case o == outcome.Redirect:
		if target, err := urlx.Resolve(nil, c.url, p.Head().Location()); err == nil {
			b.answered.Kind, b.answered.Target = outage.AwayAnswer, urlx.Host(target)
		}
	case b.proxy && o == outcome.ClientError && p.Status != 404 && p.Status != 410:
		b.answered.Kind = outage.DeniedAnswer
	}
	return &b.answered
}

// wallOf returns the service whose wall a response is, "" for a page. o is the outcome that it has otherwise.
func (b *observer) wallOf(c *current, p *fetch.Page, o outcome.Outcome) string {
	rules := b.live.Walls.Load()
	service := b.walls.Service(rules, p)
	if service == "" && o == outcome.Redirect && !rules.IsEmpty() && b.isLogIn(c, p) {
		return wall.LogIn
	}
	return service
}

// isLogIn reports whether a redirect leads to the log-in or consent page to which the site redirects everything. While
// the site waits because of a wall, one redirect to such a page shows that it still stands.
func (b *observer) isLogIn(c *current, p *fetch.Page) bool {
	if !wall.LeadsToLogIn(p.Head().Location()) {
		return false
	}
	target, err := urlx.Resolve(nil, p.URL, p.Head().Location())
	if err != nil {
		return false
	}
	target, _, _ = bytes.Cut(target, []byte{'?'})
	if own, _, _ := bytes.Cut(p.URL, []byte{'?'}); bytes.Equal(own, target) { // the log-in page itself
		return false
	}
	switch {
	case c.site.FailureStreak().LastOutcome == outcome.Wall:
		return true
	case c.kind != pageRequest || c.queued.Tries > 0 || queued.IsRequisite(c.queued.Embeds):
		return false
	default:
		return site.NoteLogIn(&c.site, uint32(xxh3.HashSeed(target, b.hashSeed)))
	}
}

func (k *checker) isWayDown(_ context.Context, c *current) (verdict, error) {
	if k.way.MayAsk(c.now) {
		return pass, nil
	}
	site.NoteWayDown(&c.site, c.now)
	c.postponeSite(c.now.Add(outage.NetworkRetryWait))
	return waitForWay, nil
}
