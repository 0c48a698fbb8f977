package agent

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/cluster/leave"
	"orbweaver/engine/cluster/payloads"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/manifest"
	"orbweaver/internal/outcome"
	"orbweaver/warc"
)

// Views implements cluster.Member.
func (p *agent) Views() *ownership.Current { return &p.views.Current }

// Owns implements cluster.VisitGate.
func (p *agent) Owns(site []byte) bool { return p.views.Load().Owns(site) }

// NotBefore implements cluster.VisitGate.
func (p *agent) NotBefore(site []byte) time.Time { return p.views.NotBefore(site) }

// Recover implements cluster.VisitGate.
func (p *agent) Recover(ctx context.Context, site []byte, items [][]byte) ([]cluster.Holder, error) {
	return p.pages.Recover(ctx, site, items)
}

// NoteAnswered implements cluster.VisitGate.
func (p *agent) NoteAnswered(o outcome.Outcome, url []byte) { p.pages.NoteAnswered(o, url) }

// AcquireAddress implements cluster.VisitGate.
func (p *agent) AcquireAddress(
	ctx context.Context, stopping <-chan struct{}, addr netip.Addr, x *cluster.Exchange,
) (granted bool, retryAt time.Time) {
	return p.leases.Acquire(ctx, stopping, addr, x.Open(ctx))
}

// ReleaseAddress implements cluster.VisitGate.
func (p *agent) ReleaseAddress(addr netip.Addr, due time.Time, soon bool) {
	p.leases.Release(addr, due, soon)
}

// SharesAddresses implements cluster.VisitGate.
func (p *agent) SharesAddresses() bool { return true }

// BeginExchange implements cluster.VisitGate.
func (p *agent) BeginExchange(_ context.Context, x *cluster.Exchange, site []byte) context.Context {
	return p.quorum.BeginExchange(x, site)
}

// EndExchange implements cluster.VisitGate.
func (p *agent) EndExchange(x *cluster.Exchange) { p.quorum.EndExchange(x) }

// AwaitsRobots implements cluster.Termination.
func (p *agent) AwaitsRobots() bool { return p.hosts.robots.AwaitsRobots() }

// GiveDepth implements cluster.Handoff.
func (p *agent) GiveDepth(url []byte) { p.hosts.handoff.giveDepth(url) }

// GiveSites implements cluster.Handoff.
func (p *agent) GiveSites(now time.Time) (more bool, err error) {
	if err := p.hosts.robots.GiveUpOverdue(now); err != nil {
		return false, err
	}
	return p.hosts.handoff.Step(now)
}

// Maintain implements cluster.FetchedLog.
func (p *agent) Maintain() error { return p.files.fetched.Maintain() }

// NoteRebuilt implements cluster.FetchedLog.
func (p *agent) NoteRebuilt(o outcome.Outcome, fp xxh3.Uint128) {
	if o.Class() == outcome.ClassAnswer {
		p.files.fetched.Add(fp)
	}
}

// Sync implements cluster.CheckpointPart.
func (p *agent) Sync() error { return errors.Join(p.files.outbox.Sync(), p.files.fetched.Sync()) }

// Release implements cluster.CheckpointPart.
func (p *agent) Release(state *cluster.Checkpoint) error {
	p.files.stored.Publish()
	return errors.Join(p.files.outbox.Release(state.Outbox), p.files.fetched.Release(state.Fetched))
}

// Resume implements Participant.
func (p *agent) Resume(m *manifest.Manifest, resumed bool) error {
	if err := p.openQuorum(p.parts.FS, p.parts.Dir+"/"+layout.FrontierDir); err != nil {
		return err
	}
	if err := errors.Join(p.files.others.Open(), p.Begin(m.Peers, resumed)); err != nil {
		return err
	}
	p.files.stored.Restore(m.Seen.Length)
	p.superseded.restore(m)
	return nil
}

// BeginRebuilt implements Participant.
func (p *agent) BeginRebuilt() error {
	if err := p.Begin(nil, true); err != nil {
		return err
	}
	p.superseded.temporarySince = new(warc.Checkpoint) // when this agent was a temporary owner is not in the archive
	return nil
}

// Depart implements Participant.
func (p *agent) Depart(ctx context.Context, d *leave.Departure) error {
	err := d.Run(ctx, leave.Agent{
		Register: p.leaving, Views: p.views, Outbox: p.files.outbox, Fetched: p.files.fetched,
		HashSeed: p.parts.Frontier.HashSeed, Joined: p.joinedSignal, WaitRoom: p.WaitRoom,
		AcceptMessages: p.server.acceptMessages,
	})
	if err == nil {
		p.history.hasLeft.Store(true)
	}
	return err
}

// IsShared implements cluster.Member.
func (p *agent) IsShared() bool { return true }

// Replay implements cluster.Member.
func (p *agent) Replay(message []byte, age time.Duration) error {
	return p.server.items.replay(message, origin{delay: age})
}

// WaitBegun implements cluster.Member.
func (p *agent) WaitBegun(ctx context.Context) error { return p.parts.Gate.Wait(ctx) }

// Start implements cluster.Member.
func (p *agent) Start(ctx context.Context, start func(loop string, run func() error)) {
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

// AcceptMessages implements cluster.Member.
func (p *agent) AcceptMessages(accept bool) { p.server.acceptMessages(accept) }

// Leave implements cluster.Member.
func (p *agent) Leave() { p.leaving.Leave() }

// MayLeave implements cluster.Member.
func (p *agent) MayLeave(ctx context.Context) error { return p.leaving.MayLeave(ctx) }

// IsLeaving implements cluster.Member.
func (p *agent) IsLeaving() bool { return p.leaving.IsLeaving() }

// IsOver implements cluster.Member.
func (p *agent) IsOver() bool { return p.end.HasEnded() }

// Stop implements cluster.Member.
func (p *agent) Stop(ctx context.Context) error {
	p.quorum.Stop(ctx)
	if err := p.network.Leave(ctx); err != nil {
		return fmt.Errorf("agent: agents: %w", err)
	}
	return nil
}

// Close implements cluster.Member.
func (p *agent) Close() error {
	return errors.Join(p.files.outbox.Close(), p.files.fetched.Close(), p.files.others.Close())
}

// peers is the network, to which a question has a deadline.
type peers struct{ cluster.Network }

// askInTime puts a question to another agent, which has recovery.Patience to answer.
func (p peers) askInTime(ctx context.Context, to string, question []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, recovery.Patience)
	defer cancel()
	return p.Ask(ctx, to, question)
}

// isThere says that an agent is there, with the data that it had.
func (p peers) isThere(instance string) bool {
	return slices.ContainsFunc(p.Agents(), func(a ownership.Agent) bool { return a.Instance() == instance })
}
