package fetchers

import (
	"bytes"
	"context"
	"time"

	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/fetch/coding"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/page/wall"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/outcome"
)

// Worker is a fetch worker. It holds at most one Visit, one connection and one Page at a time. The workers of a crawl
// are all alike, and there are thousands. Only its number tells one from the others.
type Worker struct {
	pool         *fetch.Pool
	cluster      cluster.VisitGate
	shortage     *outage.Shortage
	stopping     <-chan struct{}
	current      current
	checks       checker
	exchange     exchange
	consequences consequences
	robots       robotsVisits
	settlement   settlement
}

// Work takes Visits as the worker with number id, from 0, until the queue of Visits is closed and empty. exchanges
// cancels exchanges. It does not end Work, since each Visit must return. The worker is made when its first Visit comes,
// since few of those that may work do so in most crawls.
func Work(exchanges context.Context, crawl *Crawl, id int) error {
	todo := crawl.Queues.Todo.NewTaker()
	r, ok := todo.Next()
	if !ok {
		return nil
	}
	w := NewWorker(crawl, id)
	defer w.Close()
	for flow := w.exchange.fetcher.Flow(); ok; r, ok = todo.Next() {
		flow.BeginVisit()
		if err := w.visit(exchanges, r); err != nil {
			return err
		}
		flow.EndVisit()
	}
	return nil
}

// NewWorker returns the worker with number id, from 0.
func NewWorker(crawl *Crawl, id int) *Worker {
	o, q, terms, records := &crawl.Options, &crawl.Queues, crawl.Settings, crawl.Records
	w := &Worker{
		pool: q.Pool, cluster: crawl.Cluster, shortage: crawl.Outages.Shortage, stopping: o.Stopping,
	}
	w.exchange = exchange{
		cluster: crawl.Cluster, shares: q.Shares, table: q.Exchanges, fetcher: fetch.NewFetcher(o.Fetch, o.Dialer, q.Pool),
		live: terms.Live, groups: terms.Groups, times: &records.Store.Count.Distributions,
		worker: id, began: o.Began, request: request{Identity: crawl.Identity, proxy: o.Proxy},
		observer: observer{
			network: crawl.Outages.Network, way: crawl.Outages.Way, walls: wall.NewDetector(), live: terms.Live,
			hashSeed: o.HashSeed, proxy: o.Proxy,
		},
	}
	w.exchange.fetcher.CountIn(q.Exchanges.Progress(id))
	w.checks = checker{
		Settings: terms, cluster: crawl.Cluster, cancel: &w.exchange.cancels, finished: records.Finished,
		log: records.Log, way: crawl.Outages.Way, stopping: o.Stopping, hashSeed: o.HashSeed, worker: id,
		visit: visitChecks(), item: itemChecks(), exchange: exchangeChecks(),
	}
	w.consequences = consequences{
		Settings: terms, clamps: crawl.Clamps, count: &records.Store.Count, hashSeed: o.HashSeed, proxy: o.Proxy,
	}
	w.robots = robotsVisits{consequences: &w.consequences, rules: crawl.Rules, decoder: coding.New(coding.Options{})}
	w.settlement = settlement{
		Records: records, cluster: crawl.Cluster, groups: terms.Groups, results: q.Results, pool: q.Pool,
		queues: q, hashSeed: o.HashSeed, entry: journal.NewPending(nil),
	}
	return w
}

// Close closes the connection of a worker that does not run any more.
func (w *Worker) Close() { w.exchange.close() }

// visit makes at most one exchange with the site, and returns the Visit.
func (w *Worker) visit(ctx context.Context, r *visit.Result) error {
	c, v := &w.current, &r.Visit
	c.begin(r, w.cluster.Owns(v.Key))
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
		w.consequences.concludeRoot(c, p, o)
	case pageRequest:
		w.consequences.concludePage(c, p, o)
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
	p, err := w.pool.Get(ctx)
	if err != nil { // ctx has ended
		w.returnUnfetched(c)
		return nil, outcome.None, nil //nolint:nilerr // the end of ctx is no fault
	}
	o, counts := w.exchange.fetch(ctx, c, p)
	switch {
	case o == outcome.Cancelled:
		w.consequences.decideCancelled(c, p)
		w.returnUnfetched(c)
		err := p.RestFault()
		w.pool.Put(p)
		return nil, o, err
	case o == outcome.LocalFault: // this machine had no connection for it
		w.shortage.Note(time.Now(), p.Err)
		w.pause(ctx, c, p)
		return nil, o, nil
	case !counts: // the network, or the way, is down. The request may have been sent, so the delays hold.
		w.consequences.decide(c, p, outcome.Cancelled, 0)
		c.postponeSite(p.Times.Ended.Add(outage.NetworkRetryWait))
		w.pause(ctx, c, p)
		return nil, o, nil
	default:
		attempt.Of(p).Outcome = o
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
	w.pool.Put(p)
	w.rest(ctx)
	w.returnUnfetched(c)
}

// rest lets the worker wait, unless the crawl stops.
func (w *Worker) rest(ctx context.Context) {
	timer := time.NewTimer(outage.ShortageWait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.stopping:
	case <-ctx.Done():
	}
}
