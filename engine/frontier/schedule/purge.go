package schedule

import (
	"sync/atomic"
	"time"

	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/internal/outcome"
	"orbweaver/workbench"
)

// purge gives the queues of excluded hosts up, in steps: it scans all sites of the workbench, and each URL of an
// excluded site gets the outcome Blocked. A URL that is not at its site yet gets it when it is placed, so from the
// moment of the rule on none is fetched. The Distributor calls step; start is safe for concurrent use.
type purge struct {
	workbench *visit.Workbench
	queues    sites.DiskQueues
	dead      *DeadSites
	rules     *settings.HostRules
	wake      func() // wakes the Distributor

	requested atomic.Bool // there is a rule that no scan has begun with

	scanning bool
	chunk    int            // of the workbench, to scan next
	excluded []*visit.State // to be given up; the Distributor evicts no site meanwhile
	began    time.Time
	givenUp  int   // sites of this scan
	onDisk   int64 // URLs of these that were on disk
}

const (
	purgeTime = 5 * time.Millisecond // of one step, which a checkpoint may have to wait for
	purgeTake = 256                  // items that are read from disk in one go
)

// start begins a scan, or begins it again if one is under way.
func (p *purge) start() {
	p.requested.Store(true)
	p.wake()
}

// step does a part, within a step of the journal, and reports whether there is more.
func (p *purge) step(now time.Time) (more bool, err error) {
	if p.requested.Load() {
		p.requested.Store(false)
		if !p.scanning {
			p.began, p.givenUp, p.onDisk = now, 0, 0
		}
		p.scanning, p.chunk = true, 0
	}
	for end := time.Now().Add(purgeTime); p.scanning && p.dead.Log.HasRoom() && time.Now().Before(end); {
		if len(p.excluded) == 0 {
			p.scanning = p.scan()
			continue
		}
		done, err := p.giveUp(p.excluded[len(p.excluded)-1])
		if err != nil {
			return true, err
		}
		if done {
			p.excluded = p.excluded[:len(p.excluded)-1]
		}
	}
	if !p.scanning && p.givenUp > 0 {
		p.rules.Say.Info("queued URLs of excluded hosts are purged",
			"sites", p.givenUp, "on_disk", p.onDisk, "took", time.Since(p.began).String())
		p.givenUp = 0
	}
	return p.scanning, nil
}

// giveUp drops all that a site has queued in memory, and a part of what it has on disk.
func (p *purge) giveUp(vs *visit.State) (done bool, err error) {
	key := p.workbench.Site(vs).AppendKey(nil)
	drop := func(item []byte) { p.dead.DropUnlessFinished(key, item, outcome.Blocked) }
	p.workbench.Kill(vs, drop)
	// A leased site is given up at its Release.
	p.workbench.Unpark(vs, func(s *site.State) { s.Blocked, s.DeadOutcome = true, outcome.Blocked })
	n, err := p.queues.Take(vs, purgeTake, drop)
	p.onDisk += int64(n)
	p.workbench.Site(vs).SetOnDisk(p.queues.Len(vs))
	if err != nil || n == purgeTake {
		return false, err
	}
	p.givenUp++
	return true, nil
}

// scan looks at the next chunk of sites, and reports whether there is more to do.
func (p *purge) scan() (more bool) {
	more = p.workbench.Listing().Keys(p.chunk, func(vs *visit.State, key []byte, state workbench.State, items uint64) {
		if items > 0 && state != workbench.Dead && p.rules.Excludes(key) {
			p.excluded = append(p.excluded, vs)
		}
	})
	p.chunk++
	return more || len(p.excluded) > 0
}
