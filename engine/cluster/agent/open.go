package agent

import (
	"errors"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/consensus"
	"orbweaver/engine/cluster/outbox"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/cluster/quorum"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/dedup"
	"orbweaver/engine/manifest"
	"orbweaver/internal/vfs"
)

// ErrAlone means that a directory of a crawl of several agents is opened by an agent that knows of no others.
var ErrAlone = errors.New("engine: this crawl has other agents, and URLs of theirs may be here: " +
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
	var done *dedup.Cut
	if unsent != nil {
		done = &m.Peers.Fetched
	}
	fetched, err := recovery.OpenFetched(fsys, dir, o.IndexMemory, o.IndexBuffer, done)
	if err != nil {
		return nil, errors.Join(err, box.Close())
	}
	p := &agent{
		fetched: fetched, network: network, store: m.StoreID(), outbox: box, views: ownership.NewTimeline(hostGrace),
		quorum: quorum.None{}, members: memberState{joinedSignal: make(chan struct{})},
	}
	p.instance = ownership.Agent{ID: network.Self(), Store: p.store}.Instance()
	return p, nil
}

// hostGrace is how long a host rests that another agent owned: that agent may have an exchange with it in flight.
const hostGrace = 10 * time.Second

// openQuorum makes this agent ask a majority for leases to fetch, if it must, or forgets what it has promised.
func openQuorum(p *agent, fsys vfs.FS, dir string) error {
	if !p.parts.Options.Quorum {
		return quorum.Forget(fsys, dir)
	}
	q, err := quorum.Open(quorum.Options{
		FS: fsys, Dir: dir, Self: p.instance, Network: p.network, Views: p.views, Gate: p.parts.Gate, Log: p.parts.Log,
		Least: p.parts.Options.Agents, HasEnded: p.end.HasEnded, Retry: p.parts.Journal.Disk.Wait,
	})
	if err != nil {
		return err
	}
	p.leases.UseAgreedViews()
	p.quorum, p.views.Grace = q, max(p.views.Grace, p.parts.HostDelay)+consensus.Takeover
	return nil
}
