package engine

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"orbweaver/engine/admission"
	"orbweaver/engine/cluster"
	"orbweaver/engine/crawllog"
	"orbweaver/engine/ending"
	"orbweaver/engine/journal"
	"orbweaver/engine/lifecycle"
	"orbweaver/engine/novelty"
	"orbweaver/engine/outage"
	"orbweaver/engine/outcome"
	"orbweaver/engine/queued"
	"orbweaver/engine/settings"
	"orbweaver/engine/site"
	"orbweaver/engine/sites"
	"orbweaver/engine/skipped"
	"orbweaver/engine/traps"
	"orbweaver/engine/urlx"
	"orbweaver/engine/visit"
	"orbweaver/virtualize"
	"orbweaver/virtualize/diskq"
)

// distributor moves ready URLs to the bench or to disk, on demand: it keeps the front as large as the fetchers need
// and no larger. It is one goroutine and the only one that puts items into the virtualizer and takes them out, and that
// reads the ready queue. It never waits for the bench: no room means the virtualizer.
type distributor struct {
	ledger     *journal.Store
	bench      *visit.Workbench
	hosts      *hosts
	ready      *diskq.Queue
	virt       *virtualize.Virtualizer
	queues     sites.DiskQueues
	unresolved *sites.UnresolvedQueue
	under      *undertaker
	gate       *outage.Gate
	purge      *purge
	cluster    distributorCluster

	traps    *traps.Detector
	frontier *admission.Frontier // for the short form of delayed URLs
	door     admission.Scratch
	log      *crawllog.Log
	skipped  *skipped.List
	repeats  int // of folders in a path, beyond which a URL is left out; 0 for no limit
	live     *settings.Live
	late     []lateSite // whose prompt items ran out, in order of since
	nextLate time.Time  // when the next site of the queue of late sites has its turn
	lateTurn bool       // such a site is being placed

	frontWant *atomic.Int64   // IPs that should be due soon; the feeder raises it when fetchers starve
	wake      chan struct{}   // something changed
	hungry    chan<- struct{} // asks for a flush of the sieve
	feed      func()          // wakes the feeder
	pending   func() int      // fingerprints in the sieve's buckets
	pagesOut  *atomic.Int64   // Pages between fetch and pool
	seeded    *atomic.Bool    // all seeds have passed the door
	servers   *outage.NameServers
	stall     *ending.StallDetector
	siteItems int // of one site in memory; what is beyond goes to disk
	finish    func(reason string)

	frontAgain time.Time // before this a front that was large is not counted again
	frontLarge int64     // the size that it had at least
	frontStale bool      // somebody was told so without a count since the last rest

	graves    []*visit.State // dead sites that have URLs on disk
	held      []byte         // an item taken from the ready queue that could not be placed: the disk is full
	scratch   []byte
	path      []byte // an item for its site
	key       []byte // of a site
	whole     []byte // a URL
	spilled   []byte // items between memory and disk
	ends      []int  // of each
	vs        []*visit.State
	lastFlush flushPace
	spills    atomic.Int64
}

// distributorCluster is what the distributor needs of the other agents.
type distributorCluster interface {
	cluster.Handoff
	cluster.Termination
	Owns(site []byte) bool
	Route(scratch []byte, it *queued.URL) []byte
	SendResult(r *site.RobotsResult) bool
}

const (
	distributeBatch = 256                  // ready URLs moved under one hold of the cut's lock
	thawBatch       = 16                   // of these, URLs of hosts that have to be read from disk: a cut waits no longer than for so many reads
	buryTime        = 5 * time.Millisecond // of one step for dead sites, which holds the cut's shared lock
	newbornMax      = 1 << 14              // sites waiting for an address before the distributor waits for them
	siteItemsMax    = 64                   // items of one site in memory, if nobody says otherwise
	siteItemsLow    = 2                    // the same when the bench is full: enough to keep its turn
	spillAfter      = time.Minute          // on a full bench, who is not due for so long gives memory back
	spillBatch      = 64                   // sites that do so in one step
	frontSoon       = time.Second          // due within this counts as front
	frontRest       = time.Millisecond     // a front that was large is believed to be so for as long
	controlPeriod   = time.Second          // the front is looked at again after this even if nothing happened
)

func (d *distributor) run(ctx context.Context) error {
	for {
		if d.gate.Reason() != "" {
			d.stall.Reset()
		}
		if err := d.gate.WaitUnless(ctx, d.cluster.Ended()); err != nil {
			return nil //nolint:nilerr // ctx ended: the loop's ordinary end
		}
		select {
		case <-d.cluster.Ended():
			d.finish(d.cluster.EndReason())
			<-ctx.Done()
			return nil
		default:
		}
		moved, err := d.step(time.Now())
		if err != nil {
			if err := d.ledger.Disk.Wait(ctx, err); errors.Is(err, outage.ErrFullAtStop) {
				return nil // what could not be placed goes into the cut
			} else if err != nil {
				return err
			}
			continue
		}
		if moved {
			continue
		}
		if done := d.rest(ctx); done {
			return nil
		}
	}
}

// rest waits until there may be something to do, or ends the crawl.
func (d *distributor) rest(ctx context.Context) (done bool) {
	now := time.Now()
	steps := d.cluster.StepCount()
	wait, over := d.idle(now)
	wait, over = d.cluster.NegotiateEnd(wait, over, over == lifecycle.ReasonComplete && d.holds(), steps)
	if d.frontStale {
		d.frontStale, wait = false, min(wait, max(d.frontAgain.Sub(now), 0))
	}
	if over != "" {
		d.finish(over)
		<-ctx.Done()
		return true
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-d.wake:
	case <-timer.C:
	case <-d.cluster.Ended():
	case <-ctx.Done():
		return true
	}
	return false
}

// holds says that the bench has items: when all URLs have their outcome these are hops of robots.txt for sites of other
// agents.
func (d *distributor) holds() bool {
	c := d.bench.Counts()
	return c.Queued+c.InVisits > 0
}

// step does one batch of work under the cut's shared lock: graves first, then refills, then ready URLs.
func (d *distributor) step(now time.Time) (moved bool, err error) {
	d.ledger.Steps.Begin()
	defer d.ledger.Steps.End()
	burying, err := d.bury()
	if err != nil {
		return false, err
	}
	purging, err := d.purge.step(now)
	if err != nil {
		return false, err
	}
	moving, err := d.cluster.GiveSites(now)
	if err != nil {
		return false, err
	}
	d.vs = d.bench.DueDeferred(now, d.vs[:0])
	for _, vs := range d.vs {
		d.unresolved.Put(vs)
	}
	if err := d.spill(now); err != nil {
		return false, err
	}
	frozen := 0
	if !purging && !moving { // these hold sites, which may not leave
		if frozen, err = d.hosts.freeze(now); err != nil {
			return false, err
		}
	}
	refilled, err := d.refill(now)
	if err != nil {
		return false, err
	}
	again, err := d.readmit(now)
	if err != nil {
		return false, err
	}
	placed, err := d.distribute(now)
	placed += again
	if err == nil {
		err = d.takeLateSites(now)
	}
	if refilled+placed > 0 {
		d.feed()
	}
	return burying || purging && d.under.log.HasRoom() || moving || frozen+refilled+placed > 0, err
}

// bury drops a part of what dead sites have on disk, and says whether it can go on at once.
func (d *distributor) bury() (more bool, err error) {
	graves, waiting := d.under.take()
	if len(waiting) > 0 {
		defer d.feed() // they go on, and nobody else may have a reason to look when they are due
	}
	for _, origin := range waiting {
		if d.cluster.SendResult(&site.RobotsResult{Site: origin, Unreachable: true}) {
			continue
		}
		vs, err := d.hosts.get(origin)
		if err != nil {
			return true, err
		}
		if vs != nil {
			d.bench.Unpark(vs, func(s *site.State) { s.NoteRobotsFailure(time.Now()) })
		}
	}
	d.graves = append(d.graves, graves...)
	for end := time.Now().Add(buryTime); len(d.graves) > 0 && d.under.log.HasRoom() && time.Now().Before(end); {
		vs := d.graves[len(d.graves)-1]
		site, fate := d.bench.AppendKey(nil, vs), d.fate(vs)
		n, err := d.queues.Take(vs, distributeBatch, func(item []byte) { d.under.dropOf(site, item, fate) })
		d.bench.SetOnDisk(vs, d.queues.Len(vs))
		if err != nil {
			return true, err
		}
		if n < distributeBatch {
			d.graves = d.graves[:len(d.graves)-1]
		}
	}
	return len(d.graves) > 0 && d.under.log.HasRoom(), nil
}

func (d *distributor) fate(vs *visit.State) outcome.Outcome {
	fate := outcome.SiteGone
	d.bench.WithSite(vs, func(s *site.State) {
		if s.DeadOutcome != outcome.None {
			fate = s.DeadOutcome
		}
	})
	return fate
}

// refill brings items of sites that ran low back from disk. On a full bench it waits until the front is small, and is
// then never put off: fetchers wait for these.
func (d *distributor) refill(now time.Time) (int, error) {
	limit := d.siteItems
	if d.bench.Full() {
		if !d.frontSmall(now) {
			return 0, nil
		}
		limit = siteItemsLow + 2
	}
	d.vs = d.bench.Refill(d.vs[:0], 64)
	total := 0
	for _, vs := range d.vs {
		n, err := d.take(vs, limit)
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// Take moves up to limit items of a site from disk to the bench.
func (d *distributor) take(vs *visit.State, limit int) (n int, err error) {
	if d.traps.Enabled() {
		return d.takeWatched(vs, limit)
	}
	n, err = d.queues.Take(vs, limit, func(item []byte) { d.push(vs, item) })
	d.bench.SetOnDisk(vs, d.queues.Len(vs))
	return n, err
}

// push puts an item on the bench, or lets it share the fate of its site.
func (d *distributor) push(vs *visit.State, item []byte) {
	if !d.bench.Push(vs, item) {
		d.under.drop(d.bench.AppendKey(nil, vs), item, d.fate(vs))
	}
}

// distribute moves a batch of ready URLs while the front is small.
func (d *distributor) distribute(now time.Time) (int, error) {
	if err := d.placeHeld(); err != nil {
		return 0, err
	}
	if d.ready.Len() == 0 {
		return 0, nil
	}
	if d.unresolved.Len() >= newbornMax || !d.frontSmall(now) || !d.under.log.HasRoom() {
		return 0, nil
	}
	return d.placeSome()
}

func (d *distributor) placeHeld() error {
	if d.held == nil {
		return nil
	}
	err := d.place(d.held)
	if err == nil {
		d.held = nil
	}
	return err
}

// placeSome moves a batch of ready URLs.
func (d *distributor) placeSome() (int, error) {
	thawed := d.hosts.thawed.Load()
	for n := range distributeBatch {
		if d.hosts.thawed.Load()-thawed >= thawBatch {
			return n, nil
		}
		item, ok, err := d.ready.Read(d.scratch[:0])
		if err != nil || !ok {
			return n, err
		}
		d.scratch = item
		if err := d.place(item); err != nil {
			d.held = append([]byte(nil), item...)
			return n, err
		}
	}
	return distributeBatch, nil
}

// place gives one ready URL to its site: to the bench, or to disk when the site has something there already (order) or
// has its share of memory.
func (d *distributor) place(item []byte) error {
	it := queued.MustDecode(item)
	site, path := urlx.Split(it.Rest)
	if d.purge.rules.Excludes(site) {
		it.Rest = path
		d.path = queued.Append(d.path[:0], &it)
		d.under.dropOf(site, d.path, outcome.Blocked)
		return nil
	}
	if !d.cluster.Owns(site) {
		d.handOver(site, path, &it)
		return nil
	}
	if traps.RepeatsFolders(it.Rest, &it, d.repeats) {
		return d.skip(site, &it, skipped.RulePathRepeats, novelty.Evidence{})
	}
	vs, added, refused, err := d.hosts.admit(site, it.Seed, d.lateTurn)
	switch {
	case err != nil:
		return err
	case refused.waits:
		it.Delayed = true
		return d.queues.AppendOfDelayedSite(queued.Append(nil, &it))
	case refused.outcome == outcome.Novelty:
		return d.skip(site, &it, skipped.RuleEndlessSites, refused.why)
	}
	it.Rest = path
	d.path = queued.Append(d.path[:0], &it)
	if refused.outcome != outcome.None {
		d.under.dropOf(site, d.path, refused.outcome)
		return nil
	}
	if added {
		defer d.unresolved.Put(vs)
	}
	if d.traps.Enabled() {
		if delayed, err := d.delay(vs, d.traps.GroupOf(site), site, &it); delayed || err != nil {
			d.bench.SetOnDisk(vs, d.queues.Len(vs))
			return err
		}
	}
	head := d.path
	limit := d.siteItems
	if d.bench.Full() {
		limit = siteItemsLow
	}
	if d.bench.OnDisk(vs) > 0 || d.bench.Queued(vs) >= limit {
		if err := d.queues.Append(vs, head); err != nil {
			return err
		}
		d.bench.SetOnDisk(vs, d.queues.Len(vs))
	} else if !d.bench.Push(vs, head) {
		d.under.drop(site, head, d.fate(vs))
	}
	return nil
}

// handOver gives a ready URL to the agent that is responsible for its host by now, unless it was done before a kill.
func (d *distributor) handOver(site, path []byte, it *queued.URL) {
	if _, o := d.under.finished.OutcomeOf(d.under.seed, it.Rest); o != outcome.None {
		it.Rest = path
		d.path = queued.Append(d.path[:0], it)
		d.under.dropOf(site, d.path, o)
		return
	}
	d.path = d.cluster.Route(d.path, it)
	d.ledger.Count.Finish(outcome.HandedOver, 1)
}

// idle is asked when nothing could be moved: how long to wait, or why the crawl is over.
func (d *distributor) idle(now time.Time) (wait time.Duration, over string) {
	wait = controlPeriod
	if next, ok := d.bench.NextDeferred(); ok {
		wait = min(wait, max(next.Sub(now), time.Millisecond))
	}
	n := &d.ledger.Count
	finished, admitted, pending := n.Finished.Load(), n.Admitted.Load(), d.pending()
	if pending > 0 && d.ready.Len() == 0 && d.frontSmall(now) {
		if until := d.lastFlush.until(now); until > 0 {
			return min(wait, until), ""
		}
		select {
		case d.hungry <- struct{}{}:
		default:
		}
		return wait, ""
	}
	if d.queues.DelayedSites() > 0 {
		return min(wait, max(d.nextLate.Sub(now), time.Millisecond)), ""
	}
	if len(d.late) > 0 {
		return min(wait, max(d.late[0].since.Add(lateRest).Sub(now), time.Millisecond)), ""
	}
	if !d.seeded.Load() || pending > 0 || n.Admitted.Load() != admitted {
		return wait, ""
	}
	if finished == admitted {
		return 0, lifecycle.ReasonComplete
	}
	if d.stall.IsStalled(now, d.nothingMoves) {
		if finished := n.Finished.Load(); finished == n.Admitted.Load() {
			return 0, lifecycle.ReasonComplete // the last one ended between the two looks
		}
		return 0, lifecycle.ReasonStalled
	}
	return wait, ""
}

// nothingMoves reports whether no URL is on its way between the components. It looks in the order in which URLs move: a
// URL that moves on after one look is seen by the next.
func (d *distributor) nothingMoves() bool {
	born := d.unresolved.Puts()
	if d.cluster.AwaitsRobots() || d.ready.Len() > 0 || d.unresolved.Len() > 0 && !d.servers.Down.Load() || d.pagesOut.Load() > 0 {
		return false
	}
	return d.pending() == 0 && d.ready.Len() == 0 && (d.unresolved.Puts() == born || d.servers.Down.Load())
}

// frontSmall says whether the front is smaller than it should be. While it is large that is not asked for every page.
func (d *distributor) frontSmall(now time.Time) bool {
	want := d.frontWant.Load()
	if now.Before(d.frontAgain) && want <= d.frontLarge {
		d.frontStale = true
		return false
	}
	if int64(d.bench.Front(now, frontSoon)) < want {
		return true
	}
	d.frontLarge, d.frontAgain = want, now.Add(frontRest)
	return false
}
