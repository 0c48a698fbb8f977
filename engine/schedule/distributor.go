package schedule

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
	"orbweaver/virtualize/diskq"
)

// Distributor moves ready URLs to the bench or to disk, on demand: it keeps the front as large as the fetchers need
// and no larger. It is one goroutine and the only one that puts items into the virtualizer and takes them out, and that
// reads the ready queue. It never waits for the bench: no room means the virtualizer.
type Distributor struct {
	Journal    *journal.Store
	Workbench  *visit.Workbench
	Sites      *sites.Table
	Ready      *diskq.Queue
	Queues     sites.DiskQueues
	Unresolved *sites.UnresolvedQueue
	Dead       *DeadSites
	Gate       *outage.Gate
	Purge      *Purge
	Cluster    Cluster

	Traps          *traps.Detector
	Frontier       *admission.Frontier // for the short form of delayed URLs
	door           admission.Scratch
	Log            *crawllog.Log
	Skipped        *skipped.List
	MaxPathRepeats int // of folders in a path, beyond which a URL is left out; 0 for no limit
	Live           *settings.Live
	late           []lateSite // whose prompt items ran out, in order of since
	nextLate       time.Time  // when the next site of the queue of late sites has its turn
	lateTurn       bool       // such a site is being placed

	FrontWanted  *atomic.Int64   // IPs that should be due soon; the feeder raises it when fetchers starve
	Wake         chan struct{}   // something changed
	FlushWanted  chan<- struct{} // asks for a flush of the sieve
	WakeFeeder   func()          // wakes the feeder
	SievePending func() int      // fingerprints in the sieve's buckets
	PagesOut     *atomic.Int64   // Pages between fetch and pool
	Seeded       *atomic.Bool    // all seeds have passed the door
	NameServers  *outage.NameServers
	Stall        *ending.StallDetector
	SiteItems    int // of one site in memory; what is beyond goes to disk
	Finish       func(reason string)

	frontAgain time.Time // before this a front that was large is not counted again
	frontLarge int64     // the size that it had at least
	frontStale bool      // somebody was told so without a count since the last rest

	unemptied []*visit.State // dead sites that have URLs on disk
	Held      []byte         // an item taken from the ready queue that could not be placed: the disk is full
	scratch   []byte
	path      []byte // an item for its site
	key       []byte // of a site
	whole     []byte // a URL
	items     []byte // items between memory and disk
	ends      []int  // of each
	vs        []*visit.State
	FlushPace FlushPace
	Spilled   atomic.Int64
}

// Cluster is what the distributor needs of the other agents.
type Cluster interface {
	cluster.Handoff
	cluster.Termination
	Owns(site []byte) bool
	Route(scratch []byte, it *queued.URL) []byte
	SendResult(r *site.RobotsResult) bool
}

// FrontSoon is the time within which an IP address must be due to belong to the front.
const FrontSoon = time.Second

const (
	distributeBatch = 256                  // ready URLs moved under one hold of the cut's lock
	thawBatch       = 16                   // of these, URLs of sites that are read from disk: a step is no longer
	buryTime        = 5 * time.Millisecond // of one step for dead sites, which holds the cut's shared lock
	newbornMax      = 1 << 14              // sites waiting for an address before the distributor waits for them
	siteItemsMax    = 64                   // items of one site in memory, if nobody says otherwise
	siteItemsLow    = 2                    // the same when the bench is full: enough to keep its turn
	spillAfter      = time.Minute          // on a full bench, who is not due for so long gives memory back
	spillBatch      = 64                   // sites that do so in one step
	frontRest       = time.Millisecond     // a front that was large is believed to be so for as long
	controlPeriod   = time.Second          // the front is looked at again after this even if nothing happened
)

// Run moves URLs until the crawl ends, or ctx does.
func (d *Distributor) Run(ctx context.Context) error {
	for {
		if d.Gate.Reason() != "" {
			d.Stall.Reset()
		}
		if err := d.Gate.WaitUnless(ctx, d.Cluster.Ended()); err != nil {
			return nil //nolint:nilerr // ctx ended: the loop's ordinary end
		}
		select {
		case <-d.Cluster.Ended():
			d.Finish(d.Cluster.EndReason())
			<-ctx.Done()
			return nil
		default:
		}
		moved, err := d.step(time.Now())
		if err != nil {
			if err := d.Journal.Disk.Wait(ctx, err); errors.Is(err, outage.ErrFullAtStop) {
				return nil // what could not be placed goes into the cut
			} else if err != nil {
				return err
			}
			continue
		}
		if moved {
			continue
		}
		if done := d.wait(ctx); done {
			return nil
		}
	}
}

// wait waits until there may be something to do, or ends the crawl.
func (d *Distributor) wait(ctx context.Context) (done bool) {
	now := time.Now()
	steps := d.Cluster.StepCount()
	wait, over := d.idle(now)
	wait, over = d.Cluster.NegotiateEnd(wait, over, over == lifecycle.ReasonComplete && d.holds(), steps)
	if d.frontStale {
		d.frontStale, wait = false, min(wait, max(d.frontAgain.Sub(now), 0))
	}
	if over != "" {
		d.Finish(over)
		<-ctx.Done()
		return true
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-d.Wake:
	case <-timer.C:
	case <-d.Cluster.Ended():
	case <-ctx.Done():
		return true
	}
	return false
}

// holds says that the bench has items: when all URLs have their outcome these are hops of robots.txt for sites of other
// agents.
func (d *Distributor) holds() bool {
	c := d.Workbench.Counts()
	return c.Queued+c.InVisits > 0
}

// Step does one batch of work under the cut's shared lock: graves first, then refills, then ready URLs.
func (d *Distributor) step(now time.Time) (moved bool, err error) {
	d.Journal.Steps.Begin()
	defer d.Journal.Steps.End()
	burying, err := d.emptyDeadSites()
	if err != nil {
		return false, err
	}
	purging, err := d.Purge.Step(now)
	if err != nil {
		return false, err
	}
	moving, err := d.Cluster.GiveSites(now)
	if err != nil {
		return false, err
	}
	d.vs = d.Workbench.DueDeferred(now, d.vs[:0])
	for _, vs := range d.vs {
		d.Unresolved.Put(vs)
	}
	if err := d.spill(now); err != nil {
		return false, err
	}
	frozen := 0
	if !purging && !moving { // these hold sites, which may not leave
		if frozen, err = d.Sites.Evict(now); err != nil {
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
		d.WakeFeeder()
	}
	return burying || purging && d.Dead.Log.HasRoom() || moving || frozen+refilled+placed > 0, err
}

// emptyDeadSites drops a part of what dead sites have on disk, and says whether it can go on at once.
func (d *Distributor) emptyDeadSites() (more bool, err error) {
	graves, waiting := d.Dead.take()
	if len(waiting) > 0 {
		defer d.WakeFeeder() // they go on, and nobody else may have a reason to look when they are due
	}
	for _, origin := range waiting {
		if d.Cluster.SendResult(&site.RobotsResult{Site: origin, Unreachable: true}) {
			continue
		}
		vs, err := d.Sites.Get(origin)
		if err != nil {
			return true, err
		}
		if vs != nil {
			d.Workbench.Unpark(vs, func(s *site.State) { s.NoteRobotsFailure(time.Now()) })
		}
	}
	d.unemptied = append(d.unemptied, graves...)
	for end := time.Now().Add(buryTime); len(d.unemptied) > 0 && d.Dead.Log.HasRoom() && time.Now().Before(end); {
		vs := d.unemptied[len(d.unemptied)-1]
		site, fate := d.Workbench.AppendKey(nil, vs), d.fate(vs)
		n, err := d.Queues.Take(vs, distributeBatch, func(item []byte) { d.Dead.DropUnlessFinished(site, item, fate) })
		d.Workbench.SetOnDisk(vs, d.Queues.Len(vs))
		if err != nil {
			return true, err
		}
		if n < distributeBatch {
			d.unemptied = d.unemptied[:len(d.unemptied)-1]
		}
	}
	return len(d.unemptied) > 0 && d.Dead.Log.HasRoom(), nil
}

func (d *Distributor) fate(vs *visit.State) outcome.Outcome {
	fate := outcome.SiteGone
	d.Workbench.WithSite(vs, func(s *site.State) {
		if s.DeadOutcome != outcome.None {
			fate = s.DeadOutcome
		}
	})
	return fate
}

// refill brings items of sites that ran low back from disk. On a full bench it waits until the front is small, and is
// then never put off: fetchers wait for these.
func (d *Distributor) refill(now time.Time) (int, error) {
	limit := d.SiteItems
	if d.Workbench.Full() {
		if !d.frontSmall(now) {
			return 0, nil
		}
		limit = siteItemsLow + 2
	}
	d.vs = d.Workbench.Refill(d.vs[:0], 64)
	total := 0
	for _, vs := range d.vs {
		n, err := d.takeFromDisk(vs, limit)
		total += n
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// Take moves up to limit items of a site from disk to the bench.
func (d *Distributor) takeFromDisk(vs *visit.State, limit int) (n int, err error) {
	if d.Traps.Enabled() {
		return d.takeWatched(vs, limit)
	}
	n, err = d.Queues.Take(vs, limit, func(item []byte) { d.push(vs, item) })
	d.Workbench.SetOnDisk(vs, d.Queues.Len(vs))
	return n, err
}

// push puts an item on the bench, or lets it share the fate of its site.
func (d *Distributor) push(vs *visit.State, item []byte) {
	if !d.Workbench.Push(vs, item) {
		d.Dead.Drop(d.Workbench.AppendKey(nil, vs), item, d.fate(vs))
	}
}

// distribute moves a batch of ready URLs while the front is small.
func (d *Distributor) distribute(now time.Time) (int, error) {
	if err := d.placeHeld(); err != nil {
		return 0, err
	}
	if d.Ready.Len() == 0 {
		return 0, nil
	}
	if d.Unresolved.Len() >= newbornMax || !d.frontSmall(now) || !d.Dead.Log.HasRoom() {
		return 0, nil
	}
	return d.placeSome()
}

func (d *Distributor) placeHeld() error {
	if d.Held == nil {
		return nil
	}
	err := d.place(d.Held)
	if err == nil {
		d.Held = nil
	}
	return err
}

// placeSome moves a batch of ready URLs.
func (d *Distributor) placeSome() (int, error) {
	thawed := d.Sites.Reloaded.Load()
	for n := range distributeBatch {
		if d.Sites.Reloaded.Load()-thawed >= thawBatch {
			return n, nil
		}
		item, ok, err := d.Ready.Read(d.scratch[:0])
		if err != nil || !ok {
			return n, err
		}
		d.scratch = item
		if err := d.place(item); err != nil {
			d.Held = append([]byte(nil), item...)
			return n, err
		}
	}
	return distributeBatch, nil
}

// place gives one ready URL to its site: to the bench, or to disk when the site has something there already (order) or
// has its share of memory.
func (d *Distributor) place(item []byte) error {
	it := queued.MustDecode(item)
	site, path := urlx.Split(it.Rest)
	if d.Purge.Rules.Excludes(site) {
		it.Rest = path
		d.path = queued.Append(d.path[:0], &it)
		d.Dead.DropUnlessFinished(site, d.path, outcome.Blocked)
		return nil
	}
	if !d.Cluster.Owns(site) {
		d.handOver(site, path, &it)
		return nil
	}
	if traps.RepeatsFolders(it.Rest, &it, d.MaxPathRepeats) {
		return d.skip(site, &it, skipped.RulePathRepeats, novelty.Evidence{})
	}
	vs, added, refused, err := d.Sites.Admit(site, it.Seed, d.lateTurn)
	switch {
	case err != nil:
		return err
	case refused.Waits:
		it.Delayed = true
		return d.Queues.AppendOfDelayedSite(queued.Append(nil, &it))
	case refused.Outcome == outcome.Novelty:
		return d.skip(site, &it, skipped.RuleEndlessSites, refused.Evidence)
	}
	it.Rest = path
	d.path = queued.Append(d.path[:0], &it)
	if refused.Outcome != outcome.None {
		d.Dead.DropUnlessFinished(site, d.path, refused.Outcome)
		return nil
	}
	if added {
		defer d.Unresolved.Put(vs)
	}
	if d.Traps.Enabled() {
		if delayed, err := d.delay(vs, d.Traps.GroupOf(site), site, &it); delayed || err != nil {
			d.Workbench.SetOnDisk(vs, d.Queues.Len(vs))
			return err
		}
	}
	head := d.path
	limit := d.SiteItems
	if d.Workbench.Full() {
		limit = siteItemsLow
	}
	if d.Workbench.OnDisk(vs) > 0 || d.Workbench.Queued(vs) >= limit {
		if err := d.Queues.Append(vs, head); err != nil {
			return err
		}
		d.Workbench.SetOnDisk(vs, d.Queues.Len(vs))
	} else if !d.Workbench.Push(vs, head) {
		d.Dead.Drop(site, head, d.fate(vs))
	}
	return nil
}

// handOver gives a ready URL to the agent that is responsible for its host by now, unless it was done before a kill.
func (d *Distributor) handOver(site, path []byte, it *queued.URL) {
	if _, o := d.Dead.Finished.OutcomeOf(d.Dead.HashSeed, it.Rest); o != outcome.None {
		it.Rest = path
		d.path = queued.Append(d.path[:0], it)
		d.Dead.DropUnlessFinished(site, d.path, o)
		return
	}
	d.path = d.Cluster.Route(d.path, it)
	d.Journal.Count.Finish(outcome.HandedOver, 1)
}

// idle is asked when nothing could be moved: how long to wait, or why the crawl is over.
func (d *Distributor) idle(now time.Time) (wait time.Duration, over string) {
	wait = controlPeriod
	if next, ok := d.Workbench.NextDeferred(); ok {
		wait = min(wait, max(next.Sub(now), time.Millisecond))
	}
	n := &d.Journal.Count
	finished, admitted, pending := n.Finished.Load(), n.Admitted.Load(), d.SievePending()
	if pending > 0 && d.Ready.Len() == 0 && d.frontSmall(now) {
		if until := d.FlushPace.until(now); until > 0 {
			return min(wait, until), ""
		}
		select {
		case d.FlushWanted <- struct{}{}:
		default:
		}
		return wait, ""
	}
	if d.Queues.DelayedSites() > 0 {
		return min(wait, max(d.nextLate.Sub(now), time.Millisecond)), ""
	}
	if len(d.late) > 0 {
		return min(wait, max(d.late[0].since.Add(lateRest).Sub(now), time.Millisecond)), ""
	}
	if !d.Seeded.Load() || pending > 0 || n.Admitted.Load() != admitted {
		return wait, ""
	}
	if finished == admitted {
		return 0, lifecycle.ReasonComplete
	}
	if d.Stall.IsStalled(now, d.nothingMoves) {
		if finished := n.Finished.Load(); finished == n.Admitted.Load() {
			return 0, lifecycle.ReasonComplete // the last one ended between the two looks
		}
		return 0, lifecycle.ReasonStalled
	}
	return wait, ""
}

// nothingMoves reports whether no URL is on its way between the components. It looks in the order in which URLs move: a
// URL that moves on after one look is seen by the next.
func (d *Distributor) nothingMoves() bool {
	born := d.Unresolved.Puts()
	if d.Cluster.AwaitsRobots() || d.Ready.Len() > 0 || d.PagesOut.Load() > 0 ||
		d.Unresolved.Len() > 0 && !d.NameServers.Down.Load() {
		return false
	}
	return d.SievePending() == 0 && d.Ready.Len() == 0 && (d.Unresolved.Puts() == born || d.NameServers.Down.Load())
}

// frontSmall says whether the front is smaller than it should be. While it is large that is not asked for every page.
func (d *Distributor) frontSmall(now time.Time) bool {
	want := d.FrontWanted.Load()
	if now.Before(d.frontAgain) && want <= d.frontLarge {
		d.frontStale = true
		return false
	}
	if int64(d.Workbench.Front(now, FrontSoon)) < want {
		return true
	}
	d.frontLarge, d.frontAgain = want, now.Add(frontRest)
	return false
}
