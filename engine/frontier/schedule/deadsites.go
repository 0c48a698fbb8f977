package schedule

import (
	"bytes"
	"sync"

	"orbweaver/engine/frontier/ending"
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
