package quorum

import (
	"context"
	"fmt"
	"time"

	"orbweaver/engine/peering"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
	"orbweaver/internal/vfs"
)

// Quorum is the majority's part in what an agent does.
type Quorum interface {
	// Propose says how the agent sees the others, and returns what is agreed on; ok is false if the agent must go on as
	// it did.
	Propose(p Proposal) (a Agreement, ok bool)
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

// Proposal is how an agent sees the others.
type Proposal struct {
	ownership.Agreed

	IsComplete bool // enough agents are there to go by Members
	HasBegun   bool // the crawl had begun, in this run or before
	IsLeaving  bool // this agent has told the others that it leaves
}

// Agreement is what an agent must go by. LeavingAgents are those of a view that is new to the agent: before it goes by
// the view it must know that they leave, or it would take them for lost. The leader may have heard it first.
type Agreement struct {
	ownership.Agreed

	// MissedView says that other views may have been in force since the last one: other agents may have had the hosts
	// of this one, and have their pages.
	MissedView bool
}

// None is a crawl without --quorum: the agent goes by what it sees.
type None struct{}

// Propose implements Quorum.
func (None) Propose(p Proposal) (a Agreement, ok bool) {
	p.LeavingAgents = nil // this agent knows it
	return Agreement{Agreed: p.Agreed}, p.IsComplete
}

// ActByAgreed implements Quorum.
func (None) ActByAgreed() {}

// Changed implements Quorum.
func (None) Changed() <-chan struct{} { return nil }

// HasBegun implements Quorum.
func (None) HasBegun() (begun, isKnown bool) { return false, false }

// MayFetch implements Quorum.
func (None) MayFetch() bool { return true }

// BeginExchange implements Quorum.
func (None) BeginExchange(x *cluster.Exchange, _ []byte) context.Context { return x.Context }

// EndExchange implements Quorum.
func (None) EndExchange(*cluster.Exchange) {}

// Answer implements Quorum.
func (None) Answer(_ context.Context, from string, _ []byte) ([]byte, error) {
	return nil, fmt.Errorf("%w: %q runs with --quorum, and this agent without", peering.ErrMalformed, from)
}

// FollowLease implements Quorum.
func (None) FollowLease(context.Context) error { return nil }

// Stop implements Quorum.
func (None) Stop(context.Context) {}

// Report implements Quorum.
func (None) Report(time.Time) *cluster.QuorumReport { return nil }

// consensusFile is the file that keeps what this agent has promised, in the directory of the frontier. It is no part of
// a checkpoint: what was said to others must not be forgotten.
func consensusFile(dir string) string { return dir + "/consensus" }

// Forget removes what an agent promised in a run with --quorum.
func Forget(fsys vfs.FS, dir string) error { return vfs.RemoveIfExists(fsys, consensusFile(dir)) }
