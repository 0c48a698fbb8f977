package cluster

import (
	"context"
	"net/netip"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/internal/outcome"
)

// Router sends queued URLs to the agents that own them.
type Router interface {
	// WaitRoom waits while the backlog is in memory because the disk is full.
	WaitRoom(ctx context.Context) error
	// Route sends a URL, whole in it.Rest, to the agent that owns it. If that is this agent now, the URL passes
	// admission again. Route returns scratch, perhaps grown. It is called within a step.
	Route(scratch []byte, it *queued.URL) []byte
	// RouteRecovered notes that an agent has the page of a URL, so that this one does not fetch it. If that agent is
	// lost, the URL is routed again.
	RouteRecovered(instance string, it *queued.URL)
}

// VisitGate decides whether an exchange of this agent may begin.
type VisitGate interface {
	// Owns says that this agent owns a site.
	Owns(site []byte) bool
	// NotBefore is when a site may be visited that another agent owned recently; zero if it may be visited now.
	NotBefore(site []byte) time.Time
	// Recover says of each item of a Visit which agent has its page already. It is nil if no agent can have one.
	Recover(ctx context.Context, site []byte, items [][]byte) ([]Holder, error)
	// AcquireAddress asks for the lease of an address. If it is not granted, retryAt is when to ask again. The exchange
	// is cancelled when the lease ends.
	AcquireAddress(
		ctx context.Context, stopping <-chan struct{}, addr netip.Addr, x *Exchange,
	) (granted bool, retryAt time.Time)
	// ReleaseAddress ends a lease that was granted. due is when the address may be contacted again; soon says that this
	// agent will do so.
	ReleaseAddress(addr netip.Addr, due time.Time, soon bool)
	// SharesAddresses says that other agents may have contacted an address meanwhile.
	SharesAddresses() bool
	// BeginExchange begins an exchange with a site after AcquireAddress, and returns its context, which ends when this
	// agent may not go on with it. EndExchange ends it.
	BeginExchange(ctx context.Context, x *Exchange, site []byte) context.Context
	EndExchange(x *Exchange)
	// Route and RouteRecovered are those of Router.
	Route(scratch []byte, it *queued.URL) []byte
	RouteRecovered(instance string, it *queued.URL)
	// NoteAnswered notes the outcome of a URL.
	NoteAnswered(o outcome.Outcome, url []byte)
}

// RobotsRouter carries redirects of a robots.txt to the agent that owns their target, and the result back.
type RobotsRouter interface {
	// SendRedirect gives a redirect to the agent that owns its target, and says whether that is another agent.
	SendRedirect(r *site.RobotsRedirect) bool
	// SendResult gives the result to the agent that owns the site that waits, and says whether that is another agent.
	SendResult(r *site.RobotsResult) bool
}

// Handoff gives sites to their new owners.
type Handoff interface {
	// GiveSites does a part of it in a step, and says whether there is more to do now.
	GiveSites(now time.Time) (more bool, err error)
	// GiveDepth tells the agent that owns a URL what the order of visits knows of its host.
	GiveDepth(url []byte)
}

// Termination detects that no agent has anything left to do.
type Termination interface {
	EndDetector
	// AwaitsRobots says that a site waits for a robots.txt that another agent fetches.
	AwaitsRobots() bool
}

// EndDetector decides together with the other agents that the crawl is over.
type EndDetector interface {
	// Ended is closed when the crawl is over and all agents know it.
	Ended() <-chan struct{}
	// EndReason is why the crawl has ended, once Ended is closed.
	EndReason() string
	// StepCount grows with every step that could give an agent something to do.
	StepCount() int64
	// NegotiateEnd is told what the distributor would do, at a step count: wait, or end for a reason. It returns what
	// the distributor does. busy says that the workbench has items, though all URLs have their outcome.
	NegotiateEnd(wait time.Duration, reason string, busy bool, steps int64) (time.Duration, string)
}

// FetchedLog notes which URLs have an answer, for page recovery.
type FetchedLog interface {
	// NoteAnswered notes the outcome of a URL, in the step that counts it.
	NoteAnswered(o outcome.Outcome, url []byte)
	// Maintain does a share of the upkeep. It is called outside of a step.
	Maintain() error
	// NoteRebuilt is NoteAnswered for a rebuild, which knows the fingerprint alone.
	NoteRebuilt(o outcome.Outcome, fp xxh3.Uint128)
}

// CheckpointPart is the cluster's part of a checkpoint.
type CheckpointPart interface {
	// MarkState marks the state while all steps stand still. image is written to a file of the checkpoint; a nil state
	// says that there is none.
	MarkState() (state *Checkpoint, image []byte, err error)
	// Sync makes durable what the state names.
	Sync() error
	// Release frees what only checkpoints before the state needed.
	Release(state *Checkpoint) error
}

// AnswerAboutURL answers another agent what this one knows about a URL.
type AnswerAboutURL func(ctx context.Context, url []byte) ([]byte, error)

// Limits of the question about a URL.
const (
	URLPatience  = 5 * time.Second // how long its answer is waited for
	URLAnswerMax = 256 << 10       // bytes of an answer
)

// URLQuestions carries the question of an operator what another agent knows about a URL. What the answers mean is the
// business of package operator.
type URLQuestions interface {
	// AskAboutURL asks an agent. It waits for URLPatience at most.
	AskAboutURL(ctx context.Context, agent string, url []byte) (answer []byte, err error)
	// AnswerAboutURL sets what answers the questions of other agents. It is called once, before Start.
	AnswerAboutURL(answer AnswerAboutURL)
}

// PayloadRecord is the record of another agent that has a payload.
type PayloadRecord struct {
	dedup.First

	Agent  string // ID of the agent
	File   string // WARC file, without directory
	Offset int64  // of the record in it, in bytes
}

// PayloadSharing finds payloads that other agents have stored.
type PayloadSharing interface {
	// FindPayload finds the record of another agent with a payload of some bytes. It waits for a quarter of a second at
	// most. An error is that of the disk of this agent.
	FindPayload(ctx context.Context, digest dedup.Digest, size int64) (r PayloadRecord, ok bool, err error)
}

// Member is the life of this agent in the cluster.
type Member interface {
	// IsShared says that the crawl may have other agents.
	IsShared() bool
	// Views holds the ownership view in force. It changes only while all steps of the journal stand still.
	Views() *ownership.Current
	// Begin takes up the state of the last checkpoint, nil for none. resumed says that this agent was a member before.
	Begin(state *Checkpoint, resumed bool) error
	// Replay does again what a message of the journal did, which came longer ago by age than its content says.
	Replay(message []byte, age time.Duration) error
	// WaitBegun waits until the crawl begins: until it is known which agents there are.
	WaitBegun(ctx context.Context) error
	// Start begins to take messages and starts the loops of the cluster, which end with ctx.
	Start(ctx context.Context, start func(loop string, run func() error))
	// AcceptMessages says whether messages of other agents are taken.
	AcceptMessages(accept bool)
	// Leave begins to leave permanently; MayLeave says why this agent may not. IsLeaving says that it has begun to.
	Leave()
	MayLeave(ctx context.Context) error
	IsLeaving() bool
	// IsOver says that all agents have found out that the crawl is over.
	IsOver() bool
	// Stop tells the other agents that this one stops, when all is on disk.
	Stop(ctx context.Context) error
	// Report is what an operator may read; nil for a crawl with one agent.
	Report(c *counters.Totals) *StatusReport
	// Close closes the files.
	Close() error
}

// Agent is all that a cluster is to the engine of one agent.
type Agent interface {
	Router
	VisitGate
	RobotsRouter
	Handoff
	Termination
	FetchedLog
	CheckpointPart
	URLQuestions
	PayloadSharing
	Member
}
