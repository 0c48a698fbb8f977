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
	"orbweaver/engine/frontier/order"
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
	Order       *order.Current
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
		Least: p.parts.Options.Agents, HasEnded: p.end.HasEnded, HasLeft: p.history.hasLeft.Load,
		Retry: p.parts.Journal.Disk.Wait,
	})
	if err != nil {
		return err
	}
	p.leases.UseAgreedViews()
	p.quorum, p.views.Grace = q, max(p.views.Grace, p.parts.HostDelay)+consensus.Takeover
	return nil
}

// Options configures an agent that shares the crawl with others.
type Options struct {
	Agents    int              `help:"Number of agents, this one included, that must be present before the crawl begins. An agent that joins a running crawl does not wait. An agent that resumes waits 15s for the agents that it knew." default:"1" least:"1" most:"65536" placeholder:"N"`
	AgentAway time.Duration    `name:"agent-return-wait" help:"Time the hosts of an agent that stopped in good order wait for it. Then other agents take them over. Raise it for long maintenance." default:"10m" placeholder:"TIME"`
	Quorum    bool             `help:"Fetch only with a lease of 10s from a majority of the agents, so that at most one side of a partition continues. Hosts of a lost agent are asked 22s after the majority has agreed, at the earliest. Give it to all agents or to none. The smaller side stops; of two equal halves both stop; of two agents each stops when the other is lost."`
	Recover   int              `help:"Number of other agents that are asked for a page before it is fetched, after agents joined or left. No page is fetched twice if at most so many changed. 0 asks none." default:"3" zero:"-1" most:"16" placeholder:"N"`
	Assign    ownership.Method `type:"word" help:"How hosts are assigned to agents (docs/ring.md). rendezvous has more even shares, and takes time in proportion to the number of agents. Give it to all agents: others are refused. It holds for the whole crawl." oneof:"consistent,rendezvous" default:"consistent" placeholder:"METHOD"`
	PeerQuota int              `help:"Number of URLs that another agent may send before this agent has finished any; 16 more for each finished URL. An agent that sends more must wait; one that does not wait is banned. 0 for no limit." default:"1000000" zero:"-1" placeholder:"N"`
	Payloads  int64            `name:"dedup-agents" type:"size" help:"Payloads of at least this size that another agent has stored become revisit records here: keep the archives of all agents. 4KiB is a good value. 0 stores them again." default:"0" zero:"meant" placeholder:"SIZE"`
	// Invited says that other agents are named. If none answers they may have just stopped, and no host is asked for
	// ten seconds.
	Invited bool `kong:"-"`
}
