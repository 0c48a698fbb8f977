package leave

import (
	"context"
	"errors"
	"slices"
	"time"

	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/frontier/schedule"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/store/journal"
)

// Departure gives all that an agent has to the remaining agents, when it fetches nothing any more. Its fields are the
// parts of the engine that it empties.
type Departure struct {
	Journal     *journal.Store
	Distributor *schedule.Distributor
	Flusher     *schedule.Flusher
	OfferSeeds  func(ctx context.Context) error // gives admission the seeds that it has not had
	Checkpoints chan<- chan error               // asks for a checkpoint
	Wake        <-chan struct{}                 // the distributor's: there may be something to do
	Stop        <-chan struct{}                 // closed when the process must stop

	agent     Agent
	transfer  transfer
	listGiven map[string]bool // instances that have the list of fetched URLs
}

// Agent is what a Departure needs of the agent that leaves.
type Agent struct {
	Register       *Register
	Views          *ownership.Timeline
	Outbox         *outbox.Outbox
	Fetched        *recovery.FetchedURLs
	HashSeed       uint64                          // of the fingerprints of this agent
	Joined         <-chan struct{}                 // closed when the crawl goes on with this agent
	WaitRoom       func(ctx context.Context) error // cluster.Router.WaitRoom
	AcceptMessages func(accept bool)               // cluster.Member.AcceptMessages
}

// ErrStopped says that the process stopped while its agent was leaving: the next run goes on with it.
var ErrStopped = errors.New("leave: stopped while it left permanently")

// checkPeriod is the time between two checks of how far the leaving is, if nothing happens in between.
const checkPeriod = 250 * time.Millisecond

// Run returns when the other agents have everything, or with ctx, or when the process must stop.
func (d *Departure) Run(ctx context.Context, a Agent) error {
	d.agent, d.listGiven = a, make(map[string]bool)
	d.transfer = transfer{
		self: a.Register.o.Self, steps: &d.Journal.Steps, views: a.Views, outbox: a.Outbox, fetched: a.Fetched,
		hashSeed: a.HashSeed,
	}
	if err := d.awaitJoined(ctx); err != nil {
		return err
	}
	a.Register.o.Log.Info("this agent leaves permanently: its hosts are given to the others")
	for _, step := range []func(context.Context) error{d.checkpoint, d.OfferSeeds, d.giveFetched, d.announce, d.giveQueues,
		d.finish} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// awaitJoined returns when this agent is among the others: it may have started just now, to go on with leaving.
func (d *Departure) awaitJoined(ctx context.Context) error {
	tick := time.NewTicker(checkPeriod)
	defer tick.Stop()
	for {
		select {
		case <-d.agent.Joined:
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
	timer := time.NewTimer(checkPeriod)
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
	for d.transfer.hasBacklog() {
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
	if !d.agent.Register.HasAnnounced(d.agent.Register.o.Self) {
		return nil
	}
	_, err := d.agent.Register.Tell(ctx, Announced)
	return err
}

// WithReminders waits as ready does, and repeats the announcement meanwhile.
func (d *Departure) WithReminders(ready func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		for {
			soon, end := context.WithTimeout(ctx, checkPeriod)
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
			if from, over, err = d.transfer.giveFetched(to, from); err != nil {
				return err
			}
			if err := d.agent.WaitRoom(ctx); err != nil {
				return err
			}
		}
		for _, instance := range to {
			d.listGiven[instance] = true
		}
	}
	return nil
}

// agentsWithoutList are the other agents that do not have the list.
func (d *Departure) agentsWithoutList() []string {
	c := d.agent.Views.Load()
	return slices.DeleteFunc(slices.Clone(c.Instances),
		func(instance string) bool { return d.listGiven[instance] || instance == d.agent.Register.o.Self })
}

// announce tells all others that this agent leaves, and returns when all of them, and it too, have a view without it.
func (d *Departure) announce(ctx context.Context) error {
	d.agent.Register.Announce()
	if err := d.checkpoint(ctx); err != nil { // after a failure it announces it again
		return err
	}
	for {
		all, err := d.agent.Register.Tell(ctx, Announced)
		if err != nil || all && d.agent.Views.Load().Self < 0 {
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
			if _, err = d.agent.Register.Tell(ctx, Announced); err == nil {
				err = d.giveLists(ctx)
			}
			if err == nil && !d.transfer.hasBacklog() && d.nothingQueued() && d.agent.Views.Load().Self < 0 {
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
	moved, err := d.Distributor.GiveAway(time.Now(), func() bool { return d.agent.Views.Load().Self < 0 })
	if err != nil || moved {
		return false, err
	}
	if d.Flusher.Pending() > 0 {
		return false, d.Flusher.FlushOnce(ctx)
	}
	return d.transfer.giveRetained()
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
		now := ownership.Instances(d.agent.Register.o.Agents())
		all, err := d.agent.Register.Tell(ctx, Done)
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
