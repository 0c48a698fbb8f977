package agent

import (
	"slices"
	"sync/atomic"

	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
)

// crawlHistory is what agents that come later must know of the crawl. The first group of fields is in the checkpoint.
type crawlHistory struct {
	everAll     []ownership.Agent // that ever were members; written while all steps stand still
	arrivals    uint64            // how often an agent came with data that were not there before
	founded     atomic.Uint64     // the hash of the first complete view
	viewChanges atomic.Int64      // how often the view has changed since
	hasBegun    atomic.Bool       // the agents were complete once, in this run or before

	hasLeft       atomic.Bool // this agent has left permanently
	isResumed     bool        // this agent had a part in the crawl before this run; set before the loops start
	beganTogether atomic.Bool // all others began with the same view: no other agent owned a host before
	foundBegun    atomic.Bool // another agent had begun before this one came
}

// restore takes up the state of a checkpoint.
func (h *crawlHistory) restore(state *cluster.Checkpoint) {
	h.everAll, h.arrivals = state.EverAll, state.Births
	h.viewChanges.Store(state.Turns)
	h.founded.Store(state.Founded)
	h.hasBegun.Store(state.HasBegun)
}

// fillCheckpoint notes what restore takes up.
func (h *crawlHistory) fillCheckpoint(state *cluster.Checkpoint) {
	state.EverAll, state.Births = h.everAll, h.arrivals
	state.Turns, state.Founded, state.HasBegun = h.viewChanges.Load(), h.founded.Load(), h.hasBegun.Load()
}

// founding is the hash of the first complete view, and how often the view has changed since.
func (h *crawlHistory) founding() (first uint64, changes int64) {
	return h.founded.Load(), h.viewChanges.Load()
}

// startsLate says that the crawl had begun before this run: any other agent may have owned a host of this one.
func (h *crawlHistory) startsLate() bool { return h.isResumed || h.foundBegun.Load() }

// withMembers are all agents that ever were members if some agents are members now, and how often one came with new
// data. wasMember says that an agent is in the view in force.
func (h *crawlHistory) withMembers(
	now []ownership.Agent, wasMember func(ownership.Agent) bool,
) (all []ownership.Agent, arrivals uint64) {
	all, arrivals = slices.Clone(h.everAll), h.arrivals
	for _, a := range now {
		i := slices.IndexFunc(all, func(other ownership.Agent) bool { return other.ID == a.ID })
		if i < 0 {
			all = append(all, a)
		} else {
			all[i] = a
		}
		if !wasMember(a) {
			arrivals++
		}
	}
	return all, arrivals
}
