package crash

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
)

// meeting is where agents in one process find each other. No agent is ever taken for dead.
type meeting struct {
	mu   sync.Mutex
	here map[string]*chair
	left map[string]ownership.Agent // in good order
}

func newMeeting() *meeting {
	return &meeting{here: map[string]*chair{}, left: map[string]ownership.Agent{}}
}

// chair is one agent's place.
type chair struct {
	meeting *meeting
	peer    ownership.Agent
	changed chan struct{}
	server  cluster.Handler
}

var errNobody = errors.New("meeting: nobody there")

func (m *meeting) chair(id string) *chair {
	return &chair{meeting: m, peer: ownership.Agent{ID: id, Capacity: 1}, changed: make(chan struct{}, 1)}
}

func (m *meeting) tell() {
	for _, c := range m.here {
		select {
		case c.changed <- struct{}{}:
		default:
		}
	}
}

func (c *chair) Self() string             { return c.peer.ID }
func (c *chair) Changed() <-chan struct{} { return c.changed }
func (c *chair) Lost() <-chan struct{}    { return nil }
func (c *chair) Err() error               { return nil }

func (c *chair) Agents() (all []ownership.Agent) {
	c.meeting.mu.Lock()
	defer c.meeting.mu.Unlock()
	if c.server == nil {
		return []ownership.Agent{c.peer}
	}
	for _, other := range c.meeting.here {
		all = append(all, other.peer)
	}
	slices.SortFunc(all, func(a, b ownership.Agent) int { return strings.Compare(a.ID, b.ID) })
	return all
}

func (c *chair) KnownAgents() (known []cluster.KnownAgent) {
	for _, peer := range c.Agents() {
		known = append(known, cluster.KnownAgent{Agent: peer, State: cluster.AgentAlive})
	}
	c.meeting.mu.Lock()
	defer c.meeting.mu.Unlock()
	for _, peer := range c.meeting.left {
		known = append(known, cluster.KnownAgent{Agent: peer, State: cluster.AgentLeft})
	}
	return known
}

func (c *chair) Join(_ context.Context, store uint64, s cluster.Handler) error {
	c.meeting.mu.Lock()
	defer c.meeting.mu.Unlock()
	c.server, c.peer.Store = s, store
	c.meeting.here[c.peer.ID] = c
	delete(c.meeting.left, c.peer.ID)
	c.meeting.tell()
	return nil
}

func (c *chair) Leave(context.Context) error {
	c.meeting.mu.Lock()
	defer c.meeting.mu.Unlock()
	c.meeting.left[c.peer.ID] = c.peer
	delete(c.meeting.here, c.peer.ID)
	c.meeting.tell()
	return nil
}

// reach is another agent, after a moment.
func (c *chair) reach(ctx context.Context, to string) (cluster.Handler, error) {
	select {
	case <-time.After(2 * time.Millisecond):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c.meeting.mu.Lock()
	defer c.meeting.mu.Unlock()
	if other := c.meeting.here[to]; other != nil {
		return other.server, nil
	}
	return nil, errNobody
}

func (c *chair) Send(ctx context.Context, to string, _ uint64, letter []byte) error {
	s, err := c.reach(ctx, to)
	if err != nil {
		return err
	}
	return s.HandleMessage(ctx, c.peer.ID, slices.Clone(letter))
}

func (c *chair) Ask(ctx context.Context, to string, question []byte) ([]byte, error) {
	s, err := c.reach(ctx, to)
	if err != nil {
		return nil, err
	}
	return s.HandleQuestion(ctx, c.peer.ID, slices.Clone(question))
}
