package cluster

import (
	"context"
	"errors"
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

// ErrNoAgents says that an agent cannot leave a crawl that has no other agents.
var ErrNoAgents = errors.New("cluster: this crawl has no other agents: end it with stop")

// errForeignMessage says that the journal of a crawl with one agent has a message.
var errForeignMessage = errors.New("cluster: the journal has a message of another agent")

// Alone is the cluster of a crawl with one agent, which owns every host.
type Alone struct {
	noRouting
	openGate
	localEnd
	noFiles
	soleMember
}

// The parts of Alone.
type (
	noRouting  struct{}
	openGate   struct{}
	localEnd   struct{}
	noFiles    struct{}
	soleMember struct{}
)

var _ Agent = Alone{}

// Views implements Router.
func (noRouting) Views() *ownership.Current {
	c := new(ownership.Current)
	c.Store(ownership.Alone())
	return c
}

// WaitRoom implements Router.
func (noRouting) WaitRoom(context.Context) error { return nil }

// Route implements Router. It is never called, since this agent owns every URL.
func (noRouting) Route(scratch []byte, _ *queued.URL) []byte { return scratch }

// Owns implements VisitGate.
func (openGate) Owns([]byte) bool { return true }

// NotBefore implements VisitGate.
func (openGate) NotBefore([]byte) time.Time { return time.Time{} }

// Recover implements VisitGate.
func (openGate) Recover(context.Context, []byte, [][]byte) ([]Holder, error) { return nil, nil }

// AcquireAddress implements VisitGate.
func (openGate) AcquireAddress(
	context.Context, <-chan struct{}, netip.Addr, *Exchange,
) (granted bool, retryAt time.Time) {
	return true, time.Time{}
}

// ReleaseAddress implements VisitGate.
func (openGate) ReleaseAddress(netip.Addr, time.Time, bool) {}

// SharesAddresses implements VisitGate.
func (openGate) SharesAddresses() bool { return false }

// BeginExchange implements VisitGate.
func (openGate) BeginExchange(ctx context.Context, _ *Exchange, _ []byte) context.Context { return ctx }

// EndExchange implements VisitGate.
func (openGate) EndExchange(*Exchange) {}

// RouteRecovered implements VisitGate.
func (noRouting) RouteRecovered(string, *queued.URL) {}

// NoteAnswered implements VisitGate and FetchedLog.
func (noFiles) NoteAnswered(outcome.Outcome, []byte) {}

// SendRedirect implements RobotsRouter.
func (noRouting) SendRedirect(*site.RobotsRedirect) bool { return false }

// SendResult implements RobotsRouter.
func (noRouting) SendResult(*site.RobotsResult) bool { return false }

// GiveSites implements Handoff.
func (noRouting) GiveSites(time.Time) (more bool, err error) { return false, nil }

// GiveDepth implements Handoff.
func (noRouting) GiveDepth([]byte) {}

// Ended implements Termination: the distributor ends the crawl.
func (localEnd) Ended() <-chan struct{} { return nil }

// EndReason implements Termination.
func (localEnd) EndReason() string { return "" }

// StepCount implements Termination.
func (localEnd) StepCount() int64 { return 0 }

// NegotiateEnd implements Termination.
func (localEnd) NegotiateEnd(wait time.Duration, reason string, _ bool, _ int64) (time.Duration, string) {
	return wait, reason
}

// AwaitsRobots implements Termination.
func (localEnd) AwaitsRobots() bool { return false }

// Maintain implements FetchedLog.
func (noFiles) Maintain() error { return nil }

// NoteRebuilt implements FetchedLog.
func (noFiles) NoteRebuilt(outcome.Outcome, xxh3.Uint128) {}

// MarkState implements CheckpointPart.
func (noFiles) MarkState() (state *Checkpoint, image []byte, err error) { return nil, nil, nil }

// Sync implements CheckpointPart.
func (noFiles) Sync() error { return nil }

// Release implements CheckpointPart.
func (noFiles) Release(*Checkpoint) error { return nil }

// AskAboutURL implements URLQuestions. It is never called, since this agent owns every URL.
func (soleMember) AskAboutURL(context.Context, string, []byte) ([]byte, error) {
	return nil, ErrNoAgents
}

// AnswerAboutURL implements URLQuestions.
func (soleMember) AnswerAboutURL(AnswerAboutURL) {}

// FindPayload implements PayloadSharing.
func (soleMember) FindPayload(context.Context, dedup.Digest, int64) (r PayloadRecord, ok bool, err error) {
	return r, false, nil
}

// IsShared implements Member.
func (soleMember) IsShared() bool { return false }

// Begin implements Member.
func (soleMember) Begin(*Checkpoint, bool) error { return nil }

// Replay implements Member.
func (soleMember) Replay([]byte, time.Duration) error { return errForeignMessage }

// WaitBegun implements Member.
func (soleMember) WaitBegun(context.Context) error { return nil }

// Start implements Member.
func (soleMember) Start(context.Context, func(loop string, run func() error)) {}

// AcceptMessages implements Member.
func (soleMember) AcceptMessages(bool) {}

// Leave implements Member.
func (soleMember) Leave() {}

// MayLeave implements Member.
func (soleMember) MayLeave(context.Context) error { return ErrNoAgents }

// IsLeaving implements Member.
func (soleMember) IsLeaving() bool { return false }

// IsOver implements Member.
func (soleMember) IsOver() bool { return false }

// Stop implements Member.
func (soleMember) Stop(context.Context) error { return nil }

// Report implements Member.
func (soleMember) Report(*counters.Totals) *StatusReport { return nil }

// Close implements Member.
func (noFiles) Close() error { return nil }
