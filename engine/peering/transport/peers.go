package transport

import (
	"context"
	"fmt"
	"sync"
)

// peerState is what this agent holds of one other agent: what bounds its calls to this agent.
type peerState struct {
	id       string
	batches  chan struct{} // capacity Window: each Deliver call holds a place from before its batch is read
	reading  chan struct{} // capacity 1: held while a batch is read and until there is memory for it
	calls    chan struct{} // capacity callsMax: each Call holds a place
	received receivedLog

	mu     sync.Mutex
	remote *remote // guarded by mu: the newest connection on which it made a call; nil before
}

// use makes a connection the one of this agent, and closes the one before it, which may be dead without this end
// knowing. A call on a connection that was replaced so is refused.
func (p *peerState) use(r *remote) error {
	p.mu.Lock()
	before := p.remote
	if before != nil && before.number > r.number {
		p.mu.Unlock()
		return fmt.Errorf("%w: %s has a newer connection", ErrClosed, p.id)
	}
	p.remote = r
	p.mu.Unlock()
	if before != nil && before != r {
		before.close()
	}
	return nil
}

// disconnect closes the connection on which the agent calls this one.
func (p *peerState) disconnect() {
	p.mu.Lock()
	r := p.remote
	p.mu.Unlock()
	if r != nil {
		r.close()
	}
}

// acquire waits for a place.
func acquire(ctx context.Context, places chan struct{}) (release func(), err error) {
	select {
	case places <- struct{}{}:
		return func() { <-places }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// peerTable has the states of all agents that this one has exchanged messages with.
type peerTable struct {
	window, peersMax int

	mu   sync.Mutex
	byID map[string]*peerState
}

func newPeerTable(window, peersMax int) *peerTable {
	return &peerTable{window: window, peersMax: peersMax, byID: make(map[string]*peerState)}
}

// get finds the state of an agent, or makes it. It returns an error if there are too many.
func (t *peerTable) get(id string) (*peerState, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p := t.byID[id]; p != nil {
		return p, nil
	}
	if len(t.byID) >= t.peersMax {
		return nil, fmt.Errorf("%w: %d other agents are known", errTooMany, t.peersMax)
	}
	p := &peerState{
		id: id, batches: make(chan struct{}, t.window),
		reading: make(chan struct{}, 1), calls: make(chan struct{}, callsMax),
	}
	t.byID[id] = p
	return p, nil
}

func (t *peerTable) forget(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.byID, id)
}
