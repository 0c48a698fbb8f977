package network

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/peering/identity"
	"orbweaver/engine/peering/membership"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/peering/transport"
	"orbweaver/engine/state/cluster"
)

// Network is the way of an agent to the others. It implements cluster.Network, and is safe for concurrent use.
type Network struct {
	o         Options
	transport *transport.Transport
	prover    prover
	arrivals  arrivals

	handler atomic.Pointer[cluster.Handler]    // nil before Join
	members atomic.Pointer[membership.Service] // nil before Join has succeeded

	mu       sync.Mutex
	closed   bool
	store    uint64
	identity *identity.Identity // the last one: see Renew; nil in plain text
}

var _ cluster.Network = (*Network)(nil)

// version is that of the messages.
const version = 1

// Open takes the port for messages. Other agents learn of this agent by Join. The Network lives as long as ctx.
func Open(ctx context.Context, o Options) (*Network, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	n := &Network{o: o, identity: o.Identity}
	n.prover.init(ctx, o.ID, o.Identity != nil, o.Log)
	options := transport.Options{
		Self: o.ID, Addr: o.MessageAddr, Identity: o.Identity, Receive: n.receive, Respond: n.answer, Log: o.Log,
		Generations: o.Generations, SaveGenerations: o.SaveGenerations,
	}
	if o.Identity == nil {
		options.Plain, options.Crawl = true, plainCrawl
	}
	var err error
	if n.transport, err = transport.Open(ctx, options); err != nil {
		n.prover.stop()
		if errors.Is(err, transport.ErrIdentity) {
			return nil, fmt.Errorf("network: %w", err)
		}
		return nil, fmt.Errorf("network: listening for messages on %v: %w: "+
			"does another agent run here? give another address", o.MessageAddr, err)
	}
	return n, nil
}

// Self implements cluster.Network.
func (n *Network) Self() string { return n.o.ID }

// Join implements cluster.Network. An error may wrap membership.ErrNameInUse, ErrOtherCrawl or ErrOtherKey.
func (n *Network) Join(ctx context.Context, store uint64, handler cluster.Handler) error {
	n.mu.Lock()
	n.store = store
	current := n.identity
	n.mu.Unlock()
	n.handler.Store(&handler)
	o := membership.Options{
		Self: membership.Agent{
			ID: n.o.ID, Capacity: n.o.Capacity, GossipAddr: n.o.GossipAddr, MessageAddr: n.transport.Addr(), Store: store,
			Crawl: plainCrawl, MessageVersion: version,
		},
		Seeds: n.o.Join, Timings: n.o.Timings, Log: n.o.Log,
	}
	if current != nil {
		o.Self.Crawl = current.Crawl
		o.Key, o.AcceptedKeys = keysOf(current)
	}
	o.Self.Crawl += n.o.Settings // agents that differ in them are of different crawls
	members, err := membership.Join(ctx, o)
	if err != nil {
		return fmt.Errorf("network: %w", err)
	}
	if err := n.addMembers(members, current); err != nil {
		return errors.Join(err, members.Close())
	}
	n.prover.awaitFirst(ctx, members)
	n.o.Log.Info("this agent is known to the others",
		"agent", n.o.ID, "gossip", members.Self().GossipAddr, "messages", n.transport.Addr(), "agents", len(n.Agents()))
	return nil
}

// addMembers takes up the membership that this agent has joined with the keys of an identity.
func (n *Network) addMembers(members *membership.Service, joined *identity.Identity) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.identity != joined { // it was renewed meanwhile
		key, accepted := keysOf(n.identity)
		if err := members.SetKeys(key, accepted); err != nil {
			return fmt.Errorf("network: %w", err)
		}
	}
	if n.closed {
		return membership.ErrClosed
	}
	n.members.Store(members)
	n.prover.start(members, n.transport)
	return nil
}

// Leave implements cluster.Network.
func (n *Network) Leave(ctx context.Context) error {
	var err error
	if members := n.members.Load(); members != nil && members.Err() == nil {
		err = members.Leave(ctx)
	}
	return errors.Join(err, n.Close())
}

// Close frees ports and connections. If Leave was not called, the other agents take this one for failed. A second call
// does nothing.
func (n *Network) Close() error {
	n.mu.Lock()
	wasClosed := n.closed
	n.closed = true
	n.mu.Unlock()
	if wasClosed {
		return nil
	}
	n.prover.stop()
	var err error
	if members := n.members.Load(); members != nil {
		err = members.Close()
	}
	err = errors.Join(err, n.transport.Close())
	n.prover.loops.Wait()
	return err
}

// Agents implements cluster.Network.
func (n *Network) Agents() []ownership.Agent {
	members := n.members.Load()
	if members == nil {
		return []ownership.Agent{n.self()}
	}
	view := members.View()
	n.arrivals.note(view)
	agents := make([]ownership.Agent, 0, len(view.Agents))
	for i := range view.Agents {
		a, ok := n.prover.proven(&view.Agents[i])
		if ok && (len(agents) < provenMost || a.ID == n.o.ID) {
			agents = append(agents, a)
		}
	}
	return agents
}

// self is this agent as it describes itself.
func (n *Network) self() ownership.Agent {
	n.mu.Lock()
	defer n.mu.Unlock()
	return ownership.Agent{ID: n.o.ID, Capacity: n.o.Capacity, Store: n.store}
}

// KnownAgents implements cluster.Network.
func (n *Network) KnownAgents() []cluster.KnownAgent {
	members := n.members.Load()
	if members == nil {
		return []cluster.KnownAgent{{Agent: n.self(), State: cluster.AgentAlive}}
	}
	view := members.View()
	n.arrivals.note(view)
	var known []cluster.KnownAgent
	for i := range view.Agents {
		a, ok := n.prover.proven(&view.Agents[i])
		k := cluster.KnownAgent{Agent: a, State: cluster.AgentAlive, ChangedAt: n.arrivals.timeOf(a.ID)}
		_, isSuspected := slices.BinarySearch(view.Suspected, a.ID)
		switch {
		case !ok:
			k.State = cluster.AgentUnproven
		case isSuspected:
			k.State = cluster.AgentSuspected
		}
		known = append(known, k)
	}
	for i := range view.Past {
		past := &view.Past[i]
		a, ok := n.prover.provenBefore(&past.Agent)
		if !ok {
			continue
		}
		k := cluster.KnownAgent{Agent: a, State: cluster.AgentDead, ChangedAt: past.At}
		if past.HasLeft {
			k.State = cluster.AgentLeft
		}
		known = append(known, k)
	}
	slices.SortFunc(known, func(a, b cluster.KnownAgent) int { return strings.Compare(a.ID, b.ID) })
	return known
}

// Changed implements cluster.Network. Before Join nothing changes.
func (n *Network) Changed() <-chan struct{} {
	members := n.members.Load()
	switch {
	case members == nil:
		return nil
	case n.prover.isNeeded:
		return n.prover.changed
	}
	return members.Changed()
}

// Lost implements cluster.Network.
func (n *Network) Lost() <-chan struct{} {
	if members := n.members.Load(); members != nil {
		return members.Lost()
	}
	return nil
}

// Err implements cluster.Network.
func (n *Network) Err() error {
	if members := n.members.Load(); members != nil {
		return members.Err()
	}
	return nil
}

// arrivals notes when each agent was first seen with its data. It is safe for concurrent use.
type arrivals struct {
	mu   sync.Mutex
	byID map[string]arrival // guarded by mu: those in the last View that was noted
}

// arrival is when an agent was first seen with these data.
type arrival struct {
	store uint64
	at    time.Time
}

// note notes the agents of a View, and forgets all others.
func (a *arrivals) note(view *membership.View) {
	a.mu.Lock()
	defer a.mu.Unlock()
	now, noted := time.Now(), make(map[string]arrival, len(view.Agents))
	for i := range view.Agents {
		member := &view.Agents[i]
		if before, ok := a.byID[member.ID]; ok && before.store == member.Store {
			noted[member.ID] = before
			continue
		}
		noted[member.ID] = arrival{member.Store, now}
	}
	a.byID = noted
}

// timeOf is when an agent of the last View was first seen.
func (a *arrivals) timeOf(id string) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.byID[id].at
}
