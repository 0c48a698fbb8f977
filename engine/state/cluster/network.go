package cluster

import (
	"context"
	"errors"
	"time"

	"orbweaver/engine/peering/ownership"
)

// Network is the way to the other agents of a crawl. It knows which agents are there, and carries bytes. What the bytes
// mean and which agent owns a host is not its business.
type Network interface {
	// Self is the ID of this agent.
	Self() string
	// Agents are those that are there, this agent among them, in the order of their IDs. The slice is never changed.
	Agents() []ownership.Agent
	// Changed receives when Agents has changed. Ask for it again after Join.
	Changed() <-chan struct{}
	// KnownAgents are the agents that are or were there, for the operator, in the order of their IDs.
	KnownAgents() []KnownAgent
	// Lost is closed when this agent cannot go on in the cluster, since another process has its ID. Err says why. Ask
	// for it again after Join.
	Lost() <-chan struct{}
	// Err is why this agent was lost; nil if it was not.
	Err() error
	// Join makes this agent known to the others. store tells its data from others that it may have had under its ID;
	// server answers for it. Join is called once, and does not wait for other agents. Until then Agents is this agent
	// alone, and messages and questions of other agents fail.
	Join(ctx context.Context, store uint64, server Handler) error
	// Leave tells the other agents that this one stops in order. It is called once, when nothing is sent any more;
	// messages and questions may still come until it returns.
	Leave(ctx context.Context) error
	// Send returns nil when a message is durable at another agent. After an error that agent may have it or not. No two
	// messages have the same sequence. A repeated message keeps its own, and is recognized. Send borrows the message,
	// and may be called many times at once. Its error is what the other agent said: peering.ErrMalformed,
	// peering.ErrBanned or a *peering.WaitError.
	Send(ctx context.Context, to string, sequence uint64, message []byte) error
	// Ask puts a question to another agent.
	Ask(ctx context.Context, to string, question []byte) (answer []byte, err error)
}

// AgentState is the state of an agent, as membership has it.
type AgentState string

// The states of agents.
const (
	AgentAlive     AgentState = "alive"
	AgentSuspected AgentState = "suspected" // it does not answer, and has some seconds to do so
	AgentDead      AgentState = "dead"
	AgentLeft      AgentState = "left"     // in order
	AgentUnproven  AgentState = "unproven" // it has not proved its ID by a certificate, and does not count
)

// KnownAgent is an agent that is or was there.
type KnownAgent struct {
	ownership.Agent
	State     AgentState
	ChangedAt time.Time // when this agent saw it arrive; if it is not there any more, when it saw it go
}

// Handler is what an agent does for others. Its methods are safe for concurrent use.
type Handler interface {
	// HandleMessage takes a message, which it borrows. When it returns nil, what the message says is durable. A
	// *peering.WaitError says that the sender must wait before it sends the message again, peering.ErrMalformed that it
	// never should, and peering.ErrBanned that nothing of the sender is taken for a time.
	HandleMessage(ctx context.Context, from string, message []byte) error
	// HandleQuestion answers a question.
	HandleQuestion(ctx context.Context, from string, question []byte) ([]byte, error)
}

// ErrLost says that a crawl has ended in order because this agent cannot go on in the cluster.
var ErrLost = errors.New("cluster: this agent cannot go on beside the others")

// ErrClosing says that this agent takes no messages now.
var ErrClosing = errors.New("cluster: this agent accepts no messages now")

// Reasons why an agent cannot leave permanently, beside ErrNoAgents.
var (
	// ErrNoAgentStays says that there is no agent that could take the hosts.
	ErrNoAgentStays = errors.New(
		"cluster: no other agent remains that could take the hosts of this agent: stop it, or wait for another agent")
	// ErrLeaveUnknown says that another agent cannot read the message about leaving.
	ErrLeaveUnknown = errors.New(
		"cluster: another agent has a version without permanent leaving: stop this agent instead")
)

// ErrEnding says that the crawl ends: URLs that arrive now would be lost.
var ErrEnding = errors.New("cluster: the crawl is stopping and takes no URLs")

// Holder is the agent that has the page of a URL.
type Holder struct {
	Instance string    // of this agent, now or before, or of another; empty if none is known
	RetryAt  time.Time // when to ask again, since an agent that may have the page has not answered; zero for no need
}

// Exchange cancels the exchange of a fetch worker when its agent may not go on with it: not at all, not with this site,
// or not with this address. One Exchange serves the exchanges of a worker one after the other, since a Fetcher is
// faster with one context than with many.
type Exchange struct {
	Context context.Context //nolint:containedctx // of the exchanges of one worker, until one is cancelled
	Cancel  context.CancelFunc
	Site    []byte // of the exchange in flight
}

// Open makes it ready for another exchange, and returns the function that cancels that exchange.
func (x *Exchange) Open(ctx context.Context) context.CancelFunc {
	if x.Context == nil || x.Context.Err() != nil {
		x.Context, x.Cancel = context.WithCancel(ctx)
	}
	return x.Cancel
}

// Close frees the context.
func (x *Exchange) Close() {
	if x.Cancel != nil {
		x.Cancel()
	}
}
