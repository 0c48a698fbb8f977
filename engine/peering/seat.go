package peering

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/identity"
	"orbweaver/engine/cluster/membership"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/cluster/transport"
)

// Seat is an agent's place among the others. It implements engine.Peering, and is safe for concurrent use.
type Seat struct {
	o         Options
	transport *transport.Transport

	server atomic.Pointer[cluster.Handler]    // nil before Join
	group  atomic.Pointer[membership.Service] // nil before Join has succeeded

	mu       sync.Mutex
	closed   bool
	store    uint64
	identity *identity.Identity // the last one: see Renew; nil in plain text
	came     map[string]arrival // by ID: those in the last View that was looked at
	proofs   map[string]*proof  // by ID: those in the last View, and those that have proved their name
	asking   int                // agents that are asked for a proof now

	end     context.CancelFunc // ends loops
	ctx     context.Context    //nolint:containedctx // the life of the Seat, until end
	loops   sync.WaitGroup
	proved  chan struct{} // capacity 1: an agent has been asked for a proof
	changed chan struct{} // capacity 1: see Changed
}

var _ cluster.Network = (*Seat)(nil)

// arrival is when an agent was first seen with these data.
type arrival struct {
	store uint64
	when  time.Time
}

// questionKind is the kind of the engine's questions: what they mean is the engine's business. The other kind is
// questionCard.
const questionKind = 1

// askPatience is how long an answer is waited for. Those that there are take milliseconds.
const askPatience = 10 * time.Second

// version is that of the messages.
const version = 1

// Open takes the port for messages. Other agents learn of this agent by Join. The Seat lives as long as ctx.
func Open(ctx context.Context, o Options) (*Seat, error) {
	o = o.WithDefaults()
	if err := o.Validate(); err != nil {
		return nil, err
	}
	s := &Seat{o: o, identity: o.Identity, came: map[string]arrival{}, proofs: map[string]*proof{}, proved: make(chan struct{}, 1), changed: make(chan struct{}, 1)}
	s.ctx, s.end = context.WithCancel(context.WithoutCancel(ctx))
	options := transport.Options{
		Self: o.ID, Addr: o.Post, Identity: o.Identity, Receive: s.receive, Respond: s.answer, Log: o.Log,
		Generations: o.Generations, SaveGenerations: o.SaveGenerations,
	}
	if o.Identity == nil {
		options.Plain, options.Crawl = true, plainCrawl
	}
	var err error
	if s.transport, err = transport.Open(ctx, options); err != nil {
		s.end()
		if errors.Is(err, transport.ErrIdentity) {
			return nil, fmt.Errorf("peering: %w", err)
		}
		return nil, fmt.Errorf("peering: listening for messages on %v: %w: "+
			"does another agent run here? give another address", o.Post, err)
	}
	return s, nil
}

// Self implements engine.Peering.
func (s *Seat) Self() string { return s.o.ID }

// Join implements engine.Peering. An error may wrap membership.ErrNameInUse, ErrOtherCrawl or ErrOtherKey.
func (s *Seat) Join(ctx context.Context, store uint64, server cluster.Handler) error {
	s.mu.Lock()
	s.store = store
	s.mu.Unlock()
	s.server.Store(&server)
	o := membership.Options{
		Self: membership.Agent{
			ID: s.o.ID, Capacity: s.o.Capacity, GossipAddr: s.o.Gossip, MessageAddr: s.transport.Addr(), Store: store, Crawl: plainCrawl, MessageVersion: version,
		},
		Seeds: s.o.Join, Timings: s.o.Timings, Log: s.o.Log,
	}
	joined := s.newest()
	if joined != nil {
		o.Self.Crawl = joined.Crawl
		o.Key, o.AcceptedKeys = keysOf(joined)
	}
	g, err := membership.Join(ctx, o)
	if err != nil {
		return fmt.Errorf("peering: %w", err)
	}
	s.mu.Lock()
	if s.identity != joined { // it was renewed meanwhile
		key, accepted := keysOf(s.identity)
		err = g.SetKeys(key, accepted)
	}
	if err != nil {
		s.mu.Unlock()
		return errors.Join(fmt.Errorf("peering: %w", err), g.Close())
	}
	if s.closed {
		s.mu.Unlock()
		return errors.Join(membership.ErrClosed, g.Close())
	}
	s.group.Store(g)
	if s.o.Identity != nil {
		s.loops.Go(func() { s.proveAll(s.ctx, g) })
	}
	s.mu.Unlock()
	if s.o.Identity != nil {
		s.firstProofs(ctx, g)
	}
	s.o.Log.Info("this agent is known to the others",
		"agent", s.o.ID, "gossip", g.Self().GossipAddr, "messages", s.transport.Addr(), "agents", len(s.Agents()))
	return nil
}

// newest is the last identity that this agent was given.
func (s *Seat) newest() *identity.Identity {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.identity
}

// Leave implements engine.Peering.
func (s *Seat) Leave(ctx context.Context) error {
	var err error
	if g := s.group.Load(); g != nil && g.Err() == nil {
		err = g.Leave(ctx)
	}
	return errors.Join(err, s.Close())
}

// Close lets go of ports and connections, without a goodbye if there was none. To the others that is a death. A second
// call does nothing.
func (s *Seat) Close() error {
	s.mu.Lock()
	was := s.closed
	s.closed = true
	s.mu.Unlock()
	if was {
		return nil
	}
	s.end()
	var err error
	if g := s.group.Load(); g != nil {
		err = g.Close()
	}
	err = errors.Join(err, s.transport.Close())
	s.loops.Wait()
	return err
}

// Agents implements engine.Peering.
func (s *Seat) Agents() []ownership.Agent {
	g := s.group.Load()
	if g == nil {
		return []ownership.Agent{s.self()}
	}
	v := g.View()
	s.note(v)
	peers := make([]ownership.Agent, 0, len(v.Agents))
	for i := range v.Agents {
		peer, ok := s.counted(&v.Agents[i])
		if ok && (len(peers) < provenMost || peer.ID == s.o.ID) {
			peers = append(peers, peer)
		}
	}
	return peers
}

func (s *Seat) self() ownership.Agent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return ownership.Agent{ID: s.o.ID, Capacity: s.o.Capacity, Store: s.store}
}

func peerOf(a *membership.Agent) ownership.Agent {
	return ownership.Agent{ID: a.ID, Capacity: a.Capacity, Store: a.Store}
}

// note records since when each agent of a View has been a member.
func (s *Seat) note(v *membership.View) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, here := time.Now(), make(map[string]arrival, len(v.Agents))
	for i := range v.Agents {
		a := &v.Agents[i]
		if was, ok := s.came[a.ID]; ok && was.store == a.Store {
			here[a.ID] = was
			continue
		}
		here[a.ID] = arrival{a.Store, now}
	}
	s.came = here
}

// KnownAgents implements engine.Peering.
func (s *Seat) KnownAgents() []cluster.KnownAgent {
	g := s.group.Load()
	if g == nil {
		return []cluster.KnownAgent{{Agent: s.self(), State: cluster.AgentAlive}}
	}
	v := g.View()
	s.note(v)
	var known []cluster.KnownAgent
	for i := range v.Agents {
		a := &v.Agents[i]
		peer, ok := s.counted(a)
		k := cluster.KnownAgent{Agent: peer, State: cluster.AgentAlive, Since: s.since(a.ID)}
		_, doubted := slices.BinarySearch(v.Suspected, a.ID)
		switch {
		case !ok:
			k.State = cluster.AgentUnproven
		case doubted:
			k.State = cluster.AgentSuspected
		}
		known = append(known, k)
	}
	for i := range v.Past {
		gone := &v.Past[i]
		peer, ok := s.knew(&gone.Agent)
		if !ok {
			continue
		}
		k := cluster.KnownAgent{Agent: peer, State: cluster.AgentDead, Since: gone.At}
		if gone.HasLeft {
			k.State = cluster.AgentLeft
		}
		known = append(known, k)
	}
	slices.SortFunc(known, func(a, b cluster.KnownAgent) int { return strings.Compare(a.ID, b.ID) })
	return known
}

// since is when an agent of the View was first seen.
func (s *Seat) since(id string) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.came[id].when
}

// Changed implements engine.Peering. Before Join nothing changes.
func (s *Seat) Changed() <-chan struct{} {
	if s.o.Identity != nil && s.group.Load() != nil {
		return s.changed
	}
	if g := s.group.Load(); g != nil {
		return g.Changed()
	}
	return nil
}

// Lost implements engine.Peering.
func (s *Seat) Lost() <-chan struct{} {
	if g := s.group.Load(); g != nil {
		return g.Lost()
	}
	return nil
}

// Err implements engine.Peering.
func (s *Seat) Err() error {
	if g := s.group.Load(); g != nil {
		return g.Err()
	}
	return nil
}
