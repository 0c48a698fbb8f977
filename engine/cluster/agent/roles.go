package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/admission"
	"orbweaver/engine/attempt"
	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/delivery"
	"orbweaver/engine/cluster/handoff"
	"orbweaver/engine/cluster/leasing"
	"orbweaver/engine/cluster/leave"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/cluster/quota"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/cluster/robotsrelay"
	"orbweaver/engine/cluster/termination"
	"orbweaver/engine/journal"
	"orbweaver/engine/layout"
	"orbweaver/engine/manifest"
	"orbweaver/engine/outage"
	"orbweaver/engine/schedule"
	"orbweaver/engine/settings"
	"orbweaver/engine/site"
	"orbweaver/engine/sites"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// Participant is the cluster as the engine wires it.
type Participant interface {
	cluster.Agent
	// Connect gives it the parts of the engine that it uses, when all are made.
	Connect(parts Parts)
	// Resume begins with the state of the last checkpoint.
	Resume(m *manifest.Manifest, resumed bool) error
	// BeginRebuilt begins after a rebuild of the frontier.
	BeginRebuilt() error
	// Depart gives all that this agent has to the other agents, after Leave.
	Depart(ctx context.Context, d *Departure) error
}

// Parts are the parts of the engine that the other agents change.
type Parts struct {
	Options   Options
	Dir       string        // of the crawl
	HostDelay time.Duration // between two requests to a host
	StoresAll bool          // every answer is stored: there is no store filter
	FS        vfs.FS
	Journal   *journal.Store
	Frontier  *admission.Frontier
	Sites     *sites.Table
	Gate      *outage.Gate
	Live      *settings.Live
	InFlight  *attempt.InFlight
	Queues    sites.DiskQueues
	Dead      *schedule.DeadSites
	Robots    *schedule.Returner
	Log       *slog.Logger
	Wake      func()      // wakes the distributor
	Lose      func(error) // ends the crawl in order
}

// Alone is the cluster of a crawl with one agent.
type Alone struct{ cluster.Alone }

// Connect implements Participant.
func (Alone) Connect(Parts) {}

// Resume implements Participant.
func (Alone) Resume(*manifest.Manifest, bool) error { return nil }

// BeginRebuilt implements Participant.
func (Alone) BeginRebuilt() error { return nil }

// Depart implements Participant.
func (Alone) Depart(context.Context, *Departure) error { return nil }

// Storage sizes the files of the cluster.
type Storage struct {
	SegmentBytes int64 // of the outbox
	IndexMemory  int64 // of the list of fetched URLs, in bytes
	IndexBuffer  int   // of that, for new entries
}

// Open opens what the cluster keeps in dir as it was at the last checkpoint, or empty.
func Open(
	network cluster.Network, fsys vfs.FS, dir string, m *manifest.Manifest, empty bool, o Storage,
) (Participant, error) {
	if network == nil {
		if m.Peers != nil {
			return Alone{}, ErrAlone
		}
		return Alone{}, nil
	}
	p, err := openAgent(network, fsys, dir, m, empty, o)
	if err != nil {
		return Alone{}, err
	}
	return participant{roles{p}, endRole{p}, robotsRole{p}}, nil
}

func (p participant) Connect(parts Parts) {
	p.parts = parts
	p.leavingAgents = newLeaveRegister(p.agent)
	p.accounts = quota.NewAccounts(int64(max(parts.Options.PeerQuota, 0)), p.parts.Journal.Count.Finished.Load,
		p.leavingAgents.Wake, p.parts.Log)
	p.leases = newLeases(p.agent, func() time.Duration { return parts.Live.Policy().IPDelay })
	p.robots = robotsrelay.New(robotsrelay.Options{
		Views: p.views, Outbox: p.outbox, Sites: parts.Robots, Rules: p.parts.Sites.Rules,
		IsExcluded: p.parts.Frontier.HostRules.Excludes, Steps: &p.counters.steps,
	})
	p.handoff = handoff.NewGiver(handoff.Options{
		Views: p.views, Outbox: p.outbox, Sites: p.parts.Sites, Queues: parts.Queues, Dead: parts.Dead,
		Counters: &p.parts.Journal.Count, Log: p.parts.Log, Route: p.Route, Forget: p.robots.Forget,
	})
	p.pages = newPages(p.agent)
	p.end = newDetector(p.agent)
	p.senders = delivery.New(delivery.Options{
		Outbox: p.outbox, Journal: p.parts.Journal, Log: p.parts.Log, Send: p.network.Send, Wake: p.parts.Wake,
		Others: func() int { return len(p.views.Load().Agents) - 1 },
		Attend: func(id, instance string) func(ctx context.Context) {
			return p.leases.AddRequester(id, instance).Run
		},
	})
}

// newPages makes the page recovery.
func newPages(p *agent) *recovery.Pages {
	return recovery.NewPages(recovery.PagesOptions{
		Self: p.instance, Fetched: p.fetched, HashSeed: func() uint64 { return p.parts.Frontier.HashSeed }, Views: p.views,
		InFlight: p.parts.InFlight, Most: p.parts.Options.Recover, Changes: p.history.viewChanges.Load,
		BeganTogether: p.history.beganTogether.Load,
		Leaving:       p.leavingAgents.Leaving, IsThere: p.isThere, SpeaksFor: p.speaksFor, Ask: p.ask,
		AwaitDurable: func(ctx context.Context) error { return p.parts.Journal.AwaitAll(ctx) },
	})
}

// newLeaveRegister makes the list of agents that leave.
func newLeaveRegister(p *agent) *leave.Register {
	return leave.New(leave.Options{
		Self: p.instance, Agents: p.network.Agents, Log: p.parts.Log, Ask: p.ask,
		HasEnded: func() bool { return p.end.HasEnded() },
	})
}

// newDetector makes the termination detection.
func newDetector(p *agent) *termination.Detector {
	return termination.New(termination.Options{
		Network: p.network, Views: p.views, Outbox: p.outbox, Counters: &p.parts.Journal.Count, Gate: p.parts.Gate,
		Log: p.parts.Log, RestartWait: p.parts.Options.AgentAway, Steps: &p.counters.steps, Banned: p.bannedAgents,
		IsBanned:  func(id string) bool { return p.accounts.BannedFor(id, time.Now()) > 0 },
		IsLeaving: p.leavingAgents.IsLeaving, HasAnnounced: p.leavingAgents.HasAnnounced,
		Founding: func() (first uint64, changes int64) { return p.history.founded.Load(), p.history.viewChanges.Load() },
		Forgive:  p.accounts.ForgiveAll, Wake: p.parts.Wake, Conclude: p.supersede,
	})
}

// newLeases makes the leases of addresses, with the delay between two exchanges.
func newLeases(p *agent, delay func() time.Duration) *leasing.Leases {
	return leasing.New(leasing.Options{
		Self: ownership.AgentID(p.instance), Instance: p.instance, Log: p.parts.Log, Delay: delay,
		Ask: func(ctx context.Context, agent string, question []byte) ([]byte, error) {
			return p.network.Ask(ctx, agent, question)
		},
		Grace:         func() time.Duration { return p.views.Grace },
		CautiousUntil: p.views.CautiousUntil,
		MayGrant:      func() bool { return p.quorum.MayFetch() },
		Unauthorised: func(from, statement string) {
			p.counters.unauthorised.Add(1)
			p.accounts.NoteUnauthorised(from, message.QuestionLease, statement)
		},
	})
}

func (p participant) Resume(m *manifest.Manifest, resumed bool) error {
	if err := openQuorum(p.agent, p.parts.FS, p.parts.Dir+"/"+layout.FrontierDir); err != nil {
		return err
	}
	if err := p.Begin(m.Peers, resumed); err != nil {
		return err
	}
	p.restoreTemporary(m)
	return nil
}

func (p participant) BeginRebuilt() error {
	if err := p.Begin(nil, true); err != nil {
		return err
	}
	p.history.temporarySince = new(warc.Cut) // when this agent was a temporary owner is not in the archive
	return nil
}

func (p participant) Depart(ctx context.Context, d *Departure) error {
	d.agent = p.agent
	return d.run(ctx)
}

// roles are the roles of the cluster that package engine/cluster names, except those below.
type roles struct{ *agent }

// endRole is cluster.Termination, except AwaitsRobots.
type endRole struct{ of *agent }

// robotsRole is cluster.RobotsRouter, and AwaitsRobots.
type robotsRole struct{ of *agent }

// participant has all roles, and is the life of this agent in the cluster.
type participant struct {
	roles
	endRole
	robotsRole
}

// Views implements cluster.Router.
func (p roles) Views() *ownership.Current { return &p.views.Current }

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

// Borrow implements cluster.VisitGate.
func (p roles) Borrow(
	ctx context.Context, stopping <-chan struct{}, addr netip.Addr, x *cluster.Exchange,
) (granted bool, retryAt time.Time) {
	return p.leases.Acquire(ctx, stopping, addr, x.Open(ctx))
}

// GiveAddress implements cluster.VisitGate.
func (p roles) GiveAddress(addr netip.Addr, due time.Time, soon bool) {
	p.leases.Release(addr, due, soon)
}

// BeginExchange implements cluster.VisitGate.
func (p roles) BeginExchange(_ context.Context, x *cluster.Exchange, site []byte) context.Context {
	return p.quorum.BeginExchange(x, site)
}

// EndExchange implements cluster.VisitGate.
func (p roles) EndExchange(x *cluster.Exchange) { p.quorum.EndExchange(x) }

// SendRedirect implements cluster.RobotsRouter.
func (p robotsRole) SendRedirect(r *site.RobotsRedirect) bool { return p.of.robots.SendRedirect(r) }

// SendResult implements cluster.RobotsRouter.
func (p robotsRole) SendResult(r *site.RobotsResult) bool { return p.of.robots.SendResult(r) }

// AwaitsRobots implements cluster.Termination.
func (p robotsRole) AwaitsRobots() bool { return p.of.robots.AwaitsRobots() }

// GiveSites implements cluster.Handoff.
func (p roles) GiveSites(now time.Time) (more bool, err error) {
	if err := p.robots.GiveUpOverdue(now); err != nil {
		return false, err
	}
	return p.handoff.Step(now)
}

// Ended implements cluster.Termination.
func (p endRole) Ended() <-chan struct{} { return p.of.end.Ended() }

// Maintain implements cluster.FetchedLog.
func (p roles) Maintain() error { return p.fetched.Maintain() }

// NoteRebuilt implements cluster.FetchedLog.
func (p roles) NoteRebuilt(o outcome.Outcome, fp xxh3.Uint128) {
	if o.Class() == outcome.ClassAnswer {
		p.fetched.Add(fp)
	}
}

// Sync implements cluster.CheckpointPart.
func (p roles) Sync() error { return errors.Join(p.outbox.Sync(), p.fetched.Sync()) }

// Release implements cluster.CheckpointPart.
func (p roles) Release(state *cluster.Checkpoint) error {
	return errors.Join(p.outbox.Release(state.Outbox), p.fetched.Release(state.Fetched))
}

// IsShared implements cluster.Member.
func (p participant) IsShared() bool { return true }

// Replay implements cluster.Member.
func (p participant) Replay(message []byte, age time.Duration) error {
	return p.takeItems(message, origin{delay: age})
}

// WaitBegun implements cluster.Member.
func (p participant) WaitBegun(ctx context.Context) error { return p.parts.Gate.Wait(ctx) }

// Start implements cluster.Member.
func (p participant) Start(ctx context.Context, start func(loop string, run func() error)) {
	p.AcceptMessages(true)
	start("agents", func() error { return p.run(ctx) })
	start("termination", func() error { p.end.Run(ctx); return nil })
	start("leases", func() error { return p.leases.Run(ctx) })
	start("quorum", func() error { return p.quorum.FollowLease(ctx) })
}

// Leave implements cluster.Member.
func (p participant) Leave() { p.leavingAgents.Leave() }

// MayLeave implements cluster.Member.
func (p participant) MayLeave(ctx context.Context) error { return p.leavingAgents.MayLeave(ctx) }

// IsLeaving implements cluster.Member.
func (p participant) IsLeaving() bool { return p.leavingAgents.IsLeaving() }

// IsOver implements cluster.Member.
func (p participant) IsOver() bool { return p.end.HasEnded() }

// Stop implements cluster.Member.
func (p participant) Stop(ctx context.Context) error {
	p.quorum.Stop(ctx)
	if err := p.network.Leave(ctx); err != nil {
		return fmt.Errorf("engine: agents: %w", err)
	}
	return nil
}

// Close implements cluster.Member.
func (p participant) Close() error { return errors.Join(p.outbox.Close(), p.fetched.Close()) }

// EndReason implements cluster.Termination.
func (p endRole) EndReason() string { return p.of.end.EndReason() }

// StepCount implements cluster.Termination.
func (p endRole) StepCount() int64 { return p.of.end.StepCount() }

// NegotiateEnd implements cluster.Termination.
func (p endRole) NegotiateEnd(wait time.Duration, reason string, busy bool, steps int64) (time.Duration, string) {
	return p.of.end.NegotiateEnd(wait, reason, busy, steps)
}
