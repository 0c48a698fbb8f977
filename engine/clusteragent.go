package engine

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
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/journal"
	"orbweaver/engine/layout"
	"orbweaver/engine/lifecycle"
	"orbweaver/engine/manifest"
	"orbweaver/engine/outage"
	"orbweaver/engine/outcome"
	"orbweaver/engine/schedule"
	"orbweaver/engine/settings"
	"orbweaver/engine/sites"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// clusterAgent is the cluster as the engine wires it.
type clusterAgent interface {
	cluster.Agent
	// connect gives it the parts of the engine that it uses, when all are made.
	connect(parts clusterParts)
	// resume begins with the state of the last checkpoint.
	resume(m *manifest.Manifest, resumed bool) error
	// beginRebuilt begins after a rebuild of the frontier.
	beginRebuilt() error
	// depart gives all that this agent has to the other agents, after Leave.
	depart(ctx context.Context, d *departure) error
}

// clusterParts are the parts of the engine that the other agents change.
type clusterParts struct {
	options   Cluster
	dir       string        // of the crawl
	hostDelay time.Duration // between two requests to a host
	storesAll bool          // every answer is stored: there is no store filter
	fs        vfs.FS
	ledger    *journal.Store
	frontier  *admission.Frontier
	hosts     *sites.Table
	gate      *outage.Gate
	live      *settings.Live
	inFlight  *attempt.InFlight
	queues    sites.DiskQueues
	dead      *schedule.DeadSites
	robots    *schedule.Returner
	log       *slog.Logger
	wake      func()      // wakes the distributor
	lose      func(error) // ends the crawl in order
}

// alone is the cluster of a crawl with one agent.
type alone struct{ cluster.Alone }

func (alone) connect(clusterParts)                     {}
func (alone) resume(*manifest.Manifest, bool) error    { return nil }
func (alone) beginRebuilt() error                      { return nil }
func (alone) depart(context.Context, *departure) error { return nil }

// clusterStorage sizes the files of the cluster.
type clusterStorage struct {
	SegmentBytes int64 // of the outbox
	IndexMemory  int64 // of the list of fetched URLs, in bytes
	IndexBuffer  int   // of that, for new entries
}

// openCluster opens what the cluster keeps in dir as it was at the last checkpoint, or empty.
func openCluster(
	network cluster.Network, fsys vfs.FS, dir string, m *manifest.Manifest, empty bool, o clusterStorage,
) (clusterAgent, error) {
	if network == nil {
		if m.Peers != nil {
			return alone{}, ErrAlone
		}
		return alone{}, nil
	}
	p, err := openPeers(network, fsys, dir, m, empty, o.SegmentBytes, o.IndexMemory, o.IndexBuffer)
	if err != nil {
		return alone{}, err
	}
	return clusterMember{clusterRoles{p}}, nil
}

func (p clusterMember) connect(parts clusterParts) {
	p.ledger, p.frontier, p.hosts, p.gate = parts.ledger, parts.frontier, parts.hosts, parts.gate
	p.say, p.wake, p.lose, p.fs, p.aloft = parts.log, parts.wake, parts.lose, parts.fs, parts.inFlight
	p.least, p.invited, p.away, p.recover = parts.options.Agents, parts.options.Invited, parts.options.AgentAway, parts.options.Recover
	p.options, p.dir, p.hostDelay, p.storesAll = parts.options, parts.dir, parts.hostDelay, parts.storesAll
	p.leases.gap = func() time.Duration { return parts.live.Policy().IPDelay }
	p.standings = newStandings(int64(max(parts.options.PeerQuota, 0)), p.ledger.Count.Finished.Load, p.say)
	p.moving = &moving{peers: p.peers, queues: parts.queues, dead: parts.dead}
	p.robots = parts.robots
}

func (p clusterMember) resume(m *manifest.Manifest, resumed bool) error {
	if err := openQuorum(p.peers, p.fs, p.dir+"/"+layout.FrontierDir); err != nil {
		return err
	}
	if err := p.Begin(m.Peers, resumed); err != nil {
		return err
	}
	p.lentSince(m)
	return nil
}

func (p clusterMember) beginRebuilt() error {
	if err := p.Begin(nil, true); err != nil {
		return err
	}
	p.lent = new(warc.Cut) // when this agent was a temporary owner is not in the archive
	return nil
}

func (p clusterMember) depart(ctx context.Context, d *departure) error {
	d.peers = p.peers
	return d.run(ctx)
}

// clusterRoles are the roles of the cluster that package engine/cluster names, except Member.
type clusterRoles struct{ *peers }

// clusterMember is the life of this agent in the cluster.
type clusterMember struct{ clusterRoles }

// Views implements cluster.Router.
func (p clusterRoles) Views() *ownership.Current { return &p.circle }

// Borrow implements cluster.VisitGate.
func (p clusterRoles) Borrow(
	ctx context.Context, stopping <-chan struct{}, addr netip.Addr, x *cluster.Exchange,
) (granted bool, retryAt time.Time) {
	return p.leases.borrow(ctx, stopping, addr, x.Open(ctx))
}

// GiveAddress implements cluster.VisitGate.
func (p clusterRoles) GiveAddress(addr netip.Addr, due time.Time, soon bool) {
	p.leases.give(addr, due, soon)
}

// GiveSites implements cluster.Handoff.
func (p clusterRoles) GiveSites(now time.Time) (more bool, err error) { return p.moving.step(now) }

// Ended implements cluster.Termination.
func (p clusterRoles) Ended() <-chan struct{} { return p.end }

// Maintain implements cluster.FetchedLog.
func (p clusterRoles) Maintain() error { return p.fetched.tend() }

// NoteRebuilt implements cluster.FetchedLog.
func (p clusterRoles) NoteRebuilt(o outcome.Outcome, fp xxh3.Uint128) {
	if o.Class() == outcome.ClassAnswer {
		p.fetched.add(fp)
	}
}

// Sync implements cluster.CheckpointPart.
func (p clusterRoles) Sync() error { return errors.Join(p.box.Sync(), p.fetched.urls.Sync()) }

// Release implements cluster.CheckpointPart.
func (p clusterRoles) Release(state *cluster.Checkpoint) error {
	return errors.Join(p.box.Release(state.Outbox), p.fetched.urls.Release(state.Fetched))
}

// IsShared implements cluster.Member.
func (p clusterMember) IsShared() bool { return true }

// Replay implements cluster.Member.
func (p clusterMember) Replay(message []byte, age time.Duration) error {
	return p.unpack(message, postmark{aged: age})
}

// WaitBegun implements cluster.Member.
func (p clusterMember) WaitBegun(ctx context.Context) error { return p.gate.Wait(ctx) }

// Start implements cluster.Member.
func (p clusterMember) Start(ctx context.Context, start func(loop string, run func() error)) {
	p.AcceptMessages(true)
	start("agents", func() error { return p.run(ctx) })
	start("settle", func() error { return p.settle(ctx) })
	start("leases", func() error { return p.leases.watch(ctx) })
	if q := p.quorum; q != nil {
		start("quorum", func() error { return q.run(ctx) })
	}
}

// IsOver implements cluster.Member.
func (p clusterMember) IsOver() bool { return p.over.Load() }

// Stop implements cluster.Member.
func (p clusterMember) Stop(ctx context.Context) error {
	p.quorum.stop(ctx)
	if err := p.seam.Leave(ctx); err != nil {
		return fmt.Errorf("engine: agents: %w", err)
	}
	return nil
}

// Close implements cluster.Member.
func (p clusterMember) Close() error { return errors.Join(p.box.Close(), p.fetched.urls.Close()) }

// EndReason implements cluster.Termination.
func (p clusterRoles) EndReason() string {
	if p.late.Load() {
		return lifecycle.ReasonLate
	}
	if n := &p.ledger.Count; n.Finished.Load() == n.URLsAdmitted.Load() && !p.stalled.Load() {
		return lifecycle.ReasonComplete
	}
	return lifecycle.ReasonStalled
}
