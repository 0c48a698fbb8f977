package agent

import (
	"slices"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/leave"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/outbox"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/seen"
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

// forget forgets what an agent was told that has left, unless something still waits for it.
func (p *agent) forget(line string) ([]byte, error) {
	if all, _ := p.outbox.Backlog(line); all > 0 || slices.Contains(p.views.Load().Instances, line) {
		return []byte{message.LeaveWait}, nil
	}
	p.dismiss(line)
	p.parts.Journal.Steps.Begin()
	defer p.parts.Journal.Steps.End()
	if err := p.outbox.RemoveIdle(line); err != nil {
		return nil, err
	}
	p.parts.Wake()
	return []byte{message.LeaveDone}, nil
}

// isThere says that an agent is there, with the data that it had.
func (p *agent) isThere(line string) bool {
	return slices.ContainsFunc(p.network.Agents(), func(peer ownership.Agent) bool { return peer.Instance() == line })
}

// giveFetched puts a part of the list of what this agent has answers of into the outboxes of some others, and says
// where to go on, and whether that was the last.
func (p *agent) giveFetched(to []string, from int64) (next int64, over bool, err error) {
	p.parts.Journal.Steps.Begin()
	defer p.parts.Journal.Steps.End()
	lists := make(map[cluster.FetchedList][]seen.Digest)
	own := cluster.FetchedList{Seed: p.parts.Frontier.HashSeed, Instance: p.instance}
	next, over, err = p.fetched.Walk(own, from, inheritedAtOnce, func(of cluster.FetchedList, key seen.Digest) {
		lists[of] = append(lists[of], key)
	})
	if err != nil {
		return from, false, err
	}
	c := p.views.Load()
	for of, keys := range lists {
		item := message.AppendFetched(nil, of, keys)
		for _, line := range to {
			if c.HasInstance(line) {
				p.outbox.PutBacklog(line, item)
			}
		}
	}
	return next, over, nil
}

// toldAtOnce is how many items that an agent was told go on in one step of the cut.
const toldAtOnce = 1024

// giveTold gives a part of what this agent told others to somebody else each, and says whether there was nothing.
func (p *agent) giveTold() (over bool, err error) {
	p.parts.Journal.Steps.Begin()
	defer p.parts.Journal.Steps.End()
	c := p.views.Load()
	if len(c.Agents) < 2 || c.Self >= 0 {
		return true, nil // nobody else is there
	}
	over = true
	for i, line := range c.Instances {
		keeper := c.Instances[(i+1)%len(c.Instances)]
		var items [][]byte
		if _, err := p.outbox.DrainRetained(line, toldAtOnce,
			func(item []byte) { items = append(items, slices.Clone(item)) }); err != nil {
			return false, err
		}
		head := message.AppendRetained(nil, line)
		letter := slices.Clone(head)
		for _, item := range items {
			if letter = outbox.AppendItem(letter, item); len(letter) > toldBytes {
				p.outbox.PutBacklog(keeper, letter)
				letter = append(letter[:0], head...)
			}
		}
		if len(letter) > len(head) {
			p.outbox.PutBacklog(keeper, letter)
		}
		over = over && len(items) == 0
	}
	return over, nil
}

// waits says that something is in an outbox for those who are there.
func (p *agent) waits() bool {
	for _, line := range p.outbox.Agents() {
		if all, _ := p.outbox.Backlog(line); all > 0 {
			return true
		}
	}
	return false
}

// leavePeriod is the time between two looks at how far the leaving is, if nothing happens in between.
const leavePeriod = 250 * time.Millisecond
