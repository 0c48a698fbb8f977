package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/peering"
	"orbweaver/engine/peering/consensus"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
	"orbweaver/internal/notify"
	"orbweaver/internal/vfs"
)

// So long an agent that stops waits for the others to go on without it: they may have to elect a leader. One that never
// comes again waits longer. While it counts as a voter, one of two cannot go on.
const (
	leaveTime = 20 * time.Second
	leftTime  = 10 * time.Minute
)

// refusedTime is how long an agent is not asked that runs without --quorum.
const refusedTime = time.Minute

// Why nothing is fetched while no crawl has begun, and while a majority is there.
const (
	waitsToBegin  = "waiting for the other agents, to begin with them"
	waitsForViews = "the agents of this crawl agree on their members"
)

// quorumNetwork is what a majority needs of cluster.Network.
type quorumNetwork interface {
	Agents() []ownership.Agent
	Ask(ctx context.Context, to string, question []byte) (answer []byte, err error)
}

// majorityOptions are what a majority needs of the agent that it serves.
type majorityOptions struct {
	FS       vfs.FS
	Dir      string // of the frontier
	Self     string // instance of this agent
	Network  quorumNetwork
	Views    *ownership.Timeline
	Gate     *outage.Gate // shut while this agent may not fetch
	Log      *slog.Logger
	Least    int         // agents that begin a crawl
	HasEnded func() bool // the crawl has ended
	HasLeft  func() bool // this agent has left permanently
	// Retry waits until the disk takes what failed with err.
	Retry func(ctx context.Context, err error) error
}

// majority is the quorumRule of an agent with --quorum.
type majority struct {
	o     majorityOptions
	node  *consensus.Node
	views chan struct{} // capacity 1: another view may be there

	acting position // Propose's: of the view that this agent acts by

	isStarted  bool   // FollowLease's: the node was started
	shutReason string // FollowLease's: why the gate is shut; empty if it is open
	isShort    bool   // FollowLease's: the log says that too few agents answer

	mu        sync.Mutex
	refused   map[string]time.Time           // guarded by mu: when agents refused a message, by instance
	exchanges map[*cluster.Exchange]struct{} // guarded by mu: in flight
	cancelled int64                          // guarded by mu: how many of them were cancelled
}

// position is the place of a view in the order of all views: see consensus.Node.View.
type position struct {
	index uint64
	count int
}

// openMajority makes an agent ask for a lease to fetch. The gate is shut until it has one.
func openMajority(o majorityOptions) (q *majority, err error) {
	q = &majority{
		o: o, views: make(chan struct{}, 1), shutReason: waitsToBegin,
		refused: map[string]time.Time{}, exchanges: map[*cluster.Exchange]struct{}{},
	}
	q.node, err = consensus.Open(consensus.Options{
		FS: o.FS, File: consensusFile(o.Dir), Self: o.Self, Ask: q.askOther, Log: o.Log, Retry: o.Retry,
	})
	if err != nil {
		return nil, err
	}
	o.Gate.Shut(q.shutReason)
	return q, nil
}

// askOther brings a message to another agent. An agent without --quorum is not asked again for a while: it would ban
// this one.
func (q *majority) askOther(ctx context.Context, instance string, content []byte) ([]byte, error) {
	q.mu.Lock()
	refused := time.Since(q.refused[instance]) < refusedTime
	q.mu.Unlock()
	if refused {
		return nil, peering.ErrMalformed
	}
	id := ownership.AgentID(instance)
	answer, err := q.o.Network.Ask(ctx, id, append([]byte{message.QuestionConsensus}, content...))
	if errors.Is(err, peering.ErrMalformed) {
		q.mu.Lock()
		defer q.mu.Unlock()
		if _, known := q.refused[instance]; !known {
			q.o.Log.Warn("another agent runs without --quorum: give it to all agents of a crawl, or to none",
				"agent", id, "error", err)
		}
		q.refused[instance] = time.Now()
	}
	return answer, err
}

// Answer implements quorumRule.
func (q *majority) Answer(ctx context.Context, from string, content []byte) ([]byte, error) {
	return q.node.Answer(ctx, from, content)
}

// Changed implements quorumRule.
func (q *majority) Changed() <-chan struct{} { return q.views }

// isIn says that this agent is among some.
func (q *majority) isIn(members []ownership.Agent) bool {
	return slices.Contains(ownership.Instances(members), q.o.Self)
}

// Propose implements quorumRule. The agreed view counts if this agent is a member of it, or has asked to be left out.
func (q *majority) Propose(p proposal) (a agreement, ok bool) {
	index, count, content := q.node.View()
	at := position{index, count}
	agreed, err := ownership.DecodeAgreed(content)
	counts := index > 0 && err == nil && (q.isIn(agreed.Members) || p.IsLeaving)
	wish := consensus.Wish{Present: ownership.Instances(q.o.Network.Agents()), Base: at.index}
	if counts {
		wish.Base = q.acting.index // the proposal was made under this view
	}
	if p.IsComplete {
		wish.View = p.Encode()
		if q.mayBegin(p.Members, p.HasBegun) {
			wish.Found = ownership.Instances(p.Members)
		}
	}
	q.node.Wish(wish)
	if !counts {
		return agreement{}, false
	}
	a = agreement{Agreed: agreed}
	was := q.acting
	if at.index == was.index {
		a.LeavingAgents = nil // it has been told
	} else {
		a.MissedView = at.count != was.count+1 && was.index != 0
		notify.Send(q.views) // the agent must look at the others again under this view
	}
	q.acting = at
	return a, true
}

// mayBegin says that some agents may begin the crawl, if no others have: they are as many as begin a crawl, or a
// majority of those that have begun it without a quorum.
func (q *majority) mayBegin(members []ownership.Agent, hasBegun bool) bool {
	if !hasBegun {
		return len(members) >= q.o.Least
	}
	known := q.o.Views.Load().Instances
	here := slices.DeleteFunc(ownership.Instances(members),
		func(instance string) bool { return !slices.Contains(known, instance) })
	return 2*len(here) > len(known)
}

// HasBegun implements quorumRule.
func (q *majority) HasBegun() (begun, isKnown bool) {
	_, _, content := q.node.View()
	agreed, err := ownership.DecodeAgreed(content)
	return err == nil && q.isIn(agreed.Members), true
}

// ActByAgreed implements quorumRule. Exchanges with hosts that another agent owns now are cancelled.
func (q *majority) ActByAgreed() {
	q.cancelUnless(q.o.Views.Load().Owns)
	q.node.Acts(q.acting.index)
}

// MayFetch implements quorumRule.
func (q *majority) MayFetch() bool { return q.node.Holds(time.Now()) > 0 }

// FollowLease implements quorumRule.
func (q *majority) FollowLease(ctx context.Context) error {
	if err := q.node.Start(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	q.isStarted = true
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	leaseEnd := time.NewTimer(time.Second)
	defer leaseEnd.Stop()
	for last := uint64(0); ; {
		select {
		case <-tick.C:
		case <-leaseEnd.C:
		case <-q.node.Changed():
			if index, _, _ := q.node.View(); index != last {
				last = index
				notify.Send(q.views)
			}
		case <-ctx.Done():
			return nil
		}
		if q.o.HasEnded() {
			q.o.Gate.Open(q.shutReason)
			return nil
		}
		left := q.node.Holds(time.Now())
		if left > 0 {
			leaseEnd.Reset(left)
		} else {
			q.cancelUnless(func([]byte) bool { return false })
		}
		q.setGate(left > 0)
	}
}

// Stop implements quorumRule. It ends the node, and is called after FollowLease has returned.
func (q *majority) Stop(ctx context.Context) {
	if !q.isStarted {
		return
	}
	if !q.o.HasEnded() {
		limit, refused := leaveTime, "the other agents could not agree to go on without this one"
		if q.o.HasLeft() {
			limit = leftTime
			refused += ", and may wait for it: start it again, and it leaves when most of them answer"
		}
		ctx, end := context.WithTimeout(ctx, limit)
		if err := q.node.Leave(ctx); err != nil {
			q.o.Log.Warn(refused, "error", err)
		}
		end()
	}
	if err := q.node.Close(); err != nil {
		q.o.Log.Warn("the consensus of the agents could not be closed", "error", err)
	}
}

// setGate opens the gate if this agent may fetch, else shuts it, and logs why.
func (q *majority) setGate(mayFetch bool) {
	reason, isShort := "", false
	if !mayFetch {
		reason, isShort = q.waitReason()
	}
	if reason != q.shutReason {
		if reason != "" {
			q.o.Gate.Shut(reason)
		}
		if q.shutReason != "" {
			q.o.Gate.Open(q.shutReason)
		}
		q.shutReason = reason
	}
	if isShort == q.isShort {
		return
	}
	q.isShort = isShort
	if isShort {
		q.o.Log.Warn(reason + ": nothing is fetched until more do")
	} else {
		q.o.Log.Info("a majority of the agents of this crawl answer again")
	}
}

// waitReason says why this agent may not fetch; isShort says that too few agents answer.
func (q *majority) waitReason() (reason string, isShort bool) {
	voters, heard := q.node.Voters(), q.node.Heard(time.Now())
	if len(voters) == 0 {
		return waitsToBegin, false
	}
	silent := slices.DeleteFunc(slices.Clone(voters),
		func(instance string) bool { return slices.Contains(heard, instance) })
	if 2*len(silent) < len(voters) {
		return waitsForViews, false
	}
	names := strings.Join(ownership.AgentIDs(silent), ", ")
	return "fewer than a majority of the agents of this crawl answer: not " + names, true
}

// Report implements quorumRule.
func (q *majority) Report(now time.Time) *cluster.QuorumReport {
	q.mu.Lock()
	defer q.mu.Unlock()
	return &cluster.QuorumReport{
		HasLease: q.node.Holds(now) > 0, ExchangesAborted: q.cancelled,
		Reachable: ownership.AgentIDs(q.node.Heard(now)), Voters: ownership.AgentIDs(q.node.Voters()),
	}
}

// BeginExchange implements quorumRule. The exchange is cancelled at once if it must not begin.
func (q *majority) BeginExchange(x *cluster.Exchange, site []byte) context.Context {
	x.Site = site
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.MayFetch() || !q.o.Views.Load().Owns(site) || !q.o.Views.NotBefore(site).IsZero() {
		x.Cancel()
		return x.Context
	}
	q.exchanges[x] = struct{}{}
	return x.Context
}

// EndExchange implements quorumRule.
func (q *majority) EndExchange(x *cluster.Exchange) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.exchanges, x)
}

// cancelUnless cancels the exchanges in flight with the sites for which keeps is false.
func (q *majority) cancelUnless(keeps func(site []byte) bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for x := range q.exchanges {
		if !keeps(x.Site) {
			x.Cancel()
			delete(q.exchanges, x)
			q.cancelled++
		}
	}
}

// quorumRule is the majority's part in what an agent does.
type quorumRule interface {
	// Propose says how the agent sees the others, and returns what is agreed on; ok is false if the agent must go on as
	// it did.
	Propose(p proposal) (a agreement, ok bool)
	// ActByAgreed says that the agent has put the last agreed view in force.
	ActByAgreed()
	// Changed receives when another view may have been agreed on.
	Changed() <-chan struct{}
	// HasBegun says that this agent is a member of an agreed view. Without --quorum isKnown is false: the other agents
	// must be asked.
	HasBegun() (begun, isKnown bool)
	// MayFetch says that this agent may fetch.
	MayFetch() bool
	// BeginExchange and EndExchange are those of cluster.VisitGate.
	BeginExchange(x *cluster.Exchange, site []byte) context.Context
	EndExchange(x *cluster.Exchange)
	// Answer answers a message of another agent's consensus.
	Answer(ctx context.Context, from string, content []byte) ([]byte, error)
	// FollowLease follows whether this agent may fetch, until ctx ends or the crawl has ended.
	FollowLease(ctx context.Context) error
	// Stop has the others go on without this agent, which fetches nothing any more.
	Stop(ctx context.Context)
	// Report is what the operator is told; nil without --quorum.
	Report(now time.Time) *cluster.QuorumReport
}

// proposal is how an agent sees the others.
type proposal struct {
	ownership.Agreed

	IsComplete bool // enough agents are there to go by Members
	HasBegun   bool // the crawl had begun, in this run or before
	IsLeaving  bool // this agent has told the others that it leaves
}

// agreement is what an agent must go by. LeavingAgents are those of a view that is new to the agent: before it goes by
// the view it must know that they leave, or it would take them for lost. The leader may have heard it first.
type agreement struct {
	ownership.Agreed

	// MissedView says that other views may have been in force since the last one: other agents may have had the hosts
	// of this one, and have their pages.
	MissedView bool
}

// noQuorum is a crawl without --quorum: the agent goes by what it sees.
type noQuorum struct{}

// Propose implements quorumRule.
func (noQuorum) Propose(p proposal) (a agreement, ok bool) {
	p.LeavingAgents = nil // this agent knows it
	return agreement{Agreed: p.Agreed}, p.IsComplete
}

// ActByAgreed implements quorumRule.
func (noQuorum) ActByAgreed() {}

// Changed implements quorumRule.
func (noQuorum) Changed() <-chan struct{} { return nil }

// HasBegun implements quorumRule.
func (noQuorum) HasBegun() (begun, isKnown bool) { return false, false }

// MayFetch implements quorumRule.
func (noQuorum) MayFetch() bool { return true }

// BeginExchange implements quorumRule.
func (noQuorum) BeginExchange(x *cluster.Exchange, _ []byte) context.Context { return x.Context }

// EndExchange implements quorumRule.
func (noQuorum) EndExchange(*cluster.Exchange) {}

// Answer implements quorumRule.
func (noQuorum) Answer(_ context.Context, from string, _ []byte) ([]byte, error) {
	return nil, fmt.Errorf("%w: %q runs with --quorum, and this agent without", peering.ErrMalformed, from)
}

// FollowLease implements quorumRule.
func (noQuorum) FollowLease(context.Context) error { return nil }

// Stop implements quorumRule.
func (noQuorum) Stop(context.Context) {}

// Report implements quorumRule.
func (noQuorum) Report(time.Time) *cluster.QuorumReport { return nil }

// consensusFile is the file that keeps what this agent has promised, in the directory of the frontier. It is no part of
// a checkpoint: what was said to others must not be forgotten.
func consensusFile(dir string) string { return dir + "/consensus" }

// forgetPromises removes what an agent promised in a run with --quorum.
func forgetPromises(fsys vfs.FS, dir string) error {
	return vfs.RemoveIfExists(fsys, consensusFile(dir))
}
