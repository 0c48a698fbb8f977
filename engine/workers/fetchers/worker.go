package fetchers

import (
	"bytes"
	"context"
	"errors"
	"time"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/fetch/coding"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/page/wall"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/mpmc"
	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
)

// Worker is a fetch worker. It holds at most one Visit, one connection and one Page at a time. The workers of a crawl
// are all alike, and there are thousands. Only its number tells one from the others.
type Worker struct {
	*Crawl
	current    current
	checks     checker
	exchange   exchange
	trouble    trouble
	robots     robotsVisits
	settlement settlement
}

// NewWorker returns the worker with number id, from 0.
func NewWorker(crawl *Crawl, id int) *Worker {
	w := &Worker{Crawl: crawl}
	w.exchange = exchange{
		Crawl: crawl, worker: id, runStart: time.Now(), fetcher: fetch.NewFetcher(crawl.Fetch, crawl.Dialer, crawl.Pool),
		walls: wall.NewDetector(),
	}
	w.exchange.fetcher.CountIn(crawl.Exchanges.Progress(id))
	w.checks = checker{
		Crawl: crawl, worker: id, cancel: &w.exchange,
		visit: visitChecks(), item: itemChecks(), exchange: exchangeChecks(),
	}
	w.trouble = trouble{crawl}
	w.robots = robotsVisits{Crawl: crawl, trouble: &w.trouble, decoder: coding.New(coding.Options{})}
	w.settlement = settlement{Crawl: crawl, entry: journal.NewPending(nil)}
	return w
}

// Close closes the connection of a worker that does not run any more.
func (w *Worker) Close() { w.exchange.close() }

// Run takes Visits until the queue of Visits is closed and empty. exchanges cancels exchanges. It does not end Run,
// since each Visit must return; forever does, but no orderly stop ends it.
func (w *Worker) Run(exchanges, forever context.Context) error {
	for {
		v, err := w.Todo.TakeNext(forever)
		if err != nil {
			if errors.Is(err, mpmc.ErrClosed) {
				return nil
			}
			return err
		}
		flow := w.exchange.fetcher.Flow()
		flow.BeginVisit()
		if err := w.visit(exchanges, &v); err != nil {
			return err
		}
		flow.EndVisit()
	}
}

// visit makes at most one exchange with the site, and returns the Visit.
func (w *Worker) visit(ctx context.Context, v *visit.Visit) error {
	c := &w.current
	c.begin(v)
	c.foreign = !w.Cluster.Owns(v.Key)
	follows, err := w.checks.visit.ask(ctx, &w.checks, c)
	for i := 0; i < len(v.Items) && follows != giveBack && err == nil; i++ {
		c.beginItem(i)
		follows, err = w.checks.item.ask(ctx, &w.checks, c)
		switch {
		case err != nil || follows == giveBack:
		case follows == refuse:
			c.takeItem()
		default:
			return w.request(ctx, c, follows)
		}
	}
	if err != nil {
		return err
	}
	w.settlement.giveBack(c)
	return nil
}

// request makes the request that follows from the checks of an item.
func (w *Worker) request(ctx context.Context, c *current, follows verdict) error {
	switch follows {
	case fetchRobots:
		c.useRobots()
	case fetchRoot:
		c.useRoot()
	case fetchRedirect:
		c.kind = targetRequest
		if bytes.Equal(c.queued.RobotsOf, c.result.Visit.Key) { // redirects that lead back
			c.kind = robotsRequest
		}
		c.takeItem()
	default:
		c.takeItem()
	}
	p, o, err := w.fetch(ctx, c)
	if p == nil {
		return err
	}
	switch c.kind {
	case robotsRequest:
		w.robots.conclude(c, p, o)
	case targetRequest:
		w.robots.concludeTarget(c, p, o)
	case rootRequest:
		w.concludeRoot(c, p, o)
	case pageRequest:
		w.concludePage(c, p, o)
	}
	c.postponeSite(w.exchange.fetcher.Flow().HostDue())
	return w.settlement.end(ctx, c, p)
}

// fetch makes an exchange. It returns no Page if the exchange did not happen or says nothing about the site; then the
// Visit has returned with the item.
func (w *Worker) fetch(ctx context.Context, c *current) (*fetch.Page, outcome.Outcome, error) {
	follows, err := w.checks.exchange.ask(ctx, &w.checks, c)
	if err != nil {
		return nil, outcome.None, err
	}
	if follows != pass {
		if follows == waitForWay {
			w.rest(ctx) // so that the sites that wait cost little
		}
		w.returnUnfetched(c)
		return nil, outcome.None, nil
	}
	p, err := w.Pool.Get(ctx)
	if err != nil { // ctx has ended
		w.returnUnfetched(c)
		return nil, outcome.None, nil //nolint:nilerr // the end of ctx is no fault
	}
	o := w.exchange.fetch(ctx, c, p)
	switch {
	case o == outcome.Cancelled:
		w.trouble.decideCancelled(c, p)
		w.returnUnfetched(c)
		err := p.RestFault()
		w.Pool.Put(p)
		return nil, o, err
	case o == outcome.LocalFault: // this machine had no connection for it
		w.Shortage.Note(time.Now(), p.Err)
		w.pause(ctx, c, p)
		return nil, o, nil
	case !w.exchange.counts: // the network, or the way, is down. The request may have been sent, so the delays hold.
		w.trouble.decide(c, p, outcome.Cancelled, 0)
		c.postponeSite(p.Times.Ended.Add(outage.NetworkRetryWait))
		w.pause(ctx, c, p)
		return nil, o, nil
	default:
		a := attempt.Of(p)
		a.Outcome, a.Fingerprint = o, urlx.Fingerprint(w.HashSeed, a.URL)
		counted := o
		if c.kind == targetRequest {
			counted = outcome.OK // a failure is none of the site
		}
		site.CountExchange(&c.site, counted, int64(p.HeadLen)+p.PayloadLen)
		return p, o, nil
	}
}

// returnUnfetched returns the Visit with the item as the next item of the site.
func (w *Worker) returnUnfetched(c *current) {
	c.returnItem()
	w.settlement.giveBack(c)
}

// pause returns the Visit after a pause of the worker. So there are no more exchanges at a time than this machine has
// connections for.
func (w *Worker) pause(ctx context.Context, c *current, p *fetch.Page) {
	w.Pool.Put(p)
	w.rest(ctx)
	w.returnUnfetched(c)
}

// rest lets the worker wait, unless the crawl stops.
func (w *Worker) rest(ctx context.Context) {
	timer := time.NewTimer(outage.ShortageWait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.Stopping:
	case <-ctx.Done():
	}
}

// concludePage decides what follows from the exchange of a page.
func (w *Worker) concludePage(c *current, p *fetch.Page, o outcome.Outcome) {
	a, t := attempt.Of(p), &w.trouble
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
		w.Quotas.AddPage(c.result.Visit.Key)
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
func (w *Worker) concludeRoot(c *current, p *fetch.Page, o outcome.Outcome) {
	t := &w.trouble
	d := t.decide(c, p, o, 1) // not the first try of a URL: then a failure does not slow the site down further
	if o.Class() == outcome.ClassHost {
		t.useNextAddr(c)
	}
	if t.spare(c, p, o, false, &d); d.GiveUpSite {
		c.giveUpSite(t.deadOutcome(c, o, p.Times.Ended))
	}
}
