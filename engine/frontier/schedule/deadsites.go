package schedule

import (
	"bytes"
	"sync"
	"time"

	"orbweaver/engine/frontier/ending"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/crawllog"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/outcome"
	"orbweaver/workbench"
)

// DeadSites gives sites up: each of their queued URLs gets its outcome and its line in the crawl log. URLs in memory
// get it at once, and those on disk from the Distributor, as fast as the log is written. Safe for concurrent use.
type DeadSites struct {
	Log       *crawllog.Log
	Workbench *visit.Workbench
	Counters  *counters.Live
	Finished  *journal.FinishedURLs
	HashSeed  uint64
	Wake      func() // wakes the Distributor

	mu        sync.Mutex
	unemptied [][]byte // dead sites that may have items on disk
	awaiting  [][]byte // sites that wait for a robots.txt whose redirect led to a dead site
}

// GiveUp gives a site up with the outcome that its queued URLs share. It must be called within a step. A leased site is
// given up when its Visit comes back.
func (d *DeadSites) GiveUp(vs *visit.State, o outcome.Outcome) {
	d.Workbench.Site(vs).Update(func(s *site.State) { s.DeadOutcome = o })
	key := d.Workbench.Site(vs).AppendKey(nil)
	d.Workbench.Kill(vs, func(item []byte) { d.Drop(key, item, o) })
	d.EmptyQueue(key)
}

// giveUpFailing gives all sites up that have failed, each with its last outcome. It must be called within a step.
func (d *DeadSites) giveUpFailing() {
	d.Workbench.Listing().Each(func(vs *visit.State, state workbench.State) bool {
		o := outcome.None
		if state != workbench.Dead {
			d.Workbench.Site(vs).Read(func(s *site.State) { o = ending.CauseOf(s) })
		}
		if o != outcome.None {
			d.GiveUp(vs, o)
		}
		return true
	})
}

// FinishedAs returns the outcome that an earlier run gave a URL after its last checkpoint; outcome.None if there is
// none.
func (d *DeadSites) FinishedAs(url []byte) outcome.Outcome {
	if d.Finished.IsEmpty() {
		return outcome.None
	}
	_, o := d.Finished.OutcomeOf(d.HashSeed, url)
	return o
}

// DropUnlessFinished is Drop, but a URL that an earlier run finished keeps the outcome that it had.
func (d *DeadSites) DropUnlessFinished(key, item []byte, o outcome.Outcome) {
	if !d.Finished.IsEmpty() {
		if it := queued.MustDecode(item); it.RobotsOf == nil {
			url := append(append([]byte(nil), key...), it.Rest...)
			fp, had := d.Finished.OutcomeOf(d.HashSeed, url)
			if had != outcome.None {
				if d.Finished.IsUnlogged(fp) {
					d.Log.Refusal(url, &it, had, 0)
				}
				d.Counters.Finish(had, 1)
				d.Finished.Remove(fp)
				return
			}
		}
	}
	d.Drop(key, item, o)
}

// Drop gives one queued item of a site its outcome. It does not call the workbench, whose lock the caller may hold.
func (d *DeadSites) Drop(key, item []byte, o outcome.Outcome) {
	it := queued.MustDecode(item)
	if it.RobotsOf == nil {
		url := append(append([]byte(nil), key...), it.Rest...)
		d.Log.Refusal(url, &it, o, 0)
		d.Counters.Finish(o, 1)
		return
	}
	d.mu.Lock()
	d.awaiting = append(d.awaiting, append([]byte(nil), it.RobotsOf...))
	d.mu.Unlock()
}

// EmptyQueue asks the Distributor to drop what a dead site has on disk. It borrows the key of the site, which may leave
// the workbench before that.
func (d *DeadSites) EmptyQueue(site []byte) {
	d.mu.Lock()
	d.unemptied = append(d.unemptied, bytes.Clone(site))
	d.mu.Unlock()
	d.Wake()
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
	if !d.Workbench.Push(vs, item) {
		d.Drop(d.Workbench.Site(vs).AppendKey(nil), item, d.outcomeOf(vs))
	}
}

// outcomeOf returns the outcome of the URLs of a dead site.
func (d *DeadSites) outcomeOf(vs *visit.State) outcome.Outcome {
	o := outcome.SiteGone
	d.Workbench.Site(vs).Update(func(s *site.State) {
		if s.DeadOutcome != outcome.None {
			o = s.DeadOutcome
		}
	})
	return o
}

// emptier drops the items of dead sites on disk, for the Distributor.
type emptier struct {
	dead       *DeadSites
	sites      *sites.Table
	queues     sites.DiskQueues
	cluster    Cluster
	wakeFeeder func()
	unemptied  [][]byte // keys
}

// emptyTime is the time of one step, which a checkpoint may have to wait for.
const emptyTime = 5 * time.Millisecond

// step does a part, and reports whether it can go on at once.
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
		vs := e.dead.Workbench.Get(key)
		if vs == nil || !e.dead.Workbench.Site(vs).IsDead() { // it was emptied before
			e.unemptied = e.unemptied[:len(e.unemptied)-1]
			continue
		}
		o := e.dead.outcomeOf(vs)
		n, err := e.queues.Take(vs, distributeBatch, func(item []byte) { e.dead.DropUnlessFinished(key, item, o) })
		e.dead.Workbench.Site(vs).SetOnDisk(e.queues.Len(vs))
		if err != nil {
			return true, err
		}
		if n < distributeBatch {
			e.unemptied = e.unemptied[:len(e.unemptied)-1]
		}
	}
	return e.canGoOn(), nil
}

func (e *emptier) canGoOn() bool { return len(e.unemptied) > 0 && e.dead.Log.HasRoom() }

// isDone reports whether nothing is left to drop.
func (e *emptier) isDone() bool { return len(e.unemptied) == 0 }

// failRobots tells sites that their robots.txt cannot be had.
func (e *emptier) failRobots(awaiting [][]byte) error {
	for _, key := range awaiting {
		if e.cluster.SendResult(&site.RobotsResult{Site: key, Unreachable: true}) {
			continue
		}
		vs, err := e.sites.Get(key)
		if err != nil {
			return err
		}
		if vs != nil {
			e.dead.Workbench.Unpark(vs, func(s *site.State) { s.NoteRobotsFailure(time.Now()) })
		}
	}
	return nil
}
