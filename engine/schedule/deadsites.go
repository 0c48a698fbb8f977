package schedule

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

// DeadSites gives sites up: each of their queued URLs gets its outcome, and its line in the crawl log; those in memory
// at once, those on disk by the distributor, who alone may touch the virtualizer, as fast as the log is written.
type DeadSites struct {
	Log       *crawllog.Log
	Workbench *visit.Workbench
	Counters  *counters.Live
	Finished  *journal.FinishedURLs
	HashSeed  uint64 // of fingerprints
	Wake      func() // of the distributor

	mu        sync.Mutex
	unemptied []*visit.State
	waiting   [][]byte // sites whose robots hop died with the site it was to be fetched from
}

// GiveUp gives a site up with the outcome that its queued URLs share. Call it under the cut's shared lock. A leased
// site is given up when its Visit comes back.
func (u *DeadSites) GiveUp(vs *visit.State, fate outcome.Outcome) {
	u.Workbench.WithSite(vs, func(s *site.State) { s.DeadOutcome = fate })
	site := u.Workbench.AppendKey(nil, vs)
	u.Workbench.Kill(vs, func(item []byte) { u.Drop(site, item, fate) })
	u.EmptyQueue(vs)
}

// DropUnlessFinished is drop for who knows the site: what an earlier run did keeps the outcome that it had.
func (u *DeadSites) DropUnlessFinished(site, item []byte, fate outcome.Outcome) {
	if !u.Finished.IsEmpty() {
		if it := queued.MustDecode(item); it.RobotsOf == nil {
			fp, o := u.Finished.OutcomeOf(u.HashSeed, append(append([]byte(nil), site...), it.Rest...))
			if o != outcome.None {
				u.Counters.Finish(o, 1)
				u.Finished.Remove(fp)
				return
			}
		}
	}
	u.Drop(site, item, fate)
}

// Drop gives one queued item of a dead site its outcome. It runs under the bench's lock and must not call the bench.
func (u *DeadSites) Drop(site, item []byte, fate outcome.Outcome) {
	it := queued.MustDecode(item)
	if it.RobotsOf == nil {
		u.Log.Refusal(append(append([]byte(nil), site...), it.Rest...), &it, fate, 0)
		u.Counters.Finish(fate, 1)
		return
	}
	u.mu.Lock()
	u.waiting = append(u.waiting, append([]byte(nil), it.RobotsOf...))
	u.mu.Unlock()
}

// EmptyQueue asks the distributor to drop what a dead site has on disk.
func (u *DeadSites) EmptyQueue(vs *visit.State) {
	u.mu.Lock()
	u.unemptied = append(u.unemptied, vs)
	u.mu.Unlock()
	u.Wake()
}

// take hands over the open graves, and the sites that wait for robots hops that will never come.
func (u *DeadSites) take() (graves []*visit.State, waiting [][]byte) {
	u.mu.Lock()
	defer u.mu.Unlock()
	graves, waiting = u.unemptied, u.waiting
	u.unemptied, u.waiting = nil, nil
	return graves, waiting
}
