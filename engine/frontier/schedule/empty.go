package schedule

import (
	"sync/atomic"
	"time"

	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/internal/notify"
	"orbweaver/internal/outcome"
	"orbweaver/workbench"
)

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
// is dropped when it is placed, so from the moment of the rule on none is fetched.
type purge struct {
	isActive bool
	chunk    int // of the workbench, to scan next
	began    time.Time
	givenUp  int    // sites
	onDisk   uint64 // URLs of these that were on disk
}

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

// startPurge begins a scan, or begins it again if one is under way. Safe for concurrent use.
func (e *emptier) startPurge() {
	e.requested.Store(true)
	notify.Send(e.wake)
}

// purgeExcluded gives up some of the sites that host rules exclude, and reports whether there are more.
func (e *emptier) purgeExcluded(now time.Time) (more bool) {
	p := &e.purge
	if e.requested.Swap(false) {
		if !p.isActive {
			*p = purge{isActive: true, began: now}
		}
		p.chunk = 0
	}
	for end := time.Now().Add(emptyTime); p.isActive && e.isDone() && e.dead.hasRoom() && time.Now().Before(end); {
		e.purgeChunk(end)
	}
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

// spill moves items of sites that are not due for long, the slow and the broken, from a full workbench to disk. The one
// error is a full disk; no item is lost then.
func (e *emptier) spill(now time.Time) error {
	if !e.Workbench.Memory().Full() {
		return nil
	}
	e.sites = e.Workbench.Memory().UnloadCandidates(now.Add(spillDue), e.sites[:0], spillBatch)
	for _, vs := range e.sites {
		if !e.OnDisk.CanSpill(vs) {
			continue
		}
		e.items.bytes, e.items.ends = e.Workbench.Memory().Unload(vs, e.items.bytes[:0], e.items.ends[:0])
		var err error
		hasRedirects := e.hasRobotsRedirects()
		if !hasRedirects {
			err = e.OnDisk.Spill(vs, e.items.each)
		}
		if hasRedirects || err != nil {
			e.items.each(func(item []byte) bool { e.dead.push(vs, item); return true })
		} else {
			e.spilled.Add(int64(len(e.items.ends)))
		}
		e.noteOnDisk(vs)
		if err != nil {
			return err
		}
	}
	return nil
}

// hasRobotsRedirects reports whether a redirect of a robots.txt is among the items. A site waits for it, so it stays in
// memory.
func (e *emptier) hasRobotsRedirects() (found bool) {
	e.items.each(func(raw []byte) bool {
		it := queued.MustDecode(raw)
		found = it.RobotsOf != nil
		return !found
	})
	return found
}
