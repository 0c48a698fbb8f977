package agent

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"orbweaver/engine/cluster/leave"
	"orbweaver/engine/cluster/payloads"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/schedule"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/peering/consensus"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/attempt"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/store/manifest"
	"orbweaver/internal/vfs"
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
	Depart(ctx context.Context, d *leave.Departure) error
}

// Parts are the parts of the engine that the other agents change.
type Parts struct {
	Options   Options
	Dir       string        // of the crawl
	HostDelay time.Duration // between two requests to a host
	// DedupMemory is for the payloads of other agents, in bytes.
	DedupMemory int64
	StoresAll   bool // every answer is stored: there is no store filter
	FS          vfs.FS
	Journal     *journal.Store
	Frontier    *admission.Frontier
	Sites       *sites.Table
	Gate        *outage.Gate
	Live        *settings.Live
	InFlight    *attempt.InFlight
	Queues      sites.DiskQueues
	Dead        *schedule.DeadSites
	Robots      *schedule.Returner
	Log         *slog.Logger
	Wake        func()      // wakes the distributor
	Lose        func(error) // ends the crawl in order
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
func (Alone) Depart(context.Context, *leave.Departure) error { return nil }

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
	return p, nil
}

// ErrAlone means that a directory of a crawl of several agents is opened by an agent that knows of no others.
var ErrAlone = errors.New("agent: this crawl has other agents, and URLs of theirs may be here: " +
	"give --agent and the flags beside it, as before")

// openAgent opens the outbox and the list of fetched URLs as they were at the last checkpoint, or empty.
func openAgent(
	network cluster.Network, fsys vfs.FS, dir string, m *manifest.Manifest, empty bool, o Storage,
) (*agent, error) {
	var unsent *outbox.Checkpoint
	var image []byte
	if !empty && m.Peers != nil {
		var err error
		if image, err = outbox.ReadImage(fsys, manifest.OutboxPath(dir, m.Generation)); err != nil {
			return nil, err
		}
		unsent = &m.Peers.Outbox
	}
	box, err := outbox.Open(fsys, outbox.Options{Dir: dir + "/outbox", SegmentBytes: o.SegmentBytes}, unsent, image)
	if err != nil {
		return nil, err
	}
	var done *dedup.Checkpoint
	if unsent != nil {
		done = &m.Peers.Fetched
	}
	fetched, err := recovery.OpenFetched(fsys, dir, o.IndexMemory, o.IndexBuffer, done)
	if err != nil {
		return nil, errors.Join(err, box.Close())
	}
	return &agent{
		network: peers{network}, self: ownership.Agent{ID: network.Self(), Store: m.StoreID()},
		files: files{outbox: box, fetched: fetched, others: payloads.NewAsker(payloads.Options{})},
		views: ownership.NewTimeline(hostGrace), quorum: noQuorum{},
		joinedSignal: make(chan struct{}),
	}, nil
}

// hostGrace is how long a host rests that another agent owned: that agent may have an exchange with it in flight.
const hostGrace = 10 * time.Second

// openQuorum makes this agent ask a majority for leases to fetch, if it must, or forgets what it has promised.
func (p *agent) openQuorum(fsys vfs.FS, dir string) error {
	if !p.parts.Options.Quorum {
		return forgetPromises(fsys, dir)
	}
	q, err := openMajority(majorityOptions{
		FS: fsys, Dir: dir, Self: p.self.Instance(), Network: p.network, Views: p.views, Gate: p.parts.Gate, Log: p.parts.Log,
		Least: p.parts.Options.Agents, HasEnded: p.end.HasEnded, Retry: p.parts.Journal.Disk.Wait,
	})
	if err != nil {
		return err
	}
	p.leases.UseAgreedViews()
	p.quorum, p.views.Grace = q, max(p.views.Grace, p.parts.HostDelay)+consensus.Takeover
	return nil
}
