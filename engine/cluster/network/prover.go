package network

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"orbweaver/engine/peering"
	"orbweaver/engine/peering/identity"
	"orbweaver/engine/peering/membership"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/peering/transport"
	"orbweaver/internal/notify"
)

// prover asks the agents that membership announces for proofs.
//
// A process with the gossip key, which all agents share, can announce any agent, under any ID and with any capacity. So
// an agent counts only when it has proved what membership says of it: the agent at its address for messages must hold
// the certificate of its ID, and must answer there that this is its data and its capacity. The capacity that counts is
// never larger than the certificate allows. Without certificates nothing is proved, and all agents count.
type prover struct {
	self     string // ID of this agent
	isNeeded bool   // agents have certificates
	log      *slog.Logger
	changed  chan struct{}      // capacity 1: other agents may count now
	answered chan struct{}      // capacity 1: an agent has been asked
	ctx      context.Context    //nolint:containedctx // of the loops, until stop
	end      context.CancelFunc // ends loops
	loops    sync.WaitGroup

	mu        sync.Mutex
	transport *transport.Transport // guarded by mu: nil before start
	stopped   bool                 // guarded by mu: no loop is started any more
	proofs    map[string]*proof    // guarded by mu, by ID: agents in the last View, and those that have proved their ID
	asking    int                  // guarded by mu: agents that are asked now
}

// proof is what an agent has proved.
type proof struct {
	announced membership.Agent // what membership says of it
	agent     ownership.Agent  // what counts of that
	ok        bool
	busy      bool // it is being asked
	tries     int
	retryAt   time.Time // when to ask it again, if it has proved nothing
}

const (
	// questionDescription asks an agent for its data and its capacity; the answer has descriptionSize bytes, big endian.
	questionDescription = 2
	descriptionSize     = 8 + 4

	proofPatience = 5 * time.Second  // for one agent
	proofRetry    = time.Second      // after a first failure; doubles
	proofRetryMax = 30 * time.Second // up to this
	proofsAtOnce  = 32               // agents that are asked at a time
	provenMost    = 1000             // agents that count: package transport knows 1,024
)

// errDescription says that an agent does not confirm what membership says of it.
var errDescription = errors.New("network: the agent does not confirm what membership says of it")

// appendDescription is the answer to questionDescription.
func appendDescription(dst []byte, a ownership.Agent) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(dst, a.Store), uint32(a.Capacity))
}

// describes says that an answer to questionDescription is what membership says of an agent.
func describes(answer []byte, a *membership.Agent) bool {
	return len(answer) == descriptionSize && binary.BigEndian.Uint64(answer) == a.Store &&
		int64(binary.BigEndian.Uint32(answer[8:])) == int64(a.Capacity)
}

// init prepares a prover of the agent with an ID.
func (p *prover) init(ctx context.Context, self string, isNeeded bool, log *slog.Logger) {
	p.self, p.isNeeded, p.log = self, isNeeded, log
	p.changed, p.answered = make(chan struct{}, 1), make(chan struct{}, 1)
	p.proofs = make(map[string]*proof)
	p.ctx, p.end = context.WithCancel(context.WithoutCancel(ctx))
}

// start begins to ask the agents of members, unless no proof is needed.
func (p *prover) start(members *membership.Service, t *transport.Transport) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.transport = t
	if p.isNeeded && !p.stopped {
		p.loops.Go(func() { p.follow(members) })
	}
}

// stop ends the loops, without waiting for them.
func (p *prover) stop() {
	p.mu.Lock()
	p.stopped = true
	p.mu.Unlock()
	p.end()
}

// follow keeps asking agents that have proved nothing, until stop.
func (p *prover) follow(members *membership.Service) {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(p.askDue(members.View()))
		select {
		case <-members.Changed():
			notify.Send(p.changed)
		case <-p.answered:
			notify.Send(p.changed)
		case <-timer.C:
		case <-p.ctx.Done():
			return
		}
	}
}

// askDue begins to ask agents of a View, those first that have failed least often, and says when to call it again.
func (p *prover) askDue(view *membership.View) (wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	wait = time.Hour
	if p.stopped {
		return wait
	}
	now, here := time.Now(), make(map[string]bool, len(view.Agents))
	var due []*proof
	for i := range view.Agents {
		a := view.Agents[i]
		here[a.ID] = true
		if a.ID == p.self {
			continue
		}
		pf := p.proofs[a.ID]
		if pf == nil || pf.announced != a {
			pf = &proof{announced: a}
			p.proofs[a.ID] = pf
		}
		switch {
		case pf.ok || pf.busy:
		case pf.retryAt.After(now):
			wait = min(wait, pf.retryAt.Sub(now))
		default:
			due = append(due, pf)
		}
	}
	for id, pf := range p.proofs {
		if !here[id] && !pf.ok { // an agent that has proved its ID may return with the same description
			delete(p.proofs, id)
		}
	}
	slices.SortStableFunc(due, func(a, b *proof) int { return cmp.Compare(a.tries, b.tries) })
	for _, pf := range due[:min(len(due), proofsAtOnce-p.asking)] {
		pf.busy = true
		p.asking++
		t := p.transport
		p.loops.Go(func() { p.request(pf, t) })
	}
	return wait
}

// request asks one agent for its proof.
func (p *prover) request(pf *proof, t *transport.Transport) {
	ctx, cancel := context.WithTimeout(p.ctx, proofPatience)
	defer cancel()
	capacity, err := confirm(ctx, t, &pf.announced)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asking--
	pf.busy = false
	pf.tries++
	switch {
	case err == nil:
		pf.ok = true
		pf.agent = ownership.Agent{ID: pf.announced.ID, Capacity: capacity, Store: pf.announced.Store}
	case ctx.Err() == nil || errors.Is(ctx.Err(), context.DeadlineExceeded):
		pf.retryAt = time.Now().Add(min(proofRetry<<min(pf.tries-1, 8), proofRetryMax))
		if pf.tries == 1 {
			p.log.Warn(
				"an agent is not counted, since it has not proved its name by a certificate; it is asked again",
				"agent", pf.announced.ID, "address", pf.announced.MessageAddr, "error", err)
		}
	}
	notify.Send(p.answered)
}

// confirm asks an agent for the proof, and gives the capacity that counts.
func confirm(ctx context.Context, t *transport.Transport, a *membership.Agent) (capacity int, err error) {
	to := transport.Peer{ID: a.ID, Addr: a.MessageAddr}
	most, err := t.Prove(ctx, to)
	if err != nil {
		return 0, err
	}
	answer, err := t.Call(ctx, to, questionDescription, nil)
	switch {
	case err == nil && !describes(answer, a):
		return 0, fmt.Errorf("%w: it says %x", errDescription, answer[:min(len(answer), descriptionSize)])
	case err == nil, errors.Is(err, peering.ErrMalformed), errors.Is(err, transport.ErrVersion),
		errors.Is(err, peering.ErrBanned): // an agent that refuses the question has proved its ID all the same
		return min(a.Capacity, most), nil
	}
	return 0, err
}

// awaitFirst waits until the agents that are there when this one joins have been asked, proofPatience at most.
func (p *prover) awaitFirst(ctx context.Context, members *membership.Service) {
	if !p.isNeeded {
		return
	}
	deadline := time.NewTimer(proofPatience)
	defer deadline.Stop()
	for !p.haveAllTried(members.View()) {
		select {
		case <-p.changed:
		case <-deadline.C:
			return
		case <-ctx.Done():
			return
		}
	}
	notify.Send(p.changed)
}

// haveAllTried says that all agents of a View have been asked.
func (p *prover) haveAllTried(view *membership.View) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !slices.ContainsFunc(view.Agents, func(a membership.Agent) bool {
		pf := p.proofs[a.ID]
		return a.ID != p.self && (pf == nil || !pf.ok && pf.tries == 0)
	})
}

// proven gives what counts of an agent; false if it has not proved its ID.
func (p *prover) proven(a *membership.Agent) (ownership.Agent, bool) {
	announced := ownership.Agent{ID: a.ID, Capacity: a.Capacity, Store: a.Store}
	if !p.isNeeded || a.ID == p.self {
		return announced, true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	pf := p.proofs[a.ID]
	if pf == nil || !pf.ok || pf.announced != *a {
		return announced, false
	}
	return pf.agent, true
}

// provenBefore gives what counts of an agent that is gone; false if no agent of its ID has ever proved it.
func (p *prover) provenBefore(a *membership.Agent) (ownership.Agent, bool) {
	announced := ownership.Agent{ID: a.ID, Capacity: a.Capacity, Store: a.Store}
	if !p.isNeeded || a.ID == p.self {
		return announced, true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	pf := p.proofs[a.ID]
	switch {
	case pf == nil || !pf.ok:
		return announced, false
	case pf.announced.Store == a.Store:
		return pf.agent, true
	}
	return announced, true
}

// keysOf gives the gossip key that an identity encrypts with, and those that it accepts beside it.
func keysOf(id *identity.Identity) (key []byte, accepted [][]byte) {
	for i, k := range id.GossipKeys {
		if i == 0 {
			key = k.Key
			continue
		}
		accepted = append(accepted, k.Key)
	}
	return key, accepted
}

// Renew takes another file of this agent, by the same authority, while the agent runs: its certificate and its gossip
// keys.
func (n *Network) Renew(id *identity.Identity) error {
	if err := n.transport.Renew(id); err != nil {
		return fmt.Errorf("network: %w", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.identity = id
	members := n.members.Load()
	if members == nil { // Join takes them
		return nil
	}
	key, accepted := keysOf(id)
	if err := members.SetKeys(key, accepted); err != nil {
		return fmt.Errorf("network: %w", err)
	}
	return nil
}
