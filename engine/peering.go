package engine

import (
	"context"
	"errors"
	"orbweaver/engine/cluster/ownership"
	"time"
)

// Peering is the seam to the other agents of a crawl. It knows who is there and carries bytes; what they mean, and who
// is responsible for which host, is the engine's business.
type Peering interface {
	// Self is the name of this agent.
	Self() string
	// Peers are those who are there, this agent among them, in the order of their names. The slice is never changed.
	Peers() []ownership.Agent
	// Changed is poked when Peers would say something else. It is asked for anew after Join.
	Changed() <-chan struct{}
	// Known are those who are there and those who were, for the operator, in the order of their names.
	Known() []KnownPeer
	// Lost is closed when this agent has no place among the others any more, since another has its name. Err says why.
	// It is asked for anew after Join.
	Lost() <-chan struct{}
	// Err is why this agent was lost; nil if it was not.
	Err() error
	// Join makes this agent known to the others, with the number that tells its data from others it may have had under
	// its name, and says who answers for it. It is called once, and does not wait for others. Until then Peers is this
	// agent alone, and letters and questions of others fail.
	Join(ctx context.Context, store uint64, server PeerServer) error
	// Leave tells the others that this agent goes, in good order. It is called once, when nothing is sent any more;
	// letters and questions may still come until it returns.
	Leave(ctx context.Context) error
	// Send returns nil when a message is durable at another agent. After an error that agent may have it or not. No two
	// messages have one sequence. A repeated message keeps its own, and is recognised. Send borrows the message, and may
	// be called many times at once. Its error says what the other agent said: ErrLetter, ErrBanned or a *WaitError.
	Send(ctx context.Context, to string, sequence uint64, letter []byte) error
	// Ask puts a question to another agent.
	Ask(ctx context.Context, to string, question []byte) (answer []byte, err error)
}

// PeerState is how an agent is.
type PeerState string

// The states of agents.
const (
	PeerAlive     PeerState = "alive"
	PeerSuspected PeerState = "suspected" // it does not answer, and has some seconds to say that it lives
	PeerDead      PeerState = "dead"
	PeerLeft      PeerState = "left"     // in good order
	PeerUnproven  PeerState = "unproven" // it says that it is there, and has not proved its name by a certificate: it does not count
)

// KnownPeer is an agent that is there or was.
type KnownPeer struct {
	ownership.Agent
	State PeerState
	Since time.Time // when this agent saw it come; or go, if it is not there any more
}

// PeerServer is what an agent does for others. Its methods are safe for concurrent use.
type PeerServer interface {
	// Letter takes a letter, which it borrows. When it returns nil, what the letter says is durable. A *WaitError says
	// that the sender is to wait before it sends it again, ErrLetter that it never should, and ErrBanned that nothing
	// of the sender is listened to for a while.
	Letter(ctx context.Context, from string, letter []byte) error
	// Answer answers a question.
	Answer(ctx context.Context, from string, question []byte) ([]byte, error)
}

// ErrLost says that a crawl has ended, in good order, since this agent has no place among the others.
var ErrLost = errors.New("engine: this agent cannot go on beside the others")

// ErrLetter says that a letter cannot be read: to send it again is no use.
var ErrLetter = errors.New("engine: a letter that cannot be read")

// ErrClosing says that this agent takes no letters any more, or not yet.
var ErrClosing = errors.New("engine: the crawl takes no letters now")
