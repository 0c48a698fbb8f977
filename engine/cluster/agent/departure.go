package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"orbweaver/engine/cluster/leave"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/journal"
	"orbweaver/engine/schedule"
)

// Departure gives away all that an agent has, when it fetches nothing any more.
type Departure struct {
	agent       *agent
	Journal     *journal.Store
	Distributor *schedule.Distributor
	Flusher     *schedule.Flusher
	OfferSeeds  func(ctx context.Context) error // gives admission the seeds that it has not had
	Checkpoints chan<- chan error               // asks for a checkpoint
	Wake        <-chan struct{}                 // the distributor's: there may be something to do
	Stop        <-chan struct{}                 // closed when the process must stop
	Given       map[string]bool                 // instances that have the list of fetched URLs
}

// ErrStopped says that the process stopped while its agent was leaving: the next run goes on with it.
var ErrStopped = errors.New("engine: stopped while it left permanently")

// run returns when the other agents have everything, or with ctx, or when the process must stop.
func (d *Departure) run(ctx context.Context) error {
	p := d.agent
	if err := d.awaitJoined(ctx); err != nil {
		return err
	}
	p.parts.Log.Info("this agent leaves permanently: its hosts are given to the others")
	for _, step := range []func(context.Context) error{d.checkpoint, d.OfferSeeds, d.giveFetched, d.announce, d.giveQueues,
		d.finish} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	p.members.departed.Store(true)
	return nil
}

// awaitJoined returns when this agent is among the others: it may have started just now, to go on with leaving.
func (d *Departure) awaitJoined(ctx context.Context) error {
	p := d.agent
	tick := time.NewTicker(leavePeriod)
	defer tick.Stop()
	for {
		select {
		case <-p.members.joinedSignal:
			return d.StopReason(ctx)
		case <-tick.C:
			if err := d.repeatAnnouncement(ctx); err != nil {
				return err
			}
		case <-d.Stop:
			return ErrStopped
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// StopReason says why the departure must not go on; nil if it may.
func (d *Departure) StopReason(ctx context.Context) error {
	select {
	case <-d.Stop:
		return ErrStopped
	default:
		return ctx.Err()
	}
}

// pause waits until there may be something to do, or for a while.
func (d *Departure) pause(ctx context.Context) error {
	timer := time.NewTimer(leavePeriod)
	defer timer.Stop()
	select {
	case <-d.Wake:
	case <-timer.C:
	case <-d.Stop:
	case <-ctx.Done():
	}
	return d.StopReason(ctx)
}

// checkpoint makes a checkpoint that says how far this agent is with leaving, before the others are told.
func (d *Departure) checkpoint(ctx context.Context) error {
	reply := make(chan error, 1)
	select {
	case d.Checkpoints <- reply:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// giveFetched gives all others the list of URLs that this agent has answers of, and returns when they have it on disk.
// Until then it owns its hosts, so that no agent contacts them.
func (d *Departure) giveFetched(ctx context.Context) error {
	if err := d.giveLists(ctx); err != nil {
		return err
	}
	for d.agent.hasBacklog() {
		if err := d.pause(ctx); err != nil {
			return err
		}
		if err := d.repeatAnnouncement(ctx); err != nil {
			return err
		}
	}
	return nil
}

// repeatAnnouncement tells agents that have come since that this one leaves, if it has announced that. With --quorum
// the agents that know it would never agree on a view with those that do not.
func (d *Departure) repeatAnnouncement(ctx context.Context) error {
	if !d.agent.leavingAgents.HasAnnounced(d.agent.instance) {
		return nil
	}
	_, err := d.agent.leavingAgents.Tell(ctx, leave.Announced)
	return err
}

// WithReminders waits as ready does, and repeats the announcement meanwhile.
func (d *Departure) WithReminders(ready func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		for {
			soon, end := context.WithTimeout(ctx, leavePeriod)
			err := ready(soon)
			end()
			if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
				return err
			}
			if err := d.repeatAnnouncement(ctx); err != nil {
				return err
			}
		}
	}
}

// giveLists queues the list for all agents that do not have it. Agents that come while this one leaves need it when it
// has left, and perhaps no other agent has it.
func (d *Departure) giveLists(ctx context.Context) (err error) {
	for to := d.agentsWithoutList(); len(to) > 0; to = d.agentsWithoutList() {
		for from, over := int64(0), false; !over; {
			if from, over, err = d.agent.giveFetched(to, from); err != nil {
				return err
			}
			if err := d.agent.WaitRoom(ctx); err != nil {
				return err
			}
		}
		for _, instance := range to {
			d.Given[instance] = true
		}
	}
	return nil
}

// agentsWithoutList are the other agents that do not have the list.
func (d *Departure) agentsWithoutList() []string {
	c := d.agent.views.Load()
	return slices.DeleteFunc(slices.Clone(c.Instances),
		func(instance string) bool { return d.Given[instance] || instance == d.agent.instance })
}

// announce tells all others that this agent leaves, and returns when all of them, and it too, have a view without it.
func (d *Departure) announce(ctx context.Context) error {
	d.agent.leavingAgents.Announce()
	if err := d.checkpoint(ctx); err != nil { // after a failure it announces it again
		return err
	}
	for {
		all, err := d.agent.leavingAgents.Tell(ctx, leave.Announced)
		if err != nil || all && d.agent.views.Load().Self < 0 {
			return err
		}
		if err := d.pause(ctx); err != nil {
			return err
		}
	}
}

// giveQueues gives away all that is queued here, and all that was sent to others, until nothing is left and nothing
// comes any more.
func (d *Departure) giveQueues(ctx context.Context) error {
	for {
		over, err := d.giveSome(ctx)
		if err != nil {
			err = d.Journal.Disk.Wait(ctx, err)
		}
		if err == nil && over {
			// agents that have come since: they would send back what they are given, for ever
			if _, err = d.agent.leavingAgents.Tell(ctx, leave.Announced); err == nil {
				err = d.giveLists(ctx)
			}
			if err == nil && !d.agent.hasBacklog() && d.nothingQueued() && d.agent.views.Load().Self < 0 {
				return nil
			}
		}
		if err == nil && over {
			err = d.pause(ctx)
		}
		if err == nil {
			err = d.StopReason(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// giveSome gives a part away. over says that it was the last for now.
func (d *Departure) giveSome(ctx context.Context) (over bool, err error) {
	if err := d.agent.WaitRoom(ctx); err != nil {
		return false, err
	}
	moved, err := d.Distributor.GiveAway(time.Now(), func() bool { return d.agent.views.Load().Self < 0 })
	if err != nil || moved {
		return false, err
	}
	if d.Flusher.Pending() > 0 {
		return false, d.Flusher.FlushOnce(ctx)
	}
	return d.agent.giveRetained()
}

// nothingQueued says that all URLs have their outcome.
func (d *Departure) nothingQueued() bool {
	n := &d.Journal.Count
	return d.Flusher.Pending() == 0 && n.Finished.Load() == n.URLsAdmitted.Load()
}

// finish tells all others that nothing is left, until they have forgotten what they sent to this agent. Then it takes
// no messages any more, and gives away what came meanwhile. Agents that have come meanwhile are told, too.
func (d *Departure) finish(ctx context.Context) error {
	for there := []string(nil); ; {
		now := ownership.Instances(d.agent.network.Agents())
		all, err := d.agent.leavingAgents.Tell(ctx, leave.Done)
		switch {
		case err != nil:
			return err
		case !all: // a new agent may have sent something before it heard that this one leaves
			there = nil
			d.agent.AcceptMessages(true)
			err = d.pause(ctx)
		case !slices.ContainsFunc(now, func(instance string) bool { return !slices.Contains(there, instance) }):
			return nil
		default:
			there = now
			d.agent.AcceptMessages(false)
			err = d.giveQueues(ctx)
		}
		if err != nil {
			return err
		}
	}
}
