package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/admission"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/outage"
	"orbweaver/engine/queued"
)

// sendToAll makes sure that messages are sent to each other agent of a view. They are also sent to agents that leave
// and wait for messages of this one: it may have started when they were leaving already.
func (p *agent) sendToAll(ctx context.Context, v *ownership.View) {
	for i, peer := range v.Agents {
		if i != v.Self {
			p.senders.Add(ctx, peer.ID, peer.Instance())
		}
	}
	for _, peer := range p.network.Agents() {
		instance := peer.Instance()
		if all, _ := p.outbox.Backlog(instance); all > 0 && instance != p.instance && p.leavingAgents.HasAnnounced(instance) {
			p.senders.Add(ctx, peer.ID, instance)
		}
	}
}

// dismiss ends the sending to an agent, and waits for that.
func (p *agent) dismiss(instance string) {
	if p.senders.Remove(instance) {
		p.leases.RemoveRequester(instance)
	}
}

// reroute sends all that was sent to lost agents to the owners of now: all of it, since it is unknown how much of it
// the lost agents have done.
func (p *agent) reroute(ctx context.Context, c *ownership.View) error {
	for _, of := range p.fetched.Lists() { // an agent that leaves may have a list here without a line in the outbox
		if p.leavingAgents.HasAnnounced(of.Instance) && p.isLost(of.Instance, c) && !p.leavingAgents.HasLeft(of.Instance) {
			p.fetched.Disown(of.Instance)
		}
	}
	for _, instance := range p.outbox.Agents() {
		if !p.isLost(instance, c) {
			continue
		}
		p.dismiss(instance)
		if !p.leavingAgents.HasLeft(instance) {
			p.fetched.Disown(instance)
		}
		for over := false; !over; {
			if err := p.parts.Frontier.WaitRoom(ctx); err != nil {
				return nil //nolint:nilerr // ctx ended: what is left is in the checkpoint
			}
			var err error
			if over, err = p.resend(instance); err == nil {
				continue
			}
			if err := p.parts.Journal.Disk.Wait(ctx, err); errors.Is(err, outage.ErrFullAtStop) {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

// isLost says that an agent is not in a view, and is not one that leaves and is there, or expected back.
func (p *agent) isLost(instance string, c *ownership.View) bool {
	return !slices.Contains(c.Instances, instance) &&
		(!p.leavingAgents.HasAnnounced(instance) || !p.isThere(instance) && !p.isStopped(instance))
}

// resentPerStep is how many items are sent again in one step.
const resentPerStep = 512

// resend sends a part of what a lost agent was sent to other agents. over says that it was the last part.
func (p *agent) resend(instance string) (over bool, err error) {
	p.parts.Journal.Steps.Begin()
	defer p.parts.Journal.Steps.End()
	var items []byte
	var ends []int
	over, err = p.outbox.RemoveAgent(instance, resentPerStep, func(item []byte) {
		items = append(items, item...)
		ends = append(ends, len(items))
	})
	d := admission.Scratch{Salt: xxh3.HashString128(instance)}
	from := 0
	for _, end := range ends { // the outbox must not be called from its own callback
		if err := p.take(&d, items[from:end], origin{resent: true}); err != nil {
			panic(fmt.Sprintf("BUG: engine: what was sent to %q cannot be read: %v", instance, err))
		}
		from = end
	}
	p.counters.resent.Add(int64(len(ends)))
	return over, err
}

// Route implements cluster.Router. If this agent owns the URL now, because its owner is gone, the URL passes
// admission again: for a temporary owner it is new.
func (p *agent) Route(scratch []byte, it *queued.URL) []byte {
	if it.RobotsOf != nil {
		p.robots.Route(it)
		return scratch
	}
	c := p.views.Load()
	owner := c.OwnerOf(it.Rest)
	if owner == c.Self {
		p.parts.Frontier.Add(new(admission.Scratch), it.Rest, *it)
		return scratch
	}
	scratch = message.AppendLink(scratch[:0], it)
	p.outbox.Put(c.Instances[owner], scratch)
	return scratch
}

// RouteRecovered implements cluster.VisitGate.
func (p *agent) RouteRecovered(instance string, it *queued.URL) {
	p.outbox.PutRetained(instance, message.AppendLink(nil, it))
}

// WaitRoom implements cluster.Router.
func (p *agent) WaitRoom(ctx context.Context) error {
	for p.outbox.HasOverflow() {
		err := p.spill()
		if err == nil {
			return nil
		}
		if err := p.parts.Journal.Disk.Wait(ctx, err); errors.Is(err, outage.ErrFullAtStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

func (p *agent) spill() error {
	p.parts.Journal.Steps.Begin()
	defer p.parts.Journal.Steps.End()
	return p.outbox.Spill()
}
