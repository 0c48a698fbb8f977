package schedule

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"orbweaver/engine/frontier/ending"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/traps"
)

// Parts are what a Distributor uses.
type Parts struct {
	Queues
	Signals
	Progress  Progress
	Options   Options
	Order     *order.Current
	Steps     *journal.Steps
	Disk      *outage.DiskGuard
	Dead      *DeadSites
	Front     *Front
	Flushes   Flushes
	Gate      *outage.Gate
	Cluster   Cluster
	Traps     *traps.Detector
	Admission Admission // for the short forms of delayed URLs
	Skipped   *traps.SkippedList
	Live      *settings.Live
	// RequestTargets is Returner.RequestTargets.
	RequestTargets func(now time.Time, owns func(site []byte) bool) error
}

// Queues are where queued URLs and their sites are. The parts of the Distributor share them.
type Queues struct {
	Workbench  *visit.Workbench
	Sites      *sites.Table
	Ready      *queued.ReadyQueue
	OnDisk     sites.DiskQueues
	Unresolved *sites.UnresolvedQueue
}

// noteOnDisk tells the workbench how many items a site has on disk.
func (q *Queues) noteOnDisk(vs *visit.State) { q.Workbench.Site(vs).SetOnDisk(q.OnDisk.Len(vs)) }

// Progress is what the end of a crawl depends on, apart from its queues.
type Progress struct {
	Counters    *counters.Live
	PagesOut    *atomic.Int64 // Pages between fetch and pool
	IsSeeded    func() bool   // all seeds, and URLs that waited in the inbox, have been admitted
	NameServers *outage.NameServers
	Stall       *ending.StallDetector
	IsClosing   func() bool // only page requisites are still fetched
}

// Signals go between the Distributor and other loops.
type Signals struct {
	Wake       chan struct{} // something has changed; capacity 1
	WakeFeeder func()
	Finish     func(reason string) // ends the crawl
}

// Options are the settings of a Distributor.
type Options struct {
	SiteItems int // of one site in memory, at most; the rest is on disk
	// PageRequisites is the largest number of requisites of one page; 0 or less for no limit.
	PageRequisites int
}

// Cluster is what the Distributor needs of the other agents.
type Cluster interface {
	cluster.Handoff
	cluster.Termination
	Owns(site []byte) bool
	Route(scratch []byte, it *queued.URL) []byte
	SendResult(r *site.RobotsResult) bool
	IsShared() bool
}

// Flushes requests flushes of the sieve: Flusher.
type Flushes interface {
	// Pending returns the number of URLs that the next flush looks at.
	Pending() int
	// RequestIn returns how long to wait before the next Request; negative if it may come now.
	RequestIn(now time.Time) time.Duration
	Request()
}

// Distributor moves ready URLs to the workbench or to disk, on demand: it keeps the front as large as the fetch workers
// need and no larger. DistributeURLs runs in one goroutine, the only one that uses the disk queues and reads the ready
// queue. It never waits for room on the workbench: a URL that has no room goes to disk.
type Distributor struct {
	Queues
	Signals
	steps   *journal.Steps
	disk    *outage.DiskGuard
	gate    *outage.Gate
	cluster Cluster
	front   *Front
	dead    *DeadSites
	placer  placer
	delayer delayer
	emptier emptier
	end     endCheck

	requestTargets func(now time.Time, owns func(site []byte) bool) error

	sites []*visit.State // scratch
}

// NewDistributor returns the Distributor of a crawl.
func NewDistributor(p *Parts) *Distributor {
	isClosing, counts := p.Progress.IsClosing, p.Progress.Counters
	p.OnDisk.SurplusIsUrgent = isClosing
	skips := &skipList{list: p.Skipped, dead: p.Dead, counters: counts}
	d := &Distributor{
		Queues: p.Queues, Signals: p.Signals, steps: p.Steps, disk: p.Disk, gate: p.Gate, cluster: p.Cluster, front: p.Front,
		dead: p.Dead, requestTargets: p.RequestTargets,
	}
	d.delayer = delayer{
		Queues: &d.Queues, dead: p.Dead, traps: p.Traps, admission: p.Admission, skips: skips, flushes: p.Flushes,
		front: p.Front, isClosing: isClosing, wakeFeeder: p.WakeFeeder, siteItems: p.Options.SiteItems,
	}
	d.placer = placer{
		Queues: &d.Queues, dead: p.Dead, counters: counts, delayer: &d.delayer, skips: skips, rules: p.Live.Hosts,
		live: p.Live, cluster: p.Cluster, front: p.Front, isClosing: isClosing, options: p.Options,
		ordered: newOrderedURLs(p.Order, p.OnDisk),
	}
	d.emptier = emptier{
		Queues: &d.Queues, dead: p.Dead, cluster: p.Cluster, rules: p.Live.Hosts, wake: p.Wake, wakeFeeder: p.WakeFeeder,
	}
	p.Front.ordered.Store(d.placer.ordered.total)
	d.end = endCheck{
		Progress: p.Progress, Queues: &d.Queues, front: p.Front, flushes: p.Flushes,
		placer: &d.placer, delayer: &d.delayer, cluster: p.Cluster, isAlone: !p.Cluster.IsShared(),
	}
	return d
}

// Held returns the URL that is in no queue, because the disk was full when it was moved; nil if there is none. It is
// called while no step runs.
func (d *Distributor) Held() []byte { return d.placer.held }

// Purge begins to give up the sites that a host rule excludes, beside the crawl. Safe for concurrent use.
func (d *Distributor) Purge() { d.emptier.startPurge() }

// Spilled returns the number of items that were moved from a full workbench to disk. Safe for concurrent use.
func (d *Distributor) Spilled() int64 { return d.emptier.spilled.Load() }

// Order is the order of the crawl.
func (d *Distributor) Order() *order.Current { return d.placer.ordered.current }

// Ordered returns the number of ready URLs in the queues of the order. Safe for concurrent use.
func (d *Distributor) Ordered() uint64 { return d.front.ordered.Load() }

// DistributeURLs moves URLs until the crawl ends, or ctx does.
func (d *Distributor) DistributeURLs(ctx context.Context) error {
	for {
		if d.gate.Reason() != "" {
			d.end.Stall.Reset()
		}
		if err := d.gate.WaitUnless(ctx, d.cluster.Ended()); err != nil {
			return nil //nolint:nilerr // ctx ended: the loop's ordinary end
		}
		select {
		case <-d.cluster.Ended():
			d.Finish(d.cluster.EndReason())
			<-ctx.Done()
			return nil
		default:
		}
		if d.end.isClosed(time.Now()) {
			d.Finish(lifecycle.ReasonMaxPages)
			<-ctx.Done()
			return nil
		}
		moved, err := d.step(time.Now())
		if err != nil {
			if err := d.disk.Wait(ctx, err); errors.Is(err, outage.ErrFullAtStop) {
				return nil // a URL that could not be placed goes into the checkpoint
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
	if d.end.isUnreached(now) {
		d.steps.Begin()
		d.dead.giveUpFailing()
		d.steps.End()
		return false
	}
	steps := d.cluster.StepCount()
	wait, reason := d.end.next(now)
	wait, reason = d.cluster.NegotiateEnd(wait, reason, reason == lifecycle.ReasonComplete && d.end.isBusy(), steps)
	wait = d.emptier.purgeIn(now, d.front.recountIn(now, wait))
	if reason == lifecycle.ReasonComplete && d.end.IsClosing() {
		reason = lifecycle.ReasonMaxPages // the last requisite had its outcome before isClosed was asked
	}
	if reason != "" {
		d.Finish(reason)
		<-ctx.Done()
		return true
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-d.Wake:
	case <-timer.C:
	case <-d.cluster.Ended():
	case <-ctx.Done():
		return true
	}
	return false
}

// step does one batch of work in one step of the journal: dead sites first, then refills, then ready URLs.
func (d *Distributor) step(now time.Time) (moved bool, err error) {
	d.steps.Begin()
	defer d.steps.End()
	d.placer.ordered.adopt()
	emptying, err := d.emptier.step()
	if err != nil {
		return false, err
	}
	purging := d.emptier.purgeExcluded(now)
	giving, err := d.cluster.GiveSites(now)
	if err != nil {
		return false, err
	}
	scanning := d.end.scanSurplus()
	d.sites = d.Workbench.DueDeferred(now, d.sites[:0])
	for _, vs := range d.sites {
		d.Unresolved.Put(d.Workbench.Site(vs).AppendKey(nil))
	}
	if err := errors.Join(d.requestTargets(now, d.cluster.Owns), d.emptier.spill(now)); err != nil {
		return false, err
	}
	evicted := 0
	if !giving { // it keeps pointers to sites, which must stay in memory
		if evicted, err = d.Sites.Evict(now); err != nil {
			return false, err
		}
	}
	refilled, err := d.delayer.refill(now)
	if err != nil {
		return false, err
	}
	placed, err := 0, d.placer.placeHeld()
	if err == nil {
		placed, err = d.placer.sortReady()
	}
	for _, from := range d.placer.sources(now) {
		if err == nil {
			var n int
			n, err = d.placer.placeFrom(from, now)
			placed += n
		}
	}
	d.front.ordered.Store(d.placer.ordered.total)
	if err == nil {
		err = d.delayer.takeWaiting(now)
	}
	if refilled+placed > 0 {
		d.WakeFeeder()
	}
	return emptying || purging && d.dead.hasRoom() || giving || scanning || evicted+refilled+placed > 0, err
}

// GiveAway is the step of an agent that leaves: everything that is queued goes to other agents. mayGive says whether
// there is another agent. GiveAway reports whether it moved anything.
func (d *Distributor) GiveAway(now time.Time, mayGive func() bool) (moved bool, err error) {
	d.steps.Begin()
	defer d.steps.End()
	if _, err := d.emptier.step(); err != nil || !d.emptier.isDone() {
		return true, err
	}
	giving, err := d.cluster.GiveSites(now)
	if err != nil || giving {
		return giving, err
	}
	if !mayGive() {
		return false, nil
	}
	if err := d.placer.placeHeld(); err != nil {
		return false, err
	}
	for _, next := range [...]source{
		{next: d.placer.oldestOfDelayedSites, batch: distributeBatch},
		{next: d.Ready.Read, batch: distributeBatch},
		{next: d.placer.nextInOrder, batch: distributeBatch},
	} {
		if placed, err := d.placer.placeFrom(next, now); placed > 0 || err != nil {
			return placed > 0, err
		}
	}
	return false, nil
}
