package leave

import (
	"slices"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/store/journal"
)

// transfer gives the remaining agents what a leaving agent knows, and no other agent does: items of the kinds
// message.Fetched and message.Retained. All agents get each list of fetched URLs, since any of them may own a host one
// day. What the leaving agent sent to another one goes to a third.
//
// Until the agent has left it may fail, and its disk be lost. So a URL that is not fetched because the leaving agent
// has the page is noted as sent to it. If it fails, its list counts no more, and what it was sent is sent to other
// agents, as after any failure.
type transfer struct {
	self     string // instance of this agent
	steps    *journal.Steps
	views    *ownership.Timeline
	outbox   *outbox.Outbox
	fetched  *recovery.FetchedURLs
	hashSeed uint64 // of the fingerprints of this agent
}

const (
	fetchedPerItem  = 2048     // fingerprints in an item
	retainedBytes   = 32 << 10 // an item is no longer than that and one retained item
	retainedPerStep = 1024     // retained items of an agent that are given in one step of the journal
)

// giveFetched queues a part of the list of URLs that this agent has answers of for some other agents. next is where to
// go on; over says that this was the last part.
func (t *transfer) giveFetched(to []string, from int64) (next int64, over bool, err error) {
	t.steps.Begin()
	defer t.steps.End()
	lists := make(map[cluster.FetchedList][]dedup.Digest)
	own := cluster.FetchedList{Seed: t.hashSeed, Instance: t.self}
	next, over, err = t.fetched.Walk(own, from, fetchedPerItem, func(of cluster.FetchedList, key dedup.Digest) {
		lists[of] = append(lists[of], key)
	})
	if err != nil {
		return from, false, err
	}
	view := t.views.Load()
	for of, keys := range lists {
		item := message.AppendFetched(nil, of, keys)
		for _, instance := range to {
			if view.HasInstance(instance) {
				t.outbox.PutBacklog(instance, item)
			}
		}
	}
	return next, over, nil
}

// giveRetained gives a part of what this agent sent to each other agent to a third one. over says that nothing was
// left.
func (t *transfer) giveRetained() (over bool, err error) {
	t.steps.Begin()
	defer t.steps.End()
	view := t.views.Load()
	if len(view.Agents) < 2 || view.Self >= 0 {
		return true, nil // there is no third agent
	}
	over = true
	for i, instance := range view.Instances {
		receiver := view.Instances[(i+1)%len(view.Instances)]
		var items [][]byte
		if _, err := t.outbox.DrainRetained(instance, retainedPerStep,
			func(item []byte) { items = append(items, slices.Clone(item)) }); err != nil {
			return false, err
		}
		head := message.AppendRetained(nil, instance)
		batch := slices.Clone(head)
		for _, item := range items {
			if batch = outbox.AppendItem(batch, item); len(batch) > retainedBytes {
				t.outbox.PutBacklog(receiver, batch)
				batch = append(batch[:0], head...)
			}
		}
		if len(batch) > len(head) {
			t.outbox.PutBacklog(receiver, batch)
		}
		over = over && len(items) == 0
	}
	return over, nil
}

// hasBacklog says that a message waits for an agent.
func (t *transfer) hasBacklog() bool {
	for _, instance := range t.outbox.Agents() {
		if t.outbox.Counts(instance).Backlog > 0 {
			return true
		}
	}
	return false
}
