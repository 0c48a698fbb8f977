package agent

import (
	"slices"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/admission"
	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/leave"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/outbox"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/dedup"
)

// answerLeave notes how far another agent is with leaving. The answer says whether this agent has done what that asks.
func (p *agent) answerLeave(from string, content []byte) ([]byte, error) {
	instance, stage, err := p.leavingAgents.Note(from, content)
	if err != nil {
		return nil, err
	}
	if stage == leave.Done {
		return p.forget(instance)
	}
	return []byte{message.LeaveDone}, nil
}

// forget forgets what was sent to an agent that has left, unless a message still waits for it.
func (p *agent) forget(instance string) ([]byte, error) {
	if all, _ := p.outbox.Backlog(instance); all > 0 || slices.Contains(p.views.Load().Instances, instance) {
		return []byte{message.LeaveWait}, nil
	}
	p.dismiss(instance)
	p.parts.Journal.Steps.Begin()
	defer p.parts.Journal.Steps.End()
	if err := p.outbox.RemoveIdle(instance); err != nil {
		return nil, err
	}
	p.parts.Wake()
	return []byte{message.LeaveDone}, nil
}

// isThere says that an agent is there, with the data that it had.
func (p *agent) isThere(instance string) bool {
	return slices.ContainsFunc(p.network.Agents(), func(peer ownership.Agent) bool { return peer.Instance() == instance })
}

// giveFetched queues a part of the list of URLs that this agent has answers of for some other agents. next is where to
// go on; over says that this was the last part.
func (p *agent) giveFetched(to []string, from int64) (next int64, over bool, err error) {
	p.parts.Journal.Steps.Begin()
	defer p.parts.Journal.Steps.End()
	lists := make(map[cluster.FetchedList][]dedup.Digest)
	own := cluster.FetchedList{Seed: p.parts.Frontier.HashSeed, Instance: p.instance}
	next, over, err = p.fetched.Walk(own, from, fetchedPerItem, func(of cluster.FetchedList, key dedup.Digest) {
		lists[of] = append(lists[of], key)
	})
	if err != nil {
		return from, false, err
	}
	c := p.views.Load()
	for of, keys := range lists {
		item := message.AppendFetched(nil, of, keys)
		for _, instance := range to {
			if c.HasInstance(instance) {
				p.outbox.PutBacklog(instance, item)
			}
		}
	}
	return next, over, nil
}

// retainedPerStep is how many retained items of an agent are given in one step of the journal.
const retainedPerStep = 1024

// giveRetained gives a part of what this agent sent to each other agent to a third one. over says that nothing was
// left.
func (p *agent) giveRetained() (over bool, err error) {
	p.parts.Journal.Steps.Begin()
	defer p.parts.Journal.Steps.End()
	c := p.views.Load()
	if len(c.Agents) < 2 || c.Self >= 0 {
		return true, nil // there is no third agent
	}
	over = true
	for i, instance := range c.Instances {
		receiver := c.Instances[(i+1)%len(c.Instances)]
		var items [][]byte
		if _, err := p.outbox.DrainRetained(instance, retainedPerStep,
			func(item []byte) { items = append(items, slices.Clone(item)) }); err != nil {
			return false, err
		}
		head := message.AppendRetained(nil, instance)
		batch := slices.Clone(head)
		for _, item := range items {
			if batch = outbox.AppendItem(batch, item); len(batch) > retainedBytes {
				p.outbox.PutBacklog(receiver, batch)
				batch = append(batch[:0], head...)
			}
		}
		if len(batch) > len(head) {
			p.outbox.PutBacklog(receiver, batch)
		}
		over = over && len(items) == 0
	}
	return over, nil
}

// hasBacklog says that a message waits for an agent.
func (p *agent) hasBacklog() bool {
	for _, instance := range p.outbox.Agents() {
		if all, _ := p.outbox.Backlog(instance); all > 0 {
			return true
		}
	}
	return false
}

// leavePeriod is the time between two checks of how far the leaving is, if nothing happens in between.
const leavePeriod = 250 * time.Millisecond

// What an agent that leaves permanently knows, and no other agent does, goes to the others: items of the kinds
// message.Fetched and message.Retained. All agents get each list of fetched URLs, since any of them may own a host one
// day. What the leaving agent sent to another one goes to a third.
//
// Until the agent has left it may fail, and its disk be lost. So a URL that is not fetched because the leaving agent
// has the page is noted as sent to it. If it fails, its list counts no more, and what it was sent is sent to other
// agents, as after any failure.

const (
	fetchedPerItem = 2048     // fingerprints in an item
	retainedBytes  = 32 << 10 // an item is no longer than that and one retained item
)

// takeRetained retains what a leaving agent sent to another one. If the receiver is gone already, it is sent to other
// agents.
func (p *agent) takeRetained(_ *admission.Scratch, item []byte, _ origin) error {
	instance, items, err := message.ReadRetained(item, p.parts.Sites.Rules)
	if err != nil || instance == p.instance {
		return err
	}
	known := slices.Contains(p.outbox.Agents(), instance)
	d := admission.Scratch{Salt: xxh3.HashString128(instance)}
	for one, err := range outbox.Items(items) {
		switch {
		case err != nil:
			return err
		case known:
			p.outbox.PutRetained(instance, one)
		default:
			if err := p.take(&d, one, origin{resent: true}); err != nil {
				return err
			}
		}
	}
	return nil
}

// speaksFor says that this agent answers for the pages of an agent that has left. It does not for one that is leaving,
// whose disk may still be lost: an agent that heard so would rely on this one, and not be sent the URL again if the
// leaving one fails.
func (p *agent) speaksFor(instance string) bool {
	isLeaving := p.leavingAgents.HasAnnounced(instance)
	return p.leavingAgents.HasLeft(instance) || !isLeaving && !slices.Contains(p.outbox.Agents(), instance)
}
