package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/admission"
	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/delivery"
	"orbweaver/engine/cluster/handoff"
	"orbweaver/engine/cluster/leasing"
	"orbweaver/engine/cluster/leave"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/outbox"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/cluster/quorum"
	"orbweaver/engine/cluster/quota"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/cluster/robotsrelay"
	"orbweaver/engine/cluster/termination"
	"orbweaver/engine/outage"
	"orbweaver/engine/queued"
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

	stopped    map[string]*absence               // agents that stopped in order, by instance
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
	// temporarySince is where the archive was when this agent was a temporary owner first; nil for never. Guarded by the
	// steps.
	temporarySince *warc.Cut

	beganTogether atomic.Bool // all others began with the same view: no other agent owned a host before
	foundBegun    atomic.Bool // another agent had begun before this one came
}

// messageCounters are what went between agents, in this run.
type messageCounters struct {
	lettersIn, bytesIn, refused, retold, asked, superseded atomic.Int64

	strangers    atomic.Int64 // messages of agents that are no members
	unauthorised atomic.Int64 // statements that their senders may not make
	steps        atomic.Int64 // effects of messages that give an agent something to do, and are counted nowhere else
}

// peerPatience is how long an agent that starts again waits for those whom it knew before it takes them for gone.
const peerPatience = 15 * time.Second

// waitingForAgents is why a crawl does not begin.
const waitingForAgents = "waiting for the other agents"

// Begin makes the circle that the last cut knew, or that of this agent alone; who is there now is found out when the
// crawl runs.
func (p *agent) Begin(cut *cluster.Checkpoint, again bool) error {
	p.members.isResumed = again
	known := []ownership.Agent{{ID: p.network.Self(), Capacity: 1, Store: p.store}}
	if self := p.network.Agents(); len(self) == 1 { // nobody has been met yet
		known[0].Capacity = self[0].Capacity
	}
	if cut != nil {
		known, p.history.everAll, p.history.arrivals = cut.Agents, cut.EverAll, cut.Births
		p.history.viewChanges.Store(cut.Turns)
		p.history.founded.Store(cut.Founded)
		p.members.hasBegun.Store(cut.HasBegun)
		p.fetched.RestoreLists(cut.FetchedLists)
		p.leavingAgents.Restore(cut)
	}
	p.end.Begin(again)
	p.parts.Gate.Shut(waitingForAgents)
	c, err := ownership.NewView(known, p.history.everAll, p.history.arrivals, p.among(known))
	if err != nil {
		return err
	}
	return p.turn(c)
}

// among is the name of this agent if it is one of some, empty if it leaves.
func (p *agent) among(all []ownership.Agent) string {
	self := p.network.Self()
	if slices.ContainsFunc(all, func(peer ownership.Agent) bool { return peer.ID == self }) {
		return self
	}
	return ""
}

// meet notes who is there, and makes their circle.
func (p *agent) meet(now []ownership.Agent) (*ownership.View, error) {
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
	c, err := ownership.NewView(now, all, births, p.among(now))
	if err == nil {
		p.parts.Journal.Steps.Stop() // a cut reads them
		p.history.everAll, p.history.arrivals = all, births
		p.parts.Journal.Steps.Allow()
	}
	return c, err
}

// turn takes another circle.
func (p *agent) turn(c *ownership.View) error {
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

// run follows who is there, until ctx ends. Letters are carried until then.
func (p *agent) run(ctx context.Context) error {
	defer p.senders.Wait()
	if err := p.network.Join(ctx, p.store, p); err != nil {
		if ctx.Err() == nil {
			p.parts.Lose(err)
		}
		return nil
	}
	patience := time.NewTimer(peerPatience)
	defer patience.Stop()
	ask := time.NewTicker(underWayPeriod)
	defer ask.Stop()
	for patient := true; ; {
		now, again := p.present(time.Now())
		news, open := p.askAboutStopped(ctx)
		if news {
			now, again = p.present(time.Now())
		}
		if open {
			again = underWayPeriod
		}
		if again > 0 {
			patience.Reset(again)
		}
		if !p.end.HasEnded() { // at the end they go, one after the other, and leave nothing to be done
			if err := p.propose(ctx, now, p.complete(ctx, now, patient)); err != nil {
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
	return p.goBy(ctx, agreed.Members)
}

// complete says that enough agents are there for this one to go by who is there. In the beginning that is a number,
// unless others have begun before; when it starts again, all whom it knew before or, when it has waited long enough,
// whoever is there.
func (p *agent) complete(ctx context.Context, now []ownership.Agent, patient bool) bool {
	if p.members.isComplete {
		return true
	}
	if p.members.hasBegun.Load() {
		p.members.isComplete = !patient || !slices.ContainsFunc(p.views.Load().Agents,
			func(p ownership.Agent) bool { return !slices.Contains(now, p) })
	} else {
		p.members.isComplete = len(now) >= p.parts.Options.Agents || p.underWay(ctx, now)
	}
	return p.members.isComplete
}

// arrive lets the crawl begin, or go on. Unless all began together just now, the others may have asked any host of this
// agent for something a moment ago; those whom it was told of and has not found, too.
func (p *agent) arrive() {
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

// AcceptMessages takes letters from now on, or none any more.
func (p *agent) AcceptMessages(open bool) {
	p.parts.Journal.Steps.Stop()
	defer p.parts.Journal.Steps.Allow()
	p.acceptsMessages.Store(open)
}

// follow makes c the circle, if it is not, sends letters to all of it, and gives what waits for others to those who are
// responsible now.
func (p *agent) follow(ctx context.Context, c *ownership.View) error {
	if !p.views.Load().Equal(c) {
		if err := p.become(ctx, c); err != nil || !p.views.Load().Equal(c) {
			return err // or the crawl stops on a full disk, and goes by the old one to its end
		}
	} else if p.leases.UseView(p.views.Load(), p.members.expected, time.Now()) {
		p.leases.NoteChange()
	}
	p.sendToAll(ctx, c)
	err := p.reroute(ctx, c)
	p.parts.Wake()
	return err
}

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

// become takes another circle.
func (p *agent) become(ctx context.Context, c *ownership.View) error {
	for {
		err := p.turn(c)
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
	p.parts.Log.Info("the agents of this crawl are others now", "agents", len(names), "names", names)
	return nil
}

// reroute tells those who are responsible now all that agents were told that are gone: all of it, since nobody knows
// whether they left anything behind.
func (p *agent) reroute(ctx context.Context, c *ownership.View) error {
	for _, of := range p.fetched.Lists() { // who leaves may be owed nothing any more, and be believed all the same
		if p.leavingAgents.HasAnnounced(of.Instance) && p.isLost(of.Instance, c) && !p.leavingAgents.HasLeft(of.Instance) {
			p.fetched.Disown(of.Instance)
		}
	}
	for _, line := range p.outbox.Agents() {
		if !p.isLost(line, c) {
			continue
		}
		p.dismiss(line)
		if !p.leavingAgents.HasLeft(line) {
			p.fetched.Disown(line)
		}
		for over := false; !over; {
			if err := p.parts.Frontier.WaitRoom(ctx); err != nil {
				return nil //nolint:nilerr // ctx ended: what is left is in the cut
			}
			var err error
			if over, err = p.retell(line); err == nil {
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

// isLost says that an agent has no part in a circle, and is not one that leaves and is there, or expected back.
func (p *agent) isLost(line string, c *ownership.View) bool {
	return !slices.Contains(c.Instances, line) &&
		(!p.leavingAgents.HasAnnounced(line) || !p.isThere(line) && !p.isStopped(line))
}

// retellItems are told again in one step of the cut.
const retellItems = 512

// retell tells a part of what an agent knew, and says whether it was the last.
func (p *agent) retell(line string) (over bool, err error) {
	p.parts.Journal.Steps.Begin()
	defer p.parts.Journal.Steps.End()
	var items []byte
	var ends []int
	over, err = p.outbox.RemoveAgent(line, retellItems, func(item []byte) {
		items = append(items, item...)
		ends = append(ends, len(items))
	})
	d := admission.Scratch{Salt: xxh3.HashString128(line)}
	from := 0
	for _, end := range ends { // the box is not called by whom it calls
		if err := p.take(&d, items[from:end], origin{resent: true}); err != nil {
			panic(fmt.Sprintf("BUG: engine: what %q was told cannot be read: %v", line, err))
		}
		from = end
	}
	p.counters.retold.Add(int64(len(ends)))
	return over, err
}

// Route sends an item of the frontier to the agent that is responsible for it, for who has found that this one is not.
// The item has its whole URL. If it is by now, since that one has gone meanwhile, the item goes through the door again:
// on loan it is new.
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

// RouteRecovered notes that another agent has a page, if it is not this one: when that agent is lost, the page may be,
// too.
func (p *agent) RouteRecovered(line string, it *queued.URL) {
	p.outbox.PutRetained(line, message.AppendLink(nil, it))
}

// WaitRoom waits while the outbox is in memory for want of disk.
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

// MarkState is the checkpointer's: everybody stands still.
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
