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

// Departure gives away all that an agent has, when nothing is fetched there any more.
type Departure struct {
	peers       *agent
	Journal     *journal.Store
	Distributor *schedule.Distributor
	Flusher     *schedule.Flusher
	OfferSeeds  func(ctx context.Context) error // brings those to the door that have not been there
	Checkpoints chan<- chan error               // asks for a cut
	Wake        <-chan struct{}                 // the distributor's: something has happened
	Stop        <-chan struct{}                 // closed when it is to stop in the middle
	Given       map[string]bool                 // who has the list of what it has answers of, by line
}

// ErrStopped says that a departure was ended in the middle: the next run goes on with it.
var ErrStopped = errors.New("engine: stopped while it left for good")

// run is over when the other agents have everything, or with ctx, or at the signal.
func (d *Departure) run(ctx context.Context) error {
	p := d.peers
	if err := d.arrived(ctx); err != nil {
		return err
	}
	p.parts.Log.Info("this agent leaves for good: its hosts are given to the others")
	for _, step := range []func(context.Context) error{d.cutNow, d.OfferSeeds, d.giveFetched, d.going, d.giveQueues,
		d.gone} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	p.members.departed.Store(true)
	return nil
}

// arrived returns when this agent is among the others: it may have started just now, to go on with leaving.
func (d *Departure) arrived(ctx context.Context) error {
	p := d.peers
	tick := time.NewTicker(leavePeriod)
	defer tick.Stop()
	for {
		select {
		case <-p.members.joinedSignal:
			return d.StopReason(ctx)
		case <-tick.C:
			if err := d.remind(ctx); err != nil {
				return err
			}
		case <-d.Stop:
			return ErrStopped
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// StopReason says why it must not go on.
func (d *Departure) StopReason(ctx context.Context) error {
	select {
	case <-d.Stop:
		return ErrStopped
	default:
		return ctx.Err()
	}
}

// awhile waits until something has happened, or for a while.
func (d *Departure) awhile(ctx context.Context) error {
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

// cutNow takes a cut that says how far this agent is with leaving, before anybody is told.
func (d *Departure) cutNow(ctx context.Context) error {
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

// giveFetched tells all others what this agent has answers of, and returns when they know it for good. Until then it
// counts as one of them, so that nobody asks its hosts for anything.
func (d *Departure) giveFetched(ctx context.Context) error {
	if err := d.giveLists(ctx); err != nil {
		return err
	}
	for d.peers.waits() {
		if err := d.awhile(ctx); err != nil {
			return err
		}
		if err := d.remind(ctx); err != nil {
			return err
		}
	}
	return nil
}

// remind tells those who have come since, if this agent goes already, that it does. Some know that, and with a quorum
// these and those would never agree on who they are.
func (d *Departure) remind(ctx context.Context) error {
	if !d.peers.leavingAgents.HasAnnounced(d.peers.instance) {
		return nil
	}
	_, err := d.peers.leavingAgents.Tell(ctx, leave.Announced)
	return err
}

// WithReminders waits as ready does, and reminds the others meanwhile.
func (d *Departure) WithReminders(ready func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		for {
			soon, end := context.WithTimeout(ctx, leavePeriod)
			err := ready(soon)
			end()
			if !errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
				return err
			}
			if err := d.remind(ctx); err != nil {
				return err
			}
		}
	}
}

// giveLists puts the list into the outboxes of all who do not have it: those who come while this agent leaves need it
// when it has left, and perhaps nobody else has it.
func (d *Departure) giveLists(ctx context.Context) (err error) {
	for to := d.listless(); len(to) > 0; to = d.listless() {
		for from, over := int64(0), false; !over; {
			if from, over, err = d.peers.giveFetched(to, from); err != nil {
				return err
			}
			if err := d.peers.WaitRoom(ctx); err != nil {
				return err
			}
		}
		for _, line := range to {
			d.Given[line] = true
		}
	}
	return nil
}

// listless are the others who do not have the list.
func (d *Departure) listless() []string {
	c := d.peers.views.Load()
	return slices.DeleteFunc(slices.Clone(c.Instances),
		func(line string) bool { return d.Given[line] || line == d.peers.instance })
}

// going tells all others that they are not to count on this agent any more, and returns when they and it do not.
func (d *Departure) going(ctx context.Context) error {
	d.peers.leavingAgents.Announce()
	if err := d.cutNow(ctx); err != nil { // it says so again when it has died
		return err
	}
	for {
		all, err := d.peers.leavingAgents.Tell(ctx, leave.Announced)
		if err != nil || all && d.peers.views.Load().Self < 0 {
			return err
		}
		if err := d.awhile(ctx); err != nil {
			return err
		}
	}
}

// giveQueues gives away all that is queued here, and all that others were told, until nothing is left and nothing comes
// any more.
func (d *Departure) giveQueues(ctx context.Context) error {
	for {
		over, err := d.giveSome(ctx)
		if err != nil {
			err = d.Journal.Disk.Wait(ctx, err)
		}
		if err == nil && over {
			// those who have come since: they would send back what they are given, for ever
			if _, err = d.peers.leavingAgents.Tell(ctx, leave.Announced); err == nil {
				err = d.giveLists(ctx)
			}
			if err == nil && !d.peers.waits() && d.nothingQueued() && d.peers.views.Load().Self < 0 {
				return nil
			}
		}
		if err == nil && over {
			err = d.awhile(ctx)
		}
		if err == nil {
			err = d.StopReason(ctx)
		}
		if err != nil {
			return err
		}
	}
}

// giveSome gives a part away, and says whether that was the last for now.
func (d *Departure) giveSome(ctx context.Context) (over bool, err error) {
	if err := d.peers.WaitRoom(ctx); err != nil {
		return false, err
	}
	moved, err := d.Distributor.GiveAway(time.Now(), func() bool { return d.peers.views.Load().Self < 0 })
	if err != nil || moved {
		return false, err
	}
	if d.Flusher.Pending() > 0 {
		return false, d.Flusher.FlushOnce(ctx)
	}
	return d.peers.giveTold()
}

// nothingQueued says that all URLs have their outcome.
func (d *Departure) nothingQueued() bool {
	n := &d.Journal.Count
	return d.Flusher.Pending() == 0 && n.Finished.Load() == n.URLsAdmitted.Load()
}

// gone says to all others that nothing is left, until they have forgotten what they told this agent, takes no letters
// any more, and gives away what came meanwhile. Who has come meanwhile hears it, too.
func (d *Departure) gone(ctx context.Context) error {
	for there := []string(nil); ; {
		now := ownership.Instances(d.peers.network.Agents())
		all, err := d.peers.leavingAgents.Tell(ctx, leave.Done)
		switch {
		case err != nil:
			return err
		case !all: // one that has come may have sent something before it heard that this agent goes
			there = nil
			d.peers.AcceptMessages(true)
			err = d.awhile(ctx)
		case !slices.ContainsFunc(now, func(line string) bool { return !slices.Contains(there, line) }):
			return nil
		default:
			there = now
			d.peers.AcceptMessages(false)
			err = d.giveQueues(ctx)
		}
		if err != nil {
			return err
		}
	}
}
