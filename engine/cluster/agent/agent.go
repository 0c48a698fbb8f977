package agent

import (
	"errors"
	"fmt"

	"orbweaver/engine/cluster/leasing"
	"orbweaver/engine/cluster/leave"
	"orbweaver/engine/cluster/payloads"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/cluster/termination"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
)

// agent is this agent among the others: the parts that do its work, joined by connect. What they do for a URL happens
// within the step of the journal that moves the URL. The ownership view changes while all steps stand still.
type agent struct {
	cluster.Router         // the router
	cluster.RobotsRouter   // hosts.robots
	cluster.EndDetector    // end
	cluster.URLQuestions   // server.urls
	cluster.PayloadSharing // files.others

	parts        Parts
	network      peers
	self         ownership.Agent // with the data in this directory
	joinedSignal chan struct{}   // closed when the crawl goes on with this agent

	views     *ownership.Timeline
	history   crawlHistory
	members   members
	installer viewInstaller
	quorum    quorumRule
	end       *termination.Detector

	files  files
	lost   lostAgents
	server server

	accounts   *accounts // of the other agents
	senders    *senders
	pages      *recovery.Pages
	leases     *leasing.Leases
	hosts      hosts
	leaving    *leave.Register
	superseded supersededCaptures
}

// files are the files of the cluster.
type files struct {
	outbox  *outbox.Outbox
	fetched *recovery.FetchedURLs
	stored  *payloads.Holder // payloads of this agent
	others  *payloads.Asker  // payloads of other agents
}

// hosts moves sites and their robots.txt between agents.
type hosts struct {
	handoff *giver
	robots  *relay
}

// ErrAssign means that hosts were assigned to agents in another way before.
var ErrAssign = errors.New("agent: a crawl keeps the assignment of hosts that it began with: give")

// Begin puts the view of the checkpoint in force, or that of this agent alone. The loop that follows membership finds
// out which agents are there now.
func (p *agent) Begin(state *cluster.Checkpoint, resumed bool) error {
	if state != nil && state.Assign != p.parts.Options.Assign {
		return fmt.Errorf("%w --assign %v", ErrAssign, state.Assign)
	}
	p.history.isResumed = resumed
	known := []ownership.Agent{{ID: p.self.ID, Capacity: 1, Store: p.self.Store}}
	if self := p.network.Agents(); len(self) == 1 { // no other agent is known yet
		known[0].Capacity = self[0].Capacity
	}
	if state != nil {
		known = state.Agents
		p.history.restore(state)
		p.files.fetched.RestoreLists(state.FetchedLists)
		p.leaving.Restore(state)
	}
	p.end.Begin(resumed)
	p.parts.Gate.Shut(waitingForAgents)
	view, err := ownership.NewView(
		p.parts.Options.Assign, known, p.history.everAll, p.history.arrivals, selfAmong(p.self.ID, known),
	)
	if err != nil {
		return err
	}
	return p.installer.install(view, p.members.expected)
}

// MarkState marks the state of the cluster for a checkpoint, while all steps stand still.
func (p *agent) MarkState() (*cluster.Checkpoint, []byte, error) {
	box, image, err := p.files.outbox.Checkpoint()
	if err != nil {
		return nil, nil, err
	}
	done, err := p.files.fetched.Checkpoint()
	if err != nil {
		return nil, nil, err
	}
	state := &cluster.Checkpoint{
		Outbox: box, Fetched: done, Agents: p.views.Load().Agents, TemporarySince: p.superseded.temporarySince,
		FetchedLists: p.files.fetched.Lists(), Assign: p.parts.Options.Assign,
	}
	p.files.stored.Mark()
	p.history.fillCheckpoint(state)
	p.leaving.FillCheckpoint(state, p.history.hasLeft.Load())
	return state, outbox.AppendChecksum(image), nil
}
