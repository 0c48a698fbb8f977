package agent

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/cluster/leave"
	"orbweaver/engine/cluster/payloads"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/engine/store/manifest"
	"orbweaver/internal/outcome"
	"orbweaver/warc"
)

// roles are the roles of the cluster that package engine/state/cluster names, except those below.
type roles struct{ *agent }

// endRole is cluster.Termination, except AwaitsRobots.
type endRole struct{ of *agent }

// robotsRole is cluster.RobotsRouter, and AwaitsRobots.
type robotsRole struct{ of *agent }

// urlRole is cluster.URLQuestions.
type urlRole struct{ of *agent }

// payloadRole is cluster.PayloadSharing.
type payloadRole struct{ of *agent }

// participant has all roles, and is the life of this agent in the cluster.
type participant struct {
	roles
	endRole
	robotsRole
	urlRole
	payloadRole
}

// Views implements cluster.Router.
func (p roles) Views() *ownership.Current { return &p.views.Current }

// WaitRoom implements cluster.Router.
func (p roles) WaitRoom(ctx context.Context) error { return p.router.waitRoom(ctx) }

// Route implements cluster.Router and cluster.VisitGate.
func (p roles) Route(scratch []byte, it *queued.URL) []byte { return p.router.route(scratch, it) }

// RouteRecovered implements cluster.VisitGate.
func (p roles) RouteRecovered(instance string, it *queued.URL) { p.router.routeRecovered(instance, it) }

// Owns implements cluster.VisitGate.
func (p roles) Owns(site []byte) bool { return p.views.Load().Owns(site) }

// NotBefore implements cluster.VisitGate.
func (p roles) NotBefore(site []byte) time.Time { return p.views.NotBefore(site) }

// Recover implements cluster.VisitGate.
func (p roles) Recover(ctx context.Context, site []byte, items [][]byte) ([]cluster.Holder, error) {
	return p.pages.Recover(ctx, site, items)
}

// NoteAnswered implements cluster.VisitGate.
func (p roles) NoteAnswered(o outcome.Outcome, url []byte) { p.pages.NoteAnswered(o, url) }

// AcquireAddress implements cluster.VisitGate.
func (p roles) AcquireAddress(
	ctx context.Context, stopping <-chan struct{}, addr netip.Addr, x *cluster.Exchange,
) (granted bool, retryAt time.Time) {
	return p.leases.Acquire(ctx, stopping, addr, x.Open(ctx))
}

// ReleaseAddress implements cluster.VisitGate.
func (p roles) ReleaseAddress(addr netip.Addr, due time.Time, soon bool) {
	p.leases.Release(addr, due, soon)
}

// SharesAddresses implements cluster.VisitGate.
func (p roles) SharesAddresses() bool { return true }

// BeginExchange implements cluster.VisitGate.
func (p roles) BeginExchange(_ context.Context, x *cluster.Exchange, site []byte) context.Context {
	return p.quorum.BeginExchange(x, site)
}

// EndExchange implements cluster.VisitGate.
func (p roles) EndExchange(x *cluster.Exchange) { p.quorum.EndExchange(x) }

// SendRedirect implements cluster.RobotsRouter.
func (p robotsRole) SendRedirect(r *site.RobotsRedirect) bool {
	return p.of.hosts.robots.SendRedirect(r)
}

// SendResult implements cluster.RobotsRouter.
func (p robotsRole) SendResult(r *site.RobotsResult) bool { return p.of.hosts.robots.SendResult(r) }

// AwaitsRobots implements cluster.Termination.
func (p robotsRole) AwaitsRobots() bool { return p.of.hosts.robots.AwaitsRobots() }

// AskAboutURL implements cluster.URLQuestions.
func (p urlRole) AskAboutURL(ctx context.Context, agent string, url []byte) ([]byte, error) {
	return p.of.server.urls.ask(ctx, agent, url)
}

// AnswerAboutURL implements cluster.URLQuestions.
func (p urlRole) AnswerAboutURL(answer cluster.AnswerAboutURL) { p.of.server.urls.answer = answer }

// FindPayload implements cluster.PayloadSharing.
func (p payloadRole) FindPayload(
	ctx context.Context, digest dedup.Digest, size int64,
) (cluster.PayloadRecord, bool, error) {
	return p.of.files.others.Find(ctx, digest, size)
}

// GiveSites implements cluster.Handoff.
func (p roles) GiveSites(now time.Time) (more bool, err error) {
	if err := p.hosts.robots.GiveUpOverdue(now); err != nil {
		return false, err
	}
	return p.hosts.handoff.Step(now)
}

// Ended implements cluster.Termination.
func (p endRole) Ended() <-chan struct{} { return p.of.end.Ended() }

// Maintain implements cluster.FetchedLog.
func (p roles) Maintain() error { return p.files.fetched.Maintain() }

// NoteRebuilt implements cluster.FetchedLog.
func (p roles) NoteRebuilt(o outcome.Outcome, fp xxh3.Uint128) {
	if o.Class() == outcome.ClassAnswer {
		p.files.fetched.Add(fp)
	}
}

// MarkState implements cluster.CheckpointPart.
func (p roles) MarkState() (*cluster.Checkpoint, []byte, error) { return p.markState() }

// Sync implements cluster.CheckpointPart.
func (p roles) Sync() error { return errors.Join(p.files.outbox.Sync(), p.files.fetched.Sync()) }

// Release implements cluster.CheckpointPart.
func (p roles) Release(state *cluster.Checkpoint) error {
	p.files.stored.Publish()
	return errors.Join(p.files.outbox.Release(state.Outbox), p.files.fetched.Release(state.Fetched))
}

// Connect implements Participant.
func (p participant) Connect(parts Parts) { p.connect(parts) }

// Resume implements Participant.
func (p participant) Resume(m *manifest.Manifest, resumed bool) error {
	if err := p.openQuorum(p.parts.FS, p.parts.Dir+"/"+layout.FrontierDir); err != nil {
		return err
	}
	if err := errors.Join(p.files.others.Open(), p.begin(m.Peers, resumed)); err != nil {
		return err
	}
	p.files.stored.Restore(m.Seen.Length)
	p.superseded.restore(m)
	return nil
}

// BeginRebuilt implements Participant.
func (p participant) BeginRebuilt() error {
	if err := p.begin(nil, true); err != nil {
		return err
	}
	p.superseded.temporarySince = new(warc.Checkpoint) // when this agent was a temporary owner is not in the archive
	return nil
}

// Depart implements Participant.
func (p participant) Depart(ctx context.Context, d *leave.Departure) error {
	err := d.Run(ctx, leave.Agent{
		Register: p.leaving, Views: p.views, Outbox: p.files.outbox, Fetched: p.files.fetched,
		HashSeed: p.parts.Frontier.HashSeed, Joined: p.joinedSignal, WaitRoom: p.router.waitRoom,
		AcceptMessages: p.server.acceptMessages,
	})
	if err == nil {
		p.history.hasLeft.Store(true)
	}
	return err
}

// IsShared implements cluster.Member.
func (p participant) IsShared() bool { return true }

// Replay implements cluster.Member.
func (p participant) Replay(message []byte, age time.Duration) error {
	return p.server.items.takeAll(message, origin{delay: age})
}

// WaitBegun implements cluster.Member.
func (p participant) WaitBegun(ctx context.Context) error { return p.parts.Gate.Wait(ctx) }

// Start implements cluster.Member.
func (p participant) Start(ctx context.Context, start func(loop string, run func() error)) {
	p.server.acceptMessages(true)
	f := p.newFollower()
	if p.files.others.IsOn() {
		start("payloads", func() error {
			return p.parts.Journal.Disk.Every(ctx, payloads.Period, func() error { return p.files.others.Refresh(ctx) })
		})
	}
	start("agents", func() error { return f.run(ctx) })
	start("termination", func() error { p.end.Run(ctx); return nil })
	start("leases", func() error { return p.leases.Run(ctx) })
	start("quorum", func() error { return p.quorum.FollowLease(ctx) })
}

// Begin implements cluster.Member.
func (p participant) Begin(state *cluster.Checkpoint, resumed bool) error {
	return p.begin(state, resumed)
}

// AcceptMessages implements cluster.Member.
func (p participant) AcceptMessages(accept bool) { p.server.acceptMessages(accept) }

// Report implements cluster.Member.
func (p participant) Report(c *counters.Totals) *cluster.StatusReport { return p.report(c) }

// Leave implements cluster.Member.
func (p participant) Leave() { p.leaving.Leave() }

// MayLeave implements cluster.Member.
func (p participant) MayLeave(ctx context.Context) error { return p.leaving.MayLeave(ctx) }

// IsLeaving implements cluster.Member.
func (p participant) IsLeaving() bool { return p.leaving.IsLeaving() }

// IsOver implements cluster.Member.
func (p participant) IsOver() bool { return p.end.HasEnded() }

// Stop implements cluster.Member.
func (p participant) Stop(ctx context.Context) error {
	p.quorum.Stop(ctx)
	if err := p.network.Leave(ctx); err != nil {
		return fmt.Errorf("agent: agents: %w", err)
	}
	return nil
}

// Close implements cluster.Member.
func (p participant) Close() error {
	return errors.Join(p.files.outbox.Close(), p.files.fetched.Close(), p.files.others.Close())
}

// EndReason implements cluster.Termination.
func (p endRole) EndReason() string { return p.of.end.EndReason() }

// StepCount implements cluster.Termination.
func (p endRole) StepCount() int64 { return p.of.end.StepCount() }

// NegotiateEnd implements cluster.Termination.
func (p endRole) NegotiateEnd(wait time.Duration, reason string, busy bool, steps int64) (time.Duration, string) {
	return p.of.end.NegotiateEnd(wait, reason, busy, steps)
}
