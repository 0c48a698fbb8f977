package schedule

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"orbweaver/engine/frontier/ending"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/traps/skipped"
	"orbweaver/engine/traps/traps"
	"orbweaver/internal/notify"
)

// Parts are what a Distributor uses.
type Parts struct {
	Queues
	Progress
	Signals
	Options   Options
	Journal   *journal.Store
	Dead      *DeadSites
	Rules     *settings.HostRules
	Front     *Front
	Flushes   Flushes
	Gate      *outage.Gate
	Cluster   Cluster
	Traps     *traps.Detector
	Admission Admission // for the short forms of delayed URLs
	Skipped   *skipped.List
	Live      *settings.Live
	// RequestTargets is Returner.RequestTargets.
	RequestTargets func(now time.Time, owns func(site []byte) bool) error
}

// Queues are where queued URLs and their sites are.
type Queues struct {
	Workbench  *visit.Workbench
	Sites      *sites.Table
	Ready      *queued.ReadyQueue
	OnDisk     sites.DiskQueues
	Unresolved *sites.UnresolvedQueue
}

// Progress is what the end of a crawl depends on, apart from its queues.
type Progress struct {
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
	options      Options
	journal      *journal.Store
	gate         *outage.Gate
	cluster      Cluster
	front        *Front
	dead         *DeadSites
	purge        purge
	emptier      emptier
	spiller      spiller
	skips        skipList
	placer       placer
	delayed      delayedURLs
	delayedSites delayedSites
	surplus      surplusScan
	end          endCheck

	requestTargets func(now time.Time, owns func(site []byte) bool) error

	sites []*visit.State // scratch
}

const (
	unresolvedMost = 1 << 14 // sites that wait for an address; beyond that no ready URLs are moved
	refillBatch    = 64      // sites that are refilled in one step
)

// NewDistributor returns the Distributor of a crawl.
func NewDistributor(p *Parts) *Distributor {
	p.OnDisk.SurplusIsUrgent = p.IsClosing
	d := &Distributor{
		Queues: p.Queues, Signals: p.Signals, options: p.Options, journal: p.Journal, gate: p.Gate, cluster: p.Cluster,
		front: p.Front, dead: p.Dead, requestTargets: p.RequestTargets,
	}
	d.purge = purge{
		workbench: p.Workbench, queues: p.OnDisk, dead: p.Dead, rules: p.Rules, wake: func() { notify.Send(p.Wake) },
	}
	d.skips = skipList{list: p.Skipped, dead: p.Dead}
	d.emptier = emptier{dead: p.Dead, sites: p.Sites, queues: p.OnDisk, cluster: p.Cluster, wakeFeeder: p.WakeFeeder}
	d.spiller = spiller{dead: p.Dead, queues: p.OnDisk}
	d.delayed = delayedURLs{
		dead: p.Dead, queues: p.OnDisk, traps: p.Traps, admission: p.Admission, skips: &d.skips,
		areNewURLs: func() bool { return p.Flushes.Pending() > 0 || p.Ready.Len() > 0 }, wakeFeeder: p.WakeFeeder,
	}
	d.placer = placer{
		workbench: p.Workbench, sites: p.Sites, queues: p.OnDisk, unresolved: p.Unresolved, dead: p.Dead,
		delayed: &d.delayed, skips: &d.skips, rules: p.Rules, cluster: p.Cluster, options: p.Options,
	}
	d.delayedSites = delayedSites{queues: p.OnDisk, live: p.Live, placer: &d.placer}
	d.surplus = surplusScan{workbench: p.Workbench, queues: p.OnDisk}
	d.end = endCheck{
		Progress: p.Progress, queues: p.Queues, dead: p.Dead, front: p.Front, flushes: p.Flushes, delayed: &d.delayed,
		delayedSites: &d.delayedSites, cluster: p.Cluster, surplus: &d.surplus, isAlone: !p.Cluster.IsShared(),
	}
	return d
}

// Held returns the URL that is in no queue, because the disk was full when it was moved; nil if there is none. It is
// called while no step runs.
func (d *Distributor) Held() []byte { return d.placer.held }

// Purge begins to give up the sites that a host rule excludes, beside the crawl. Safe for concurrent use.
func (d *Distributor) Purge() { d.purge.start() }

// Spilled returns the number of items that were moved from a full workbench to disk. Safe for concurrent use.
func (d *Distributor) Spilled() int64 { return d.spiller.count.Load() }

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
			if err := d.journal.Disk.Wait(ctx, err); errors.Is(err, outage.ErrFullAtStop) {
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
		d.journal.Steps.Begin()
		d.dead.giveUpFailing()
		d.journal.Steps.End()
		return false
	}
	steps := d.cluster.StepCount()
	wait, reason := d.end.next(now)
	wait, reason = d.cluster.NegotiateEnd(wait, reason, reason == lifecycle.ReasonComplete && d.end.isBusy(), steps)
	wait = d.front.recountIn(now, wait)
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
	d.journal.Steps.Begin()
	defer d.journal.Steps.End()
	emptying, err := d.emptier.step()
	if err != nil {
		return false, err
	}
	purging, err := d.purge.step(now)
	if err != nil {
		return false, err
	}
	giving, err := d.cluster.GiveSites(now)
	if err != nil {
		return false, err
	}
	scanning := d.surplus.step()
	d.sites = d.Workbench.DueDeferred(now, d.sites[:0])
	for _, vs := range d.sites {
		d.Unresolved.Put(d.Workbench.Site(vs).AppendKey(nil))
	}
	if err := errors.Join(d.requestTargets(now, d.cluster.Owns), d.spiller.step(now)); err != nil {
		return false, err
	}
	evicted := 0
	if !purging && !giving { // both keep pointers to sites, which must stay in memory
		if evicted, err = d.Sites.Evict(now); err != nil {
			return false, err
		}
	}
	fed, err := d.fill(now)
	if fed > 0 {
		d.WakeFeeder()
	}
	return emptying || purging && d.dead.Log.HasRoom() || giving || scanning || evicted+fed > 0, err
}

// placeReady moves a batch of ready URLs: urgent ones, or others while the front is small. Urgent ones do not wait for
// demand, since their pages are stored.
func (d *Distributor) placeReady(now time.Time) (int, error) {
	if err := d.placer.placeHeld(); err != nil {
		return 0, err
	}
	if d.Ready.Len() == 0 || d.Unresolved.Len() >= unresolvedMost || !d.dead.Log.HasRoom() {
		return 0, nil
	}
	if d.Ready.Urgent.Len() > 0 {
		return d.placer.placeReady(d.Ready.Urgent)
	}
	if d.end.IsClosing() || !d.front.isSmall(now) {
		return 0, nil
	}
	return d.placer.placeReady(d.Ready.Others)
}

// placeSkipped queues URLs again that were skipped under a stricter setting, and returns how many.
func (d *Distributor) placeSkipped(now time.Time) (n int, err error) {
	if !d.skips.hasMore() {
		return 0, nil
	}
	if err := d.placer.placeHeld(); err != nil || !d.front.isSmall(now) {
		return 0, err
	}
	for ; n < distributeBatch && d.skips.hasMore(); n++ {
		item, err := d.skips.next()
		if err == nil {
			_, err = d.placer.placeOrHold(item, false)
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// placeDelayedSite places a URL of a delayed site, if its turn has come.
func (d *Distributor) placeDelayedSite(now time.Time) error {
	placed, err := d.delayedSites.placeNext(now, d.front)
	if placed {
		d.WakeFeeder()
	}
	return err
}

// GiveAway is the step of an agent that leaves: everything that is queued goes to other agents. mayGive says whether
// there is another agent. GiveAway reports whether it moved anything.
func (d *Distributor) GiveAway(now time.Time, mayGive func() bool) (moved bool, err error) {
	d.journal.Steps.Begin()
	defer d.journal.Steps.End()
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
	if d.OnDisk.DelayedSites() > 0 {
		_, moved, err = d.delayedSites.placeOldest(false)
		return moved, err
	}
	placed, err := d.placer.placeReady(d.Ready.Urgent)
	if placed == 0 && err == nil {
		placed, err = d.placer.placeReady(d.Ready.Others)
	}
	return placed > 0, err
}
