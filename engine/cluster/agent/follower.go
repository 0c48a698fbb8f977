package agent

import (
	"context"
	"time"

	"orbweaver/engine/cluster/leasing"
	"orbweaver/engine/cluster/leave"
	"orbweaver/engine/cluster/termination"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
)

// follower is the loop that follows membership: it makes the ownership view from the agents that count, and keeps the
// senders of messages running.
type follower struct {
	self      ownership.Agent
	network   peers
	history   *crawlHistory
	members   *members
	beginning beginning
	installer *viewInstaller
	lost      *lostAgents
	views     *ownership.Timeline
	quorum    quorumRule
	end       *termination.Detector
	leaving   *leave.Register
	outbox    *outbox.Outbox
	senders   *senders
	leases    *leasing.Leases
	handler   cluster.Handler
	wake      func()      // wakes the distributor
	lose      func(error) // ends the crawl in order
}

// run follows membership, and sends messages, until ctx ends.
func (f *follower) run(ctx context.Context) error {
	defer f.senders.Wait()
	if err := f.network.Join(ctx, f.self.Store, f.handler); err != nil {
		if ctx.Err() == nil {
			f.lose(err)
		}
		return nil
	}
	patience := time.NewTimer(restartPatience)
	defer patience.Stop()
	ask := time.NewTicker(askPeriod)
	defer ask.Stop()
	for patient := true; ; {
		now, again := f.members.present(time.Now())
		news, open := f.members.askAboutStopped(ctx)
		if news {
			now, again = f.members.present(time.Now())
		}
		if open {
			again = askPeriod
		}
		if again > 0 {
			patience.Reset(again)
		}
		if !f.end.HasEnded() { // at the end they go, one after the other, and leave nothing to be done
			if err := f.propose(ctx, now, f.beginning.areComplete(ctx, now, patient)); err != nil {
				return err
			}
		}
		if f.beginning.isSettled() { // now the end cannot be news
			ask.Stop()
		}
		select {
		case <-f.network.Changed():
		case <-ask.C:
		case <-f.quorum.Changed():
		case <-f.leaving.Changed():
		case <-patience.C:
			patient = false
		case err := <-f.senders.Failure():
			return err
		case <-f.network.Lost():
			f.lose(f.network.Err())
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// propose proposes some agents as those that share the crawl, and goes by those that are agreed on.
func (f *follower) propose(ctx context.Context, now []ownership.Agent, isComplete bool) error {
	agreed, ok := f.quorum.Propose(proposal{
		Agreed: ownership.Agreed{
			Members: now, AwayAgents: f.members.expected, LeavingAgents: f.members.leavingAgents(),
		},
		IsComplete: isComplete, HasBegun: f.history.hasBegun.Load(), IsLeaving: f.leaving.HasAnnounced(f.self.Instance()),
	})
	if !ok {
		return nil
	}
	if agreed.MissedView {
		f.views.Arrive(time.Now().Add(f.views.Grace))
		f.history.viewChanges.Add(1)
	}
	f.members.expected = agreed.AwayAgents
	f.leaving.NoteAgreed(agreed.LeavingAgents)
	return f.adopt(ctx, agreed.Members)
}

// adopt makes some agents those that share the crawl.
func (f *follower) adopt(ctx context.Context, agreed []ownership.Agent) error {
	f.history.hasBegun.Store(true)
	view, err := f.installer.makeView(agreed)
	if err != nil {
		return err
	}
	if err := f.follow(ctx, view); err != nil {
		return err
	}
	if f.views.Load().Equal(view) { // else the disk is full, and the crawl stops
		f.quorum.ActByAgreed()
	}
	f.history.founded.CompareAndSwap(0, view.Hash())
	f.beginning.compareFirstViews(ctx, view)
	f.beginning.join()
	return nil
}

// follow puts a view in force, if it is not, sends messages to all its agents, and gives what waits for lost agents to
// the owners of now.
func (f *follower) follow(ctx context.Context, view *ownership.View) error {
	if !f.views.Load().Equal(view) {
		if err := f.installer.change(ctx, view, f.members.expected); err != nil || !f.views.Load().Equal(view) {
			return err // or the crawl stops on a full disk, and keeps the old view to its end
		}
	} else if f.leases.UseView(f.views.Load(), f.members.expected, time.Now()) {
		f.leases.NoteChange()
	}
	f.sendToAll(ctx, view)
	err := f.lost.reroute(ctx, view)
	f.wake()
	return err
}

// sendToAll makes sure that messages are sent to each other agent of a view. They are also sent to agents that leave
// and wait for messages of this one: it may have started when they were leaving already.
func (f *follower) sendToAll(ctx context.Context, view *ownership.View) {
	for i, a := range view.Agents {
		if i != view.Self {
			f.senders.Add(ctx, a.ID, a.Instance())
		}
	}
	for _, a := range f.network.Agents() {
		instance := a.Instance()
		if instance == f.self.Instance() || !f.leaving.HasAnnounced(instance) {
			continue
		}
		if f.outbox.Counts(instance).Backlog > 0 {
			f.senders.Add(ctx, a.ID, instance)
		}
	}
}
