package schedule

import (
	"bytes"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/frontier/ending"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/crawllog"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/notify"
	"orbweaver/internal/outcome"
	"orbweaver/workbench"
)

// DeadSites gives sites up: each of their queued URLs gets its outcome and its line in the crawl log. URLs in memory
// get it at once, and those on disk from the Distributor, as fast as the log is written. Safe for concurrent use.
type DeadSites struct {
	of DeadSitesParts

	mu        sync.Mutex
	unemptied [][]byte // dead sites that may have items on disk
	awaiting  [][]byte // sites that wait for a robots.txt whose redirect led to a dead site
}

// DeadSitesParts are what DeadSites uses.
type DeadSitesParts struct {
	Log       *crawllog.Log
	Workbench *visit.Workbench
	Counters  *counters.Live
	Finished  *journal.FinishedURLs
	HashSeed  uint64
	Wake      func() // wakes the Distributor
}

// NewDeadSites returns a DeadSites that has nothing to empty.
func NewDeadSites(of DeadSitesParts) *DeadSites { return &DeadSites{of: of} }

// GiveUp gives a site up with the outcome that its queued URLs share. It must be called within a step. A leased site is
// given up when its Visit comes back.
func (d *DeadSites) GiveUp(vs *visit.State, o outcome.Outcome) {
	d.of.Workbench.Site(vs).Update(func(s *site.State) { s.DeadOutcome = o })
	key := d.of.Workbench.Site(vs).AppendKey(nil)
	d.of.Workbench.Kill(vs, func(item []byte) { d.Drop(key, item, o) })
	d.EmptyQueue(key)
}

// giveUpFailing gives all sites up that have failed, each with its last outcome. It must be called within a step.
func (d *DeadSites) giveUpFailing() {
	d.of.Workbench.Listing().Each(func(vs *visit.State, state workbench.State) bool {
		o := outcome.None
		if state != workbench.Dead {
			d.of.Workbench.Site(vs).Read(func(s *site.State) { o = ending.CauseOf(s) })
		}
		if o != outcome.None {
			d.GiveUp(vs, o)
		}
		return true
	})
}

// DropIfFinished gives a queued URL, whole, the outcome that an earlier run gave it after its last checkpoint, if there
// is one.
func (d *DeadSites) DropIfFinished(url []byte, it *queued.URL) bool {
	if it.RobotsOf != nil {
		return false
	}
	fp, had := d.of.Finished.OutcomeOf(d.of.HashSeed, url)
	if had == outcome.None {
		return false
	}
	if d.of.Finished.IsUnlogged(fp) {
		d.of.Log.Refusal(url, it, had, 0)
	}
	d.of.Counters.Finish(had, 1)
	d.of.Finished.Remove(fp)
	return true
}

// Drop gives one queued item of a site its outcome, or the one of DropIfFinished. It does not call the workbench, whose
// lock the caller may hold.
func (d *DeadSites) Drop(key, item []byte, o outcome.Outcome) {
	it := queued.MustDecode(item)
	if it.RobotsOf != nil {
		d.mu.Lock()
		d.awaiting = append(d.awaiting, bytes.Clone(it.RobotsOf))
		d.mu.Unlock()
		return
	}
	if url := append(bytes.Clone(key), it.Rest...); !d.DropIfFinished(url, &it) {
		d.finish(url, &it, o)
	}
}

// finish gives a queued URL, whole, its outcome.
func (d *DeadSites) finish(url []byte, it *queued.URL, o outcome.Outcome) {
	d.of.Log.Refusal(url, it, o, 0)
	d.of.Counters.Finish(o, 1)
}

// requeue takes the outcome of a URL, whole, back: the URL is queued again.
func (d *DeadSites) requeue(url []byte, it *queued.URL, o outcome.Outcome) {
	d.of.Log.Requeue(url, it, o)
	d.of.Counters.Finish(o, -1)
}

// hasRoom reports whether the crawl log takes more outcomes now.
func (d *DeadSites) hasRoom() bool { return d.of.Log.HasRoom() }

// EmptyQueue asks the Distributor to drop what a dead site has on disk. It borrows the key of the site, which may leave
// the workbench before that.
func (d *DeadSites) EmptyQueue(site []byte) {
	d.mu.Lock()
	d.unemptied = append(d.unemptied, bytes.Clone(site))
	d.mu.Unlock()
	d.of.Wake()
}

// hasWork reports whether takeWork would return anything.
func (d *DeadSites) hasWork() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.unemptied)+len(d.awaiting) > 0
}

// takeWork returns what EmptyQueue and Drop have left for the Distributor.
func (d *DeadSites) takeWork() (unemptied, awaiting [][]byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	unemptied, awaiting = d.unemptied, d.awaiting
	d.unemptied, d.awaiting = nil, nil
	return unemptied, awaiting
}

// push puts an item on the workbench; an item of a dead site gets the outcome of its site.
func (d *DeadSites) push(vs *visit.State, item []byte) {
	if !d.of.Workbench.Push(vs, item) {
		d.Drop(d.of.Workbench.Site(vs).AppendKey(nil), item, d.outcomeOf(vs))
	}
}

// outcomeOf returns the outcome of the URLs of a dead site.
func (d *DeadSites) outcomeOf(vs *visit.State) outcome.Outcome {
	o := outcome.SiteGone
	d.of.Workbench.Site(vs).Update(func(s *site.State) {
		if s.DeadOutcome != outcome.None {
			o = s.DeadOutcome
		}
	})
	return o
}

// emptier takes items away from sites: from dead ones, whose URLs get their outcome; from those that a host rule
// excludes, which are given up; and from sites that are not due for long, if the workbench is full.
type emptier struct {
	*Queues
	dead       *DeadSites
	cluster    Cluster
	rules      *settings.HostRules
	wake       chan struct{} // wakes the Distributor
	wakeFeeder func()

	unemptied [][]byte    // keys of dead sites
	requested atomic.Bool // there is a rule that no scan has begun with
	purge     purge
	spilled   atomic.Int64 // items that were moved from memory to disk
	items     itemList
	sites     []*visit.State // scratch
}

// purge is a scan of all sites of the workbench for those that host rules exclude. A URL that is not at its site yet
// is dropped when it is placed, so from the moment of the rule on none is fetched. Programs give rules one by one: a
// rule that comes during a scan waits for the next one, and scans take at most a twentieth of the time.
type purge struct {
	isActive bool
	chunk    int // of the workbench, to scan next
	began    time.Time
	took     time.Duration // of the steps of the scan
	next     time.Time     // no scan begins before it
	givenUp  int           // sites
	onDisk   uint64        // URLs of these that were on disk
}

// isUnderWay says that the scan, or the emptying of sites that it gave up, goes on.
func (p *purge) isUnderWay() bool { return p.isActive || p.givenUp > 0 }

const (
	emptyTime  = 5 * time.Millisecond // of one step, which a checkpoint may have to wait for
	spillDue   = time.Minute          // a site that is not due for so long spills
	spillBatch = 64                   // sites that spill in one step
)

// step drops items of dead sites, and reports whether it can go on at once.
func (e *emptier) step() (more bool, err error) {
	unemptied, awaiting := e.dead.takeWork()
	e.unemptied = append(e.unemptied, unemptied...)
	if len(awaiting) > 0 {
		defer e.wakeFeeder() // they may be due, and nothing else wakes the feeder then
		if err := e.failRobots(awaiting); err != nil {
			return true, err
		}
	}
	for end := time.Now().Add(emptyTime); e.canGoOn() && time.Now().Before(end); {
		key := e.unemptied[len(e.unemptied)-1]
		n := 0
		if vs := e.Workbench.Get(key); vs != nil && e.Workbench.Site(vs).IsDead() { // else it was emptied before
			o := e.dead.outcomeOf(vs)
			n, err = e.OnDisk.Take(vs, distributeBatch, func(item []byte) { e.dead.Drop(key, item, o) })
			e.noteOnDisk(vs)
			if err != nil {
				return true, err
			}
		}
		if n < distributeBatch {
			e.unemptied = e.unemptied[:len(e.unemptied)-1]
		}
	}
	return e.canGoOn(), nil
}

func (e *emptier) canGoOn() bool { return len(e.unemptied) > 0 && e.dead.hasRoom() }

// isDone reports whether nothing is left to drop.
func (e *emptier) isDone() bool { return len(e.unemptied) == 0 && !e.dead.hasWork() }

// failRobots tells sites that their robots.txt cannot be had.
func (e *emptier) failRobots(awaiting [][]byte) error {
	for _, key := range awaiting {
		if e.cluster.SendResult(&site.RobotsResult{Site: key, Unreachable: true}) {
			continue
		}
		vs, err := e.Sites.Get(key)
		if err != nil {
			return err
		}
		if vs != nil {
			e.Workbench.Unpark(vs, func(s *site.State) { s.NoteRobotsFailure(time.Now()) })
		}
	}
	return nil
}

// purgeShare divides the time: scans take one part.
const purgeShare = 20

// startPurge asks for a scan. Safe for concurrent use.
func (e *emptier) startPurge() {
	e.requested.Store(true)
	notify.Send(e.wake)
}

// purgeIn returns the time until the next scan may begin if one has been asked for, and wait if that is less.
func (e *emptier) purgeIn(now time.Time, wait time.Duration) time.Duration {
	if e.purge.isUnderWay() || !e.requested.Load() {
		return wait
	}
	return min(wait, max(e.purge.next.Sub(now), 0))
}

// purgeExcluded gives up some of the sites that host rules exclude, and reports whether there are more.
func (e *emptier) purgeExcluded(now time.Time) (more bool) {
	p := &e.purge
	if !p.isUnderWay() && !now.Before(p.next) && e.requested.Swap(false) {
		*p = purge{isActive: true, began: now}
	}
	if !p.isUnderWay() {
		return false
	}
	began := time.Now()
	for end := began.Add(emptyTime); p.isActive && e.isDone() && e.dead.hasRoom() && time.Now().Before(end); {
		e.purgeChunk(end)
	}
	p.took += time.Since(began)
	p.next = now.Add((purgeShare - 1) * p.took)
	if !p.isActive && p.givenUp > 0 && e.isDone() {
		e.rules.Say.Info("queued URLs of excluded hosts are purged",
			"sites", p.givenUp, "on_disk", p.onDisk, "took", time.Since(p.began).String())
		p.givenUp = 0
	}
	return p.isActive
}

// purgeChunk gives up the excluded sites of the next chunk, until a time.
func (e *emptier) purgeChunk(end time.Time) {
	p := &e.purge
	e.sites = e.sites[:0]
	more := e.Workbench.Listing().Keys(p.chunk, func(vs *visit.State, key []byte, is workbench.State, items uint64) {
		if items > 0 && is != workbench.Dead && e.rules.Excludes(key) {
			e.sites = append(e.sites, vs)
		}
	})
	for _, vs := range e.sites {
		of := e.Workbench.Site(vs)
		if of.IsDead() { // at its Release
			continue
		}
		if !e.dead.hasRoom() || !time.Now().Before(end) {
			return // the next scan of the chunk finds the others
		}
		p.givenUp++
		p.onDisk += of.OnDisk()
		e.dead.GiveUp(vs, outcome.Blocked)
		// A leased site gets its state back at its Release.
		e.Workbench.Unpark(vs, func(s *site.State) { s.Blocked, s.DeadOutcome = true, outcome.Blocked })
	}
	p.chunk++
	p.isActive = more
}
