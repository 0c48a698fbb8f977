package schedule

import (
	"sync/atomic"
	"time"

	"orbweaver/engine/outcome"
	"orbweaver/engine/settings"
	"orbweaver/engine/site"
	"orbweaver/engine/sites"
	"orbweaver/engine/visit"
	"orbweaver/workbench"
)

// Purge gives the queues of excluded hosts up, in steps: it looks at all sites on the bench, and each URL of an
// excluded one gets its outcome. What is not on the bench yet gets it when it comes up: see Distributor.place; nothing
// of either is asked for from the moment of the rule on. Only the distributor calls it, but for ask.
type Purge struct {
	Workbench *visit.Workbench
	Queues    sites.DiskQueues
	Dead      *DeadSites
	Rules     *settings.HostRules
	Wake      func() // wakes the distributor

	asked atomic.Bool // there is a rule that no walk has begun with

	chunk    int // of the bench, to look at next
	busy     bool
	excluded []*visit.State // to be given up; none is let go meanwhile, see distributor.step
	began    time.Time
	given    int   // sites given up in this walk
	onDisk   int64 // URLs of these that were on disk
}

const (
	purgeTime = 5 * time.Millisecond // of one step, which holds the cut's shared lock
	purgeTake = 256                  // items that are looked at one by one in one go
)

// Start begins a walk, or another one if one is under way.
func (p *Purge) Start() {
	p.asked.Store(true)
	p.Wake()
}

// Step does a part, under the cut's shared lock, and says whether there is more.
func (p *Purge) Step(now time.Time) (more bool, err error) {
	if p.asked.Load() {
		p.asked.Store(false)
		if !p.busy {
			p.began, p.given, p.onDisk = now, 0, 0
		}
		p.busy, p.chunk = true, 0
	}
	for end := time.Now().Add(purgeTime); p.busy && p.Dead.Log.HasRoom() && time.Now().Before(end); {
		if len(p.excluded) > 0 {
			done, err := p.giveUp(p.excluded[len(p.excluded)-1])
			if err != nil {
				return true, err
			}
			if done {
				p.excluded = p.excluded[:len(p.excluded)-1]
			}
			continue
		}
		p.busy = p.find()
	}
	if !p.busy && p.given > 0 {
		p.Rules.Say.Info("what was queued of excluded hosts is purged",
			"sites", p.given, "on_disk", p.onDisk, "took", time.Since(p.began).String())
		p.given = 0
	}
	return p.busy, nil
}

// giveUp drops what a site has queued, all of it or a part of what is on disk.
func (p *Purge) giveUp(vs *visit.State) (done bool, err error) {
	key := p.Workbench.AppendKey(nil, vs)
	drop := func(item []byte) { p.Dead.DropUnlessFinished(key, item, outcome.Blocked) }
	p.Workbench.Kill(vs, drop)
	// A leased site is given up at its Release.
	p.Workbench.Unpark(vs, func(s *site.State) { s.Blocked, s.DeadOutcome = true, outcome.Blocked })
	n, err := p.Queues.Take(vs, purgeTake, drop)
	p.onDisk += int64(n)
	p.Workbench.SetOnDisk(vs, p.Queues.Len(vs))
	if err != nil || n == purgeTake {
		return false, err
	}
	p.given++
	return true, nil
}

// find looks at the next 1,024 sites, and says whether there is more to do.
func (p *Purge) find() (more bool) {
	more = p.Workbench.Keys(p.chunk, func(vs *visit.State, key []byte, state workbench.State, held uint64) {
		if held > 0 && state != workbench.Dead && p.Rules.Excludes(key) {
			p.excluded = append(p.excluded, vs)
		}
	})
	p.chunk++
	return more || len(p.excluded) > 0
}
