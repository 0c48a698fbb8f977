package engine

import (
	"bytes"
	"context"
	"errors"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/attempt"
	"orbweaver/engine/cluster"
	"orbweaver/engine/cookie"
	"orbweaver/engine/crawllog"
	"orbweaver/engine/fetch"
	"orbweaver/engine/filter"
	"orbweaver/engine/journal"
	"orbweaver/engine/limits"
	"orbweaver/engine/outage"
	"orbweaver/engine/outcome"
	"orbweaver/engine/politeness"
	"orbweaver/engine/queued"
	"orbweaver/engine/recrawl"
	"orbweaver/engine/settings"
	"orbweaver/engine/site"
	"orbweaver/engine/urlx"
	"orbweaver/engine/visit"
	"orbweaver/internal/mpmc"
	"orbweaver/workbench"
)

// fetchWorker holds one Visit, one connection and at most one Page at a time. There are thousands, all alike; they
// meet the bench only through the todo and done queues.
type fetchWorker struct {
	id       int
	ledger   *journal.Store
	todo     *mpmc.Queue[visit.Visit]
	done     *visit.ResultQueue
	pool     *fetch.Pool
	fetched  chan<- *fetch.Page
	fetcher  *fetch.Fetcher
	decoder  *fetch.Decoder
	rules    *site.RulesPool
	aloft    *attempt.InFlight
	finished *journal.FinishedURLs
	log      *crawllog.Log
	live     *settings.Live
	lists    *filter.Lists // nil if they can refuse nothing
	jars     *cookie.Jars  // nil if no cookies are kept
	previous recrawl.PreviousCrawl
	scarce   *outage.Shortage
	clamps   *settings.ClampLog
	network  *outage.Network
	quotas   *limits.Quotas
	cluster  cluster.VisitGate
	door     door // for what is asked for instead of something else
	proxy    bool
	keys     politeness.AddrKeys

	hashSeed   uint64
	maxPerHost int
	giveUp     time.Duration
	proofWait  time.Duration   // see proofAfter
	stopping   <-chan struct{} // closed when no new exchange may begin
	pagesOut   *atomic.Int64
	fetching   *atomic.Int64 // workers in an exchange

	site      site.State // of the Visit at hand
	terms     filter.HostSettings
	url       []byte
	rule      []byte            // what decided that url is allowed, see flight
	cookies   []byte            // that go with the request for url
	condition recrawl.Condition // of the request
	lent      bool              // by other agents: the address of the exchange under way
	refused   []refusal
	target    fetch.Target
	cancels   cluster.Exchange
	blamed    bool             // the outcome of the last exchange counts
	posting   *journal.Pending // of attempts that brought no response
}

// run takes Visits until the todo queue is closed and empty. ctx aborts exchanges; it does not end the loop, since a
// Visit must always find its way back.
func (w *fetchWorker) run(ctx, forever context.Context) error {
	for {
		w.network.WaitForTurn(ctx, w.id, w.stopping)
		v, err := w.todo.Take(forever)
		if err != nil {
			if errors.Is(err, mpmc.ErrClosed) {
				return nil
			}
			return err
		}
		if err := w.visit(ctx, &v); err != nil {
			return err
		}
	}
}

func (w *fetchWorker) isStopping() bool {
	select {
	case <-w.stopping:
		return true
	default:
		return false
	}
}

// Visit makes at most one exchange for the site and gives the Visit back.
func (w *fetchWorker) visit(ctx context.Context, v *visit.Visit) error {
	w.site = v.Site // changed here, and written back with the Visit, under the cut
	site := &w.site
	r := visit.Result{Visit: *v}
	r.Release = workbench.Release{Unused: v.Items, SiteDue: v.SiteDue, IPDue: v.IPDue}
	if w.isStopping() {
		w.giveBack(&r, nil)
		return nil
	}
	w.terms = w.live.Hosts.Terms(v.Key)
	if site.Blocked || w.terms.Exclude {
		site.Blocked = true
		site.DeadOutcome = outcome.Blocked
		r.Release.Kill = true
		w.giveBack(&r, nil)
		return nil
	}
	foreign := !w.cluster.Owns(v.Key)
	if !foreign {
		if due := w.cluster.NotBefore(v.Key); !due.IsZero() {
			r.Release.SiteDue = due
			w.giveBack(&r, nil)
			return nil
		}
	}
	now := time.Now()
	if site.AddrsExpired(now) && !foreign {
		r.Release.Unresolved = true
		w.giveBack(&r, nil)
		return nil
	}
	var holders []cluster.Holder // of the items' pages
	for i, raw := range v.Items {
		it := queued.MustDecode(raw)
		r.Release.Unused = v.Items[i:]
		if it.RobotsOf != nil && !foreign {
			r.Release.Unused = v.Items[i+1:]
			return w.robotsHop(ctx, &r, raw, &it)
		}
		if foreign {
			r.Release.Unused = v.Items[i+1:]
			w.handOver(v.Key, &it)
			continue
		}
		if w.filtered(v.Key, &it) {
			r.Release.Unused = v.Items[i+1:]
			continue
		}
		if asked, err := w.asksFirst(ctx, &r, now, len(v.Items)-i, it.Depth); asked {
			return err
		}
		if holders == nil {
			var err error
			if holders, err = w.cluster.Recover(ctx, v.Key, v.Items); err != nil {
				return err
			}
		}
		if holders != nil && w.asksAgain(&r, holders[i].RetryAt) {
			return nil
		}
		r.Release.Unused = v.Items[i+1:]
		if holders != nil && w.recovered(v.Key, &it, holders[i].Instance) {
			continue
		}
		w.url = append(append(w.url[:0], v.Key...), it.Rest...)
		if x := w.refuse(site, &it); x.outcome != outcome.None {
			w.refused = append(w.refused, x)
			continue
		}
		return w.page(ctx, &r, raw, &it)
	}
	w.giveBack(&r, nil)
	return nil
}

// page fetches one URL and decides what follows.
func (w *fetchWorker) page(ctx context.Context, r *visit.Result, raw []byte, it *queued.URL) error {
	site := &w.site
	if !w.borrow(ctx, r, raw) {
		return nil
	}
	p, err := w.pool.Get(ctx)
	if err != nil { // hard stop: nothing was asked, the item goes back
		r.Release.Front = [][]byte{raw}
		w.giveBack(r, nil)
		return nil //nolint:nilerr // the stop is told by ctx
	}
	f := attempt.Of(p)
	f.Begin(raw, w.url, it)
	f.RobotsRule = append(f.RobotsRule, w.rule...)
	w.target = fetch.Target{Fresh: it.Tries > 0, Cookie: w.cookiesFor(f.URL)}
	w.addCondition(f)
	o := w.exchange(ctx, r, p)
	w.takeCookies(p)
	if o == outcome.Cancelled {
		w.hungUp(r, p, it.Tries)
		r.Release.Front = [][]byte{raw}
		w.giveBack(r, nil)
		w.pool.Put(p)
		return nil
	}
	if o == outcome.LocalFault {
		return w.notTried(ctx, r, p, raw)
	}
	if !w.blamed {
		return w.putOff(ctx, r, p, raw)
	}
	own := w.isOwnFailure(p, o)
	d := w.decide(r, p, o, it.Tries)
	if o == outcome.BlockedAddress || o == outcome.BlockedPort {
		d.GiveUpSite = !w.otherAddr(r)
		d.Retry = !d.GiveUpSite
	} else if o.Class() == outcome.ClassHost && w.otherAddr(r) {
		d.GiveUpSite = false
	}
	w.spare(r, p, o, own, &d)
	if d.GiveUpSite {
		site.DeadOutcome = w.fateOf(o, p.Ended)
		r.Release.Kill = true
		d.Retry = false
	}
	f.Outcome, f.WillRetry, f.Fingerprint = o, d.Retry, urlx.Fingerprint(w.hashSeed, f.URL)
	f.SiteDue, f.IPDue = r.Release.SiteDue, r.Release.IPDue
	if d.Retry {
		again := *it
		if own {
			again.Tries++
		}
		w.tryLater(r, o, own, queued.Append(nil, &again))
	} else if p.HeadLen > 0 && (outcome.IsPageStatus(p.Status) || attempt.IsUnchanged(p, f)) {
		f.FirstOfSite = site.Stored == 0
		site.Stored++
		w.quotas.AddPage(r.Visit.Key)
	}
	return w.hand(ctx, r, p, f)
}

// addCondition makes the request conditional if the previous crawl has a capture of the URL with a validator.
func (w *fetchWorker) addCondition(f *attempt.Attempt) {
	if f.Tries >= recrawl.ConditionalTries || !w.previous.FillCondition(&w.condition, f.URL) {
		return
	}
	f.Previous = w.condition.Previous
	w.target.IfNoneMatch, w.target.IfModifiedSince = w.condition.IfNoneMatch, w.condition.IfModifiedSince
}

// cookiesFor is what a page's request tells its site of what the site said before. A request for robots.txt tells
// nothing: rules are for everybody.
func (w *fetchWorker) cookiesFor(url []byte) []byte {
	if w.jars == nil {
		return nil
	}
	w.cookies = w.jars.Append(w.cookies[:0], url, time.Now())
	return w.cookies
}

// takeCookies keeps what the answer asks to be told again, whatever its status: a redirect or a 403 that sets one wants
// to see it with the next request.
func (w *fetchWorker) takeCookies(p *fetch.Page) {
	if w.jars != nil && p.HasHead() {
		w.jars.Take(p.URL, p.HeaderValues("set-cookie"), time.Now())
	}
}

// notTried puts an item back for which this machine had no connection, and holds its worker for a while: so there are
// no more exchanges at a time than there are connections for. raw is nil for a site's own robots.txt.
func (w *fetchWorker) notTried(ctx context.Context, r *visit.Result, p *fetch.Page, raw []byte) error {
	w.scarce.Note(time.Now(), p.Err)
	return w.rest(ctx, r, p, raw)
}

// putOff puts an item back whose site could not be reached since nobody can be. Somebody may have been asked, so the
// delays run.
func (w *fetchWorker) putOff(ctx context.Context, r *visit.Result, p *fetch.Page, raw []byte) error {
	w.decide(r, p, outcome.Cancelled, 0) // which counts against nobody
	if due := p.Ended.Add(outage.NetworkRetryWait); due.After(r.Release.SiteDue) {
		r.Release.SiteDue = due
	}
	return w.rest(ctx, r, p, raw)
}

// rest holds the worker for a while before it gives back what was not fetched.
func (w *fetchWorker) rest(ctx context.Context, r *visit.Result, p *fetch.Page, raw []byte) error {
	w.pool.Put(p)
	timer := time.NewTimer(outage.ShortageWait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.stopping:
	case <-ctx.Done():
	}
	if raw != nil {
		r.Release.Front = [][]byte{raw}
	}
	w.giveBack(r, nil)
	return nil
}

// exchange does the network's part; w.target says in what manner.
func (w *fetchWorker) exchange(ctx context.Context, r *visit.Result, p *fetch.Page) outcome.Outcome {
	f := attempt.Of(p)
	f.Worker = w.id
	key := r.Visit.Key
	_, authority, _ := bytes.Cut(key, []byte("://"))
	t := &w.target
	t.URL, t.HTTPS, t.Host = f.URL, urlx.HTTPS(key), authority
	if !w.proxy {
		t.Addr = netip.AddrPortFrom(w.site.ConnectAddr(r.Visit.Addr), uint16(urlx.Port(key)))
	}
	ctx = w.cluster.BeginExchange(ctx, &w.cancels, key)
	w.fetching.Add(1)
	o := w.fetcher.Fetch(ctx, t, p)
	w.cluster.EndExchange(&w.cancels)
	a := outage.Attempt{
		Addr: t.Addr.Addr(), Outcome: o, AnsweredBefore: w.site.Failures == 0 && w.site.Rules != nil,
		BeganAt: p.Started, ConnectedAt: p.Connected, EndedAt: p.Ended, BusyWorkers: w.fetching.Add(-1) + 1,
	}
	w.blamed = w.proxy || w.network.Observe(&a)
	return o
}

// decide asks the policy and writes its dues into the release.
func (w *fetchWorker) decide(r *visit.Result, p *fetch.Page, o outcome.Outcome, try int) politeness.Decision {
	site := &w.site
	a := politeness.Attempt{
		Outcome: o, Try: try, Started: p.Started, Ended: p.Ended,
		SiteFailures: int(site.Failures), SiteSlowdown: site.Slowdown, IPSlowdown: politeness.UnpackIPSlowdown(r.Visit.IPNote),
		SiteHash: w.mark(r.Visit.Key), Jitter: w.jitter(p, try),
	}
	a.CrawlDelay, a.HostDelay = site.CrawlDelay(), w.terms.Delay()
	before := site.FailureStreak()
	a.FailedBefore, a.PageOnly = before.Count > 0, before.ServesPages
	if o.Class() == outcome.ClassBusy {
		a.RetryAfter = w.retryAfter(p)
	}
	d := w.live.Policy().Decide(a)
	site.Failures, site.Slowdown = int16(min(d.SiteFailures, 1<<14)), d.SiteSlowdown
	w.note(p, o, &a, &d)
	r.Visit.IPNote = d.IPSlowdown.Pack()
	if d.IPSlowdown.Level > 0 {
		w.ledger.Count.IpsSlowed.Add(1)
	}
	if !d.SiteDue.IsZero() {
		r.Release.SiteDue = d.SiteDue
	}
	if !d.IPDue.IsZero() {
		r.Release.IPDue = d.IPDue
	}
	return d
}

// hangUpRest is how long site and address are left alone at least after an exchange that this agent broke off: the
// server may go on with its answer for a while, and notice late that nobody waits for it.
const hangUpRest = 10 * time.Second

// hungUp sets the dues after such an exchange: the request may have been sent.
func (w *fetchWorker) hungUp(r *visit.Result, p *fetch.Page, try int) {
	w.decide(r, p, outcome.Cancelled, try)
	rest := p.Ended.Add(hangUpRest)
	for _, due := range [...]*time.Time{&r.Release.SiteDue, &r.Release.IPDue} {
		if due.Before(rest) {
			*due = rest
		}
	}
}

// mark tells the sites of an IP apart.
func (w *fetchWorker) mark(key []byte) uint16 { return uint16(xxh3.HashSeed(key, w.hashSeed)) | 1 }

// jitter is what looks random of an attempt and is not: the same crawl with the same answers waits as long again.
func (w *fetchWorker) jitter(p *fetch.Page, try int) uint64 {
	return xxh3.HashSeed(attempt.Of(p).URL, w.hashSeed+uint64(try)+uint64(w.site.Slowdown)<<32+uint64(uint16(w.site.Failures))<<40)
}

// retryAfter is how long a site that asks to slow down wants to be left alone; 0 if it does not say.
func (w *fetchWorker) retryAfter(p *fetch.Page) time.Duration {
	asked, ok := p.RetryAfter()
	if !ok {
		return 0
	}
	if most := w.live.Policy().RetryAfterMax; asked.Clamped || asked.Wait > most {
		w.ledger.Count.RetryClamped.Add(1)
		w.clamps.RetryAfter(time.Now(), attempt.Of(p).URL, p.Header("retry-after"), min(asked.Wait, most))
	}
	return asked.Wait
}

// otherAddr moves the site to the next of its addresses, if there is one that this visit has not tried.
func (w *fetchWorker) otherAddr(r *visit.Result) bool {
	site := &w.site
	if n := site.AddrCount(); n < 2 || int(site.Failures) >= n {
		return false
	}
	r.Release.Replace = w.keys.KeyOf(site.RotateAddrs())
	return true
}

// hand passes a Page with something to archive on to the parse workers, or settles an attempt without. Of answers
// without a whole head only what the last try brought is kept.
func (w *fetchWorker) hand(ctx context.Context, r *visit.Result, p *fetch.Page, f *attempt.Attempt) error {
	if p.HeadLen > 0 || len(p.Raw) > 0 && !f.WillRetry && !f.IsRobots {
		w.pagesOut.Add(1)
		w.giveBack(r, f)
		w.fetched <- p
		return nil
	}
	w.log.Attempt(p, f, fetch.DecodeOK, "")
	if f.WillRetry || f.IsRobots {
		err := w.giveBackCounted(r, f, func() error { return nil })
		w.pool.Put(p)
		return err
	}
	w.posting.Entry = journal.Entry{Kind: journal.KindPage, FP: f.Fingerprint, Outcome: f.Outcome, Depth: f.Depth, Hops: f.Redirects}
	for {
		err := w.giveBackCounted(r, f, func() error { return w.ledger.Write(w.posting) })
		if err == nil {
			w.pool.Put(p)
			return nil
		}
		if err := w.ledger.Disk.Wait(ctx, err); err != nil {
			if errors.Is(err, outage.ErrFullAtStop) { // the attempt counts as never made, but its site waits as after any
				r.Release.Front, err = [][]byte{f.Item}, nil
				w.giveBack(r, nil)
			}
			w.pool.Put(p)
			return err
		}
	}
}

// giveBackCounted gives the Visit back and counts an attempt that brought no response, in one step of the cut.
func (w *fetchWorker) giveBackCounted(r *visit.Result, f *attempt.Attempt, write func() error) error {
	w.ledger.Steps.Begin()
	defer w.ledger.Steps.End()
	if err := write(); err != nil {
		return err
	}
	n := &w.ledger.Count
	switch {
	case f.IsRobots:
		n.RobotsFetched.Add(1)
	case f.WillRetry:
		n.Attempts.Add(1)
		n.Retries.Add(1)
	default:
		n.Attempts.Add(1)
		n.Finish(f.Outcome, 1)
		w.cluster.NoteAnswered(f.Outcome, f.URL)
	}
	w.putBack(r)
	return nil
}

// giveBack gives the Visit back; with a flight, the Page carries the item from here on.
func (w *fetchWorker) giveBack(r *visit.Result, f *attempt.Attempt) {
	w.ledger.Steps.Begin()
	defer w.ledger.Steps.End()
	if f != nil && !f.WillRetry && !f.IsRobots {
		w.aloft.Add(f)
	}
	w.putBack(r)
}

func (w *fetchWorker) putBack(r *visit.Result) {
	for _, x := range w.refused {
		switch {
		case x.holder != "":
			w.cluster.RouteRecovered(x.holder, x.passed)
		case x.passed != nil:
			w.door.payload = w.cluster.Route(w.door.payload, x.passed)
		}
		if x.outcome != outcome.None {
			w.ledger.Count.Finish(x.outcome, 1)
		}
		if x.fp != (xxh3.Uint128{}) {
			w.finished.Remove(x.fp)
		}
	}
	clear(w.refused)
	w.refused = w.refused[:0]
	w.giveAddress(r)
	r.Visit.Site = w.site
	w.done.Put(r)
}
