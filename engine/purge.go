package engine

import (
	"sync/atomic"
	"time"

	"orbweaver/engine/outcome"
	"orbweaver/engine/settings"
	"orbweaver/engine/site"
	"orbweaver/engine/visit"
	"orbweaver/internal/notify"
	"orbweaver/workbench"
)

// purge gives the queues of excluded hosts up, in steps: it looks at all sites on the bench, and each URL of an
// excluded one gets its outcome. What is not on the bench yet gets it when it comes up: see distributor.place; nothing
// of either is asked for from the moment of the rule on. Only the distributor calls it, but for ask.
type purge struct {
	dist  *distributor
	rules *settings.HostRules

	asked atomic.Bool // there is a rule that no walk has begun with

	chunk  int // of the bench, to look at next
	busy   bool
	sites  []*visit.State // to be given up; none is let go meanwhile, see distributor.step
	began  time.Time
	given  int   // sites given up in this walk
	onDisk int64 // URLs of these that were on disk
}

const (
	purgeTime = 5 * time.Millisecond // of one step, which holds the cut's shared lock
	purgeTake = 256                  // items that are looked at one by one in one go
)

// ask begins a walk, or another one if one is under way.
func (p *purge) ask() {
	p.asked.Store(true)
	notify.Send(p.dist.wake)
}

// step does a part, under the cut's shared lock, and says whether there is more.
func (p *purge) step(now time.Time) (more bool, err error) {
	if p.asked.Load() {
		p.asked.Store(false)
		if !p.busy {
			p.began, p.given, p.onDisk = now, 0, 0
		}
		p.busy, p.chunk = true, 0
	}
	for end := time.Now().Add(purgeTime); p.busy && p.dist.under.log.HasRoom() && time.Now().Before(end); {
		if len(p.sites) > 0 {
			done, err := p.giveUp(p.sites[len(p.sites)-1])
			if err != nil {
				return true, err
			}
			if done {
				p.sites = p.sites[:len(p.sites)-1]
			}
			continue
		}
		p.busy = p.find()
	}
	if !p.busy && p.given > 0 {
		p.rules.Say.Info("what was queued of excluded hosts is purged", "sites", p.given, "on_disk", p.onDisk, "took", time.Since(p.began).String())
		p.given = 0
	}
	return p.busy, nil
}

// giveUp drops what a site has queued, all of it or a part of what is on disk.
func (p *purge) giveUp(vs *visit.State) (done bool, err error) {
	d := p.dist
	key := d.bench.AppendKey(nil, vs)
	drop := func(item []byte) { d.under.dropOf(key, item, outcome.Blocked) }
	d.bench.Kill(vs, drop)
	d.bench.Unpark(vs, func(s *site.State) { s.Blocked, s.DeadOutcome = true, outcome.Blocked }) // at its Release, if it is leased
	n, err := d.queues.Take(vs, purgeTake, drop)
	p.onDisk += int64(n)
	d.bench.SetOnDisk(vs, d.queues.Len(vs))
	if err != nil || n == purgeTake {
		return false, err
	}
	p.given++
	return true, nil
}

// find looks at the next 1,024 sites, and says whether there is more to do.
func (p *purge) find() (more bool) {
	more = p.dist.bench.Keys(p.chunk, func(vs *visit.State, key []byte, state workbench.State, held uint64) {
		if held > 0 && state != workbench.Dead && p.rules.Excludes(key) {
			p.sites = append(p.sites, vs)
		}
	})
	p.chunk++
	return more || len(p.sites) > 0
}
