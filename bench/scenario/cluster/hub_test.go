package cluster

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"orbweaver/engine/peering"
	"orbweaver/engine/peering/outbox"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
)

// hub connects the agents of one process in virtual time. It is membership and transport together: an agent learns of
// changes a little later, and messages take a while.
type hub struct {
	mu        sync.Mutex
	endpoints map[string]*endpoint
	stopped   map[string]ownership.Agent // that stopped in order
	broken    map[direction]bool         // carries nothing
	unseen    map[direction]bool         // the first agent takes the second one for dead

	latency    func() time.Duration // of one message in one direction
	gossip     func() time.Duration // until an agent learns of a change of membership
	messages   int                  // that were acknowledged
	questions  int
	doneAgents map[string]bool // said that they have nothing left, and have not joined since
	crawlEnded bool            // an agent has said that the crawl is over

	// onSend is called for each message before it arrives; nil for none.
	onSend func(ctx context.Context, from, to string, message []byte) error
	// losesMessage says of anything that is sent, answers too, that it does not arrive; nil for never.
	losesMessage func() bool
	// acknowledgesUnread says that a message is acknowledged and not given to its receiver; nil for none.
	acknowledgesUnread func(message []byte) bool
	// onAcknowledged is called when a message was acknowledged; nil for none.
	onAcknowledged func(from, to string)
	// staysUnanswered says that a question gets no answer; nil for none. Guarded by mu.
	staysUnanswered func(from, to string, question []byte) bool
}

var (
	errNotMember = errors.New("hub: no such agent")
	errName      = errors.New("hub: another process has the name")
)

func newHub() *hub {
	return &hub{
		endpoints: map[string]*endpoint{}, stopped: map[string]ownership.Agent{}, doneAgents: map[string]bool{},
		broken: map[direction]bool{}, unseen: map[direction]bool{},
		latency: func() time.Duration { return 2 * time.Millisecond }, gossip: func() time.Duration { return 0 },
	}
}

// endpoint is the connection of one agent to the hub. It implements cluster.Network.
type endpoint struct {
	hub              *hub
	peer             ownership.Agent
	changed          chan struct{}
	lost             chan struct{} // closed when another process has the name
	server           cluster.Handler
	isEarlierVersion bool // the agent knows no leases and no leaving

	here, stopped []ownership.Agent // as this agent knows
}

// newEndpoint makes the endpoint of an agent that has not joined yet.
func (h *hub) newEndpoint(id string, capacity int) *endpoint {
	return &endpoint{
		hub: h, peer: ownership.Agent{ID: id, Capacity: capacity}, changed: make(chan struct{}, 1),
		lost: make(chan struct{}),
	}
}

// takeID removes an agent, because another process has its name.
func (h *hub) takeID(id string) {
	h.mu.Lock()
	d := h.endpoints[id]
	h.mu.Unlock()
	h.remove(d)
	close(d.lost)
}

// setEarlierVersion makes an agent one of an earlier version, or of this one.
func (h *hub) setEarlierVersion(d *endpoint, isEarlier bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d.isEarlierVersion = isEarlier
}

// isDone says that an agent has said that it has nothing left: the others have forgotten what they sent to it.
func (h *hub) isDone(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.doneAgents[name]
}

// hasCrawlEnded says that an agent has said that the crawl is over: an agent that joins now may find no other one.
func (h *hub) hasCrawlEnded() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.crawlEnded
}

// endNoter reads the log of an agent. One that is alone at the end tells no other agent that the crawl is over.
type endNoter struct{ hub *hub }

func (n endNoter) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("the crawl is over")) {
		n.hub.mu.Lock()
		defer n.hub.mu.Unlock()
		n.hub.crawlEnded = true
	}
	return len(line), nil
}

// stopAnswering is what the others see of a kill: the agent does not answer. Some time later they take it for dead: see
// remove.
func (h *hub) stopAnswering(d *endpoint) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d.server = nil
}

// remove removes an agent, if it is still there.
func (h *hub) remove(d *endpoint) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.endpoints[d.peer.ID] == d {
		delete(h.endpoints, d.peer.ID)
		h.announce()
	}
}

// announce tells all agents the membership of now.
func (h *hub) announce() {
	for _, d := range h.endpoints {
		if delay := h.gossip(); delay > 0 {
			time.AfterFunc(delay, func() {
				h.mu.Lock()
				defer h.mu.Unlock()
				d.update()
			})
		} else {
			d.update()
		}
	}
}

// update gives an agent the membership of now.
func (d *endpoint) update() {
	d.here, d.stopped = nil, slices.Collect(maps.Values(d.hub.stopped))
	for _, other := range d.hub.endpoints {
		d.here = append(d.here, other.peer)
	}
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

func (d *endpoint) Self() string { return d.peer.ID }

func (d *endpoint) Agents() (all []ownership.Agent) {
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	if d.hub.endpoints[d.peer.ID] != d {
		return []ownership.Agent{d.peer}
	}
	for _, other := range d.here {
		if !d.hub.unseen[direction{d.peer.ID, other.ID}] {
			all = append(all, other)
		}
	}
	slices.SortFunc(all, func(a, b ownership.Agent) int { return strings.Compare(a.ID, b.ID) })
	return all
}

func (d *endpoint) Changed() <-chan struct{} { return d.changed }

func (d *endpoint) KnownAgents() (known []cluster.KnownAgent) {
	for _, peer := range d.Agents() {
		known = append(known, cluster.KnownAgent{Agent: peer, State: cluster.AgentAlive})
	}
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	for _, peer := range d.stopped {
		known = append(known, cluster.KnownAgent{Agent: peer, State: cluster.AgentLeft})
	}
	return known
}

func (d *endpoint) Lost() <-chan struct{} { return d.lost }

func (d *endpoint) Err() error {
	select {
	case <-d.lost:
		return errName
	default:
		return nil
	}
}

func (d *endpoint) Join(_ context.Context, store uint64, s cluster.Handler) error {
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	d.server, d.peer.Store = s, store
	d.hub.endpoints[d.peer.ID] = d
	delete(d.hub.stopped, d.peer.ID)
	delete(d.hub.doneAgents, d.peer.ID)
	d.update()
	d.hub.announce()
	return nil
}

func (d *endpoint) Leave(context.Context) error {
	d.hub.mu.Lock()
	dead := d.server == nil
	if !dead {
		d.hub.stopped[d.peer.ID] = d.peer
	}
	d.hub.mu.Unlock()
	if !dead {
		d.hub.remove(d)
	}
	return nil
}

// transmit waits as long as a message takes; it fails if the direction carries nothing.
func (h *hub) transmit(ctx context.Context, from, to string) error {
	h.mu.Lock()
	isLost, wait := h.broken[direction{from, to}] || h.losesMessage != nil && h.losesMessage(), h.latency()
	h.mu.Unlock()
	if isLost {
		wait = 3 * time.Second
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	if isLost {
		return errNotMember
	}
	return nil
}

// find is the handler of another agent, after a while.
func (d *endpoint) find(ctx context.Context, to string) (cluster.Handler, error) {
	if err := d.hub.transmit(ctx, d.peer.ID, to); err != nil {
		return nil, err
	}
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	other := d.hub.endpoints[to]
	if other == nil || other.server == nil || d.server == nil || d.hub.endpoints[d.peer.ID] != d ||
		d.hub.unseen[direction{d.peer.ID, to}] {
		return nil, errNotMember
	}
	return other.server, nil
}

func (d *endpoint) Send(ctx context.Context, to string, _ uint64, message []byte) error {
	s, err := d.find(ctx, to)
	if err != nil {
		return err
	}
	if d.hub.onSend != nil {
		if err = d.hub.onSend(ctx, d.peer.ID, to, message); err != nil {
			return err
		}
	}
	for _, err := range outbox.Items(message) {
		if err != nil {
			return peering.ErrMalformed
		}
	}
	if d.hub.acknowledgesUnread != nil && d.hub.acknowledgesUnread(message) {
		return nil
	}
	if err = s.HandleMessage(ctx, d.peer.ID, slices.Clone(message)); err != nil {
		return err
	}
	if err = d.hub.transmit(ctx, to, d.peer.ID); err != nil {
		return err
	}
	if d.hub.onAcknowledged != nil {
		d.hub.onAcknowledged(d.peer.ID, to)
	}
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	d.hub.messages++
	return nil
}

// sent is the number of messages that were acknowledged, while agents run.
func (h *hub) sent() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.messages
}

func (d *endpoint) Ask(ctx context.Context, to string, question []byte) ([]byte, error) {
	s, err := d.find(ctx, to)
	if err != nil {
		return nil, err
	}
	d.hub.mu.Lock()
	d.hub.questions++
	d.hub.crawlEnded = d.hub.crawlEnded || question[0] == 'O'
	if question[0] == 'G' && question[1] == 2 {
		d.hub.doneAgents[d.peer.ID] = true
	}
	isEarlier, staysUnanswered := d.hub.endpoints[to] != nil && d.hub.endpoints[to].isEarlierVersion, d.hub.staysUnanswered
	d.hub.mu.Unlock()
	if isEarlier && question[0] != 'C' && question[0] != 'F' {
		return nil, peering.ErrMalformed
	}
	if staysUnanswered != nil && staysUnanswered(d.peer.ID, to, question) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	answer, err := s.HandleQuestion(ctx, d.peer.ID, question)
	if err == nil {
		err = d.hub.transmit(ctx, to, d.peer.ID)
	}
	return answer, err
}
