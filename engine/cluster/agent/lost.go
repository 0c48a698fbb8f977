package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/cluster/leasing"
	"orbweaver/engine/cluster/leave"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/store/journal"
)

// lostAgents sends what lost agents were sent to the agents that own its hosts now, and ends the sending to agents that
// are gone.
type lostAgents struct {
	network  peers
	members  *members
	leaving  *leave.Register
	outbox   *outbox.Outbox
	fetched  *recovery.FetchedURLs
	senders  *senders
	leases   *leasing.Leases
	journal  *journal.Store
	frontier *admission.Frontier
	items    *items

	resent atomic.Int64 // items that were sent again, in this run
}

// isLost says that an agent is not in a view, and is not one that leaves and is there, or expected back.
func (l *lostAgents) isLost(instance string, view *ownership.View) bool {
	return !slices.Contains(view.Instances, instance) &&
		(!l.leaving.HasAnnounced(instance) || !l.network.isThere(instance) && !l.members.isStopped(instance))
}

// speaksFor says that this agent answers for the pages of an agent that has left. It does not for one that is leaving,
// whose disk may still be lost: an agent that heard so would rely on this one, and not be sent the URL again if the
// leaving one fails.
func (l *lostAgents) speaksFor(instance string) bool {
	isLeaving := l.leaving.HasAnnounced(instance)
	return l.leaving.HasLeft(instance) || !isLeaving && !slices.Contains(l.outbox.Agents(), instance)
}

// dismiss ends the sending to an agent, and waits for that.
func (l *lostAgents) dismiss(instance string) {
	if l.senders.Remove(instance) {
		l.leases.RemoveRequester(instance)
	}
}

// reroute sends all that was sent to lost agents to the owners of a view: all of it, since it is unknown how much of it
// the lost agents have done.
func (l *lostAgents) reroute(ctx context.Context, view *ownership.View) error {
	for _, of := range l.fetched.Lists() { // an agent that leaves may have a list here without a line in the outbox
		if l.leaving.HasAnnounced(of.Instance) && l.isLost(of.Instance, view) && !l.leaving.HasLeft(of.Instance) {
			l.fetched.Disown(of.Instance)
		}
	}
	for _, instance := range l.outbox.Agents() {
		if !l.isLost(instance, view) {
			continue
		}
		l.dismiss(instance)
		if !l.leaving.HasLeft(instance) {
			l.fetched.Disown(instance)
		}
		for over := false; !over; {
			if err := l.frontier.WaitRoom(ctx); err != nil {
				return nil //nolint:nilerr // ctx ended: what is left is in the checkpoint
			}
			var err error
			if over, err = l.resend(instance); err == nil {
				continue
			}
			if err := l.journal.Disk.Wait(ctx, err); errors.Is(err, outage.ErrFullAtStop) {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
	return nil
}

// resentPerStep is how many items are sent again in one step.
const resentPerStep = 512

// resend sends a part of what a lost agent was sent to other agents. over says that it was the last part.
func (l *lostAgents) resend(instance string) (over bool, err error) {
	l.journal.Steps.Begin()
	defer l.journal.Steps.End()
	var batch []byte
	var ends []int
	over, err = l.outbox.RemoveAgent(instance, resentPerStep, func(item []byte) {
		batch = append(batch, item...)
		ends = append(ends, len(batch))
	})
	d := admission.Scratch{Salt: xxh3.HashString128(instance)}
	from := 0
	for _, end := range ends { // the outbox must not be called from its own callback
		if err := l.items.takeRaw(&d, batch[from:end], origin{resent: true}); err != nil {
			panic(fmt.Sprintf("BUG: agent: what was sent to %q cannot be read: %v", instance, err))
		}
		from = end
	}
	l.resent.Add(int64(len(ends)))
	return over, err
}

// forget forgets what was sent to an agent that has left, and says whether it did: not if a message still waits for
// that agent, or the view in force has it. The view is read last: a view that is installed meanwhile counts.
func (l *lostAgents) forget(instance string, views *ownership.Timeline) (isForgotten bool, err error) {
	if l.outbox.Counts(instance).Backlog > 0 || slices.Contains(views.Load().Instances, instance) {
		return false, nil
	}
	l.dismiss(instance)
	l.journal.Steps.Begin()
	defer l.journal.Steps.End()
	return true, l.outbox.RemoveIdle(instance)
}
