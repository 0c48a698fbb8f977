package engine

import (
	"sync"

	"orbweaver/engine/counters"
	"orbweaver/engine/crawllog"
	"orbweaver/engine/journal"
	"orbweaver/engine/outcome"
	"orbweaver/engine/queued"
	"orbweaver/engine/site"
	"orbweaver/engine/visit"
)

// undertaker gives sites up: each of their queued URLs gets its outcome, and its line in the crawl log; those in memory
// at once, those on disk by the distributor, who alone may touch the virtualizer, as fast as the log is written.
type undertaker struct {
	log      *crawllog.Log
	bench    *visit.Workbench
	n        *counters.Live
	finished *journal.FinishedURLs
	seed     uint64 // of fingerprints
	wake     func() // of the distributor

	mu      sync.Mutex
	graves  []*visit.State
	waiting [][]byte // sites whose robots hop died with the site it was to be fetched from
}

// Bury gives a site up with the outcome that its queued URLs share. Call it under the cut's shared lock. A leased site
// is given up when its Visit comes back.
func (u *undertaker) Bury(vs *visit.State, fate outcome.Outcome) {
	u.bench.WithSite(vs, func(s *site.State) { s.DeadOutcome = fate })
	site := u.bench.AppendKey(nil, vs)
	u.bench.Kill(vs, func(item []byte) { u.drop(site, item, fate) })
	u.Dig(vs)
}

// dropOf is drop for who knows the site: what an earlier run did keeps the outcome that it had.
func (u *undertaker) dropOf(site, item []byte, fate outcome.Outcome) {
	if !u.finished.IsEmpty() {
		if it := queued.MustDecode(item); it.RobotsOf == nil {
			fp, o := u.finished.OutcomeOf(u.seed, append(append([]byte(nil), site...), it.Rest...))
			if o != outcome.None {
				u.n.Finish(o, 1)
				u.finished.Remove(fp)
				return
			}
		}
	}
	u.drop(site, item, fate)
}

// drop gives one queued item of a dead site its outcome. It runs under the bench's lock and must not call the bench.
func (u *undertaker) drop(site, item []byte, fate outcome.Outcome) {
	it := queued.MustDecode(item)
	if it.RobotsOf == nil {
		u.log.Refusal(append(append([]byte(nil), site...), it.Rest...), &it, fate, 0)
		u.n.Finish(fate, 1)
		return
	}
	u.mu.Lock()
	u.waiting = append(u.waiting, append([]byte(nil), it.RobotsOf...))
	u.mu.Unlock()
}

// Dig asks the distributor to drop what a dead site has on disk.
func (u *undertaker) Dig(vs *visit.State) {
	u.mu.Lock()
	u.graves = append(u.graves, vs)
	u.mu.Unlock()
	u.wake()
}

// take hands over the open graves, and the sites that wait for robots hops that will never come.
func (u *undertaker) take() (graves []*visit.State, waiting [][]byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	graves, waiting = u.graves, u.waiting
	u.graves, u.waiting = nil, nil
	return graves, waiting
}
