package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/delivery"
	"orbweaver/engine/cluster/handoff"
	"orbweaver/engine/cluster/leasing"
	"orbweaver/engine/cluster/leave"
	"orbweaver/engine/cluster/outbox"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/cluster/quorum"
	"orbweaver/engine/cluster/quota"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/cluster/robotsrelay"
	"orbweaver/engine/cluster/termination"
	"orbweaver/engine/outage"
	"orbweaver/warc"
)

// agent is this agent among the others. What it does for a URL happens within the step of the journal that moves the
// URL. The ownership view changes while all steps stand still.
type agent struct {
	parts    Parts
	network  cluster.Network
	store    uint64 // tells the data in this directory from others
	instance string // of this agent with these data

	views   *ownership.Timeline
	members memberState
	history crawlHistory
	quorum  quorum.Quorum
	end     *termination.Detector

	outbox          *outbox.Outbox
	senders         *delivery.Senders
	accounts        *quota.Accounts // of the other agents
	counters        messageCounters
	acceptsMessages atomic.Bool

	fetched       *recovery.FetchedURLs
	pages         *recovery.Pages
	leases        *leasing.Leases
	handoff       *handoff.Giver
	robots        *robotsrelay.Relay
	leavingAgents *leave.Register
}

// memberState is what this agent knows of the others in this run. Fields without an atomic type are those of the loop
// that follows membership, except isResumed, which is set before it starts.
type memberState struct {
	isResumed    bool          // this agent had a part in the crawl before this run
	isComplete   bool          // the agents were complete, in this run
	isJoined     bool          // the crawl goes on
	joinedSignal chan struct{} // closed then
	hasBegun     atomic.Bool   // the agents were complete once, in this run or before
	departed     atomic.Bool   // this agent has left permanently

	stopped    map[string]*stoppedAgent          // agents that stopped in order, by instance
	expected   []string                          // instances in the view that are expected back, or agreed to be
	banned     atomic.Pointer[[]ownership.Agent] // members that are not in the view
	nextAsked  int                               // which agent is asked next whether the crawl has begun
	begunHeard time.Time                         // when an agent said first that it has
}

// crawlHistory is what agents that come later have to know of the crawl. All of it is in the checkpoint, except the
// answers of other agents.
type crawlHistory struct {
	everAll     []ownership.Agent // that ever were members; written while all steps stand still
	arrivals    uint64            // how often an agent came with data that were not there before
	founded     atomic.Uint64     // the hash of the first complete view
	viewChanges atomic.Int64      // how often the view has changed since
	// temporarySince is where the archive was when this agent was a temporary owner first; nil for never. Guarded by
	// the steps.
	temporarySince *warc.Cut

	beganTogether atomic.Bool // all others began with the same view: no other agent owned a host before
	foundBegun    atomic.Bool // another agent had begun before this one came
}

// messageCounters are what went between agents, in this run.
type messageCounters struct {
	messagesIn, bytesIn, refused, resent, asked, superseded atomic.Int64

	noMember     atomic.Int64 // messages of agents that are no members
	unauthorised atomic.Int64 // statements that their senders may not make
	steps        atomic.Int64 // effects of messages that give an agent something to do, and are counted nowhere else
}

// restartPatience is how long an agent that starts again waits for the agents that it knew, before it takes them for
// failed.
const restartPatience = 15 * time.Second

// waitingForAgents is why a crawl does not begin.
const waitingForAgents = "waiting for the other agents"

// Begin implements cluster.Member: it puts the view of the checkpoint in force, or that of this agent alone. The loop
// that follows membership finds out which agents are there now.
func (p *agent) Begin(state *cluster.Checkpoint, resumed bool) error {
	p.members.isResumed = resumed
	known := []ownership.Agent{{ID: p.network.Self(), Capacity: 1, Store: p.store}}
	if self := p.network.Agents(); len(self) == 1 { // no other agent is known yet
		known[0].Capacity = self[0].Capacity
	}
	if state != nil {
		known, p.history.everAll, p.history.arrivals = state.Agents, state.EverAll, state.Births
		p.history.viewChanges.Store(state.Turns)
		p.history.founded.Store(state.Founded)
		p.members.hasBegun.Store(state.HasBegun)
		p.fetched.RestoreLists(state.FetchedLists)
		p.leavingAgents.Restore(state)
	}
	p.end.Begin(resumed)
	p.parts.Gate.Shut(waitingForAgents)
	c, err := ownership.NewView(known, p.history.everAll, p.history.arrivals, p.selfAmong(known))
	if err != nil {
		return err
	}
	return p.replaceView(c)
}

// selfAmong is the ID of this agent if it is one of some, empty if it leaves.
func (p *agent) selfAmong(all []ownership.Agent) string {
	self := p.network.Self()
	if slices.ContainsFunc(all, func(peer ownership.Agent) bool { return peer.ID == self }) {
		return self
	}
	return ""
}

// makeView makes the view of some agents, and notes that they were there.
func (p *agent) makeView(now []ownership.Agent) (*ownership.View, error) {
	all, births := slices.Clone(p.history.everAll), p.history.arrivals
	for _, peer := range now {
		i := slices.IndexFunc(all, func(other ownership.Agent) bool { return other.ID == peer.ID })
		if i < 0 {
			all = append(all, peer)
		} else {
			all[i] = peer
		}
		if !p.views.Load().Has(peer) {
			births++
		}
	}
	c, err := ownership.NewView(now, all, births, p.selfAmong(now))
	if err == nil {
		p.parts.Journal.Steps.Stop() // a checkpoint reads them
		p.history.everAll, p.history.arrivals = all, births
		p.parts.Journal.Steps.Allow()
	}
	return c, err
}

// replaceView puts another view in force.
func (p *agent) replaceView(c *ownership.View) error {
	for i, peer := range c.Agents {
		if i == c.Self {
			continue
		}
		if _, err := p.outbox.EnsureAgent(peer.Instance()); err != nil {
			return fmt.Errorf("engine: agents: %w", err)
		}
	}
	p.parts.Journal.Steps.Stop()
	defer p.parts.Journal.Steps.Allow()
	was := p.views.Load()
	now := time.Now()
	p.views.Replace(c, now)
	p.leases.UseView(c, p.members.expected, now)
	p.noteTemporary(c)
	p.handoff.NoteView(was)
	return nil
}

// run follows membership, and sends messages, until ctx ends.
func (p *agent) run(ctx context.Context) error {
	defer p.senders.Wait()
	if err := p.network.Join(ctx, p.store, p); err != nil {
		if ctx.Err() == nil {
			p.parts.Lose(err)
		}
		return nil
	}
	patience := time.NewTimer(restartPatience)
	defer patience.Stop()
	ask := time.NewTicker(askPeriod)
	defer ask.Stop()
	for patient := true; ; {
		now, again := p.presentAgents(time.Now())
		news, open := p.askAboutStopped(ctx)
		if news {
			now, again = p.presentAgents(time.Now())
		}
		if open {
			again = askPeriod
		}
		if again > 0 {
			patience.Reset(again)
		}
		if !p.end.HasEnded() { // at the end they go, one after the other, and leave nothing to be done
			if err := p.propose(ctx, now, p.areComplete(ctx, now, patient)); err != nil {
				return err
			}
		}
		if p.members.isComplete && (p.history.beganTogether.Load() || !p.end.HadNoPart()) { // now the end cannot be news
			ask.Stop()
		}
		select {
		case <-p.network.Changed():
		case <-ask.C:
		case <-p.quorum.Changed():
		case <-p.leavingAgents.Changed():
		case <-patience.C:
			patient = false
		case err := <-p.senders.Failure():
			return err
		case <-p.network.Lost():
			p.parts.Lose(p.network.Err())
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// propose proposes some agents as those that share the crawl, and goes by those that are agreed on.
func (p *agent) propose(ctx context.Context, now []ownership.Agent, isComplete bool) error {
	agreed, ok := p.quorum.Propose(quorum.Proposal{
		Members: now, AwayAgents: p.members.expected, IsComplete: isComplete,
		HasBegun: p.members.hasBegun.Load(), IsLeaving: p.leavingAgents.HasAnnounced(p.instance),
	})
	if !ok {
		return nil
	}
	if agreed.MissedView {
		p.views.Arrive(time.Now().Add(p.views.Grace))
		p.history.viewChanges.Add(1)
	}
	p.members.expected = agreed.AwayAgents
	return p.adoptView(ctx, agreed.Members)
}

// areComplete says that enough agents are there to go by them. In the beginning that is a number, unless others have
// begun before. When this agent starts again, it is all agents that it knew, or those that are there when it has waited
// long enough.
func (p *agent) areComplete(ctx context.Context, now []ownership.Agent, patient bool) bool {
	if p.members.isComplete {
		return true
	}
	if p.members.hasBegun.Load() {
		p.members.isComplete = !patient || !slices.ContainsFunc(p.views.Load().Agents,
			func(p ownership.Agent) bool { return !slices.Contains(now, p) })
	} else {
		p.members.isComplete = len(now) >= p.parts.Options.Agents || p.hasBegun(ctx, now)
	}
	return p.members.isComplete
}

// join lets the crawl begin, or go on. Unless all agents began together just now, others may have contacted any host of
// this agent recently; so may agents that it was told of and has not found.
func (p *agent) join() {
	if p.members.isJoined {
		return
	}
	p.members.isJoined = true
	until := time.Time{}
	isAlone := len(p.views.Load().Agents) == 1
	if p.members.isResumed || !p.history.beganTogether.Load() || p.parts.Options.Invited && isAlone {
		until = time.Now().Add(p.views.Grace)
	}
	p.views.Arrive(until)
	p.parts.Gate.Open(waitingForAgents)
	close(p.members.joinedSignal)
}

// AcceptMessages implements cluster.Member.
func (p *agent) AcceptMessages(open bool) {
	p.parts.Journal.Steps.Stop()
	defer p.parts.Journal.Steps.Allow()
	p.acceptsMessages.Store(open)
}

// follow puts a view in force, if it is not, sends messages to all its agents, and gives what waits for lost agents to
// the owners of now.
func (p *agent) follow(ctx context.Context, c *ownership.View) error {
	if !p.views.Load().Equal(c) {
		if err := p.changeView(ctx, c); err != nil || !p.views.Load().Equal(c) {
			return err // or the crawl stops on a full disk, and keeps the old view to its end
		}
	} else if p.leases.UseView(p.views.Load(), p.members.expected, time.Now()) {
		p.leases.NoteChange()
	}
	p.sendToAll(ctx, c)
	err := p.reroute(ctx, c)
	p.parts.Wake()
	return err
}

// changeView puts another view in force. If the crawl stops on a full disk, it returns nil and the view is the old one.
func (p *agent) changeView(ctx context.Context, c *ownership.View) error {
	for {
		err := p.replaceView(c)
		if err == nil {
			break
		}
		if err := p.parts.Journal.Disk.Wait(ctx, err); errors.Is(err, outage.ErrFullAtStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
	p.history.viewChanges.Add(1)
	p.leases.NoteChange()
	names := make([]string, len(c.Agents))
	for i, peer := range c.Agents {
		names[i] = peer.ID
	}
	p.parts.Log.Info("cluster membership changed", "agents", len(names), "names", names)
	return nil
}

// MarkState implements cluster.CheckpointPart.
func (p *agent) MarkState() (*cluster.Checkpoint, []byte, error) {
	box, image, err := p.outbox.Checkpoint()
	if err != nil {
		return nil, nil, err
	}
	done, err := p.fetched.Checkpoint()
	if err != nil {
		return nil, nil, err
	}
	state := &cluster.Checkpoint{
		Outbox: box, Fetched: done, Agents: p.views.Load().Agents, EverAll: p.history.everAll, Births: p.history.arrivals,
		Turns: p.history.viewChanges.Load(), Founded: p.history.founded.Load(), TemporarySince: p.history.temporarySince,
		FetchedLists: p.fetched.Lists(), HasBegun: p.members.hasBegun.Load(),
	}
	p.leavingAgents.FillCheckpoint(state, p.members.departed.Load())
	return state, outbox.AppendChecksum(image), nil
}
