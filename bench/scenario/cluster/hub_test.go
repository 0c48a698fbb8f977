package cluster

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/outbox"
	"orbweaver/engine/cluster/ownership"
)

// hub joins engines in one process to a crawl of several agents, in virtual time. Who is there everybody knows a little
// later.
type hub struct {
	mu    sync.Mutex
	desks map[string]*desk
	left  map[string]ownership.Agent // in good order
	cut   map[way]bool               // carries nothing
	blind map[way]bool               // takes the other for dead

	latency func() time.Duration // of one way
	gossip  func() time.Duration // until an agent hears that somebody came or went
	letters int                  // that were acknowledged
	asked   int
	gone    map[string]bool // who has said that it has nothing left, and not come again since
	over    bool            // somebody has said that the crawl is

	way   func(ctx context.Context, from, to string, letter []byte) error // of each letter before it arrives; nil for none
	drops func() bool                                                     // says of anything that is sent, answers too, that it does not arrive; nil for never
	eats  func(letter []byte) bool                                        // says that a letter is acknowledged, and read by nobody; nil for none
	acked func(from, to string)                                           // called when a letter was acknowledged; nil for nobody
	mute  func(from, to string, question []byte) bool                     // guarded by mu: says that a question gets no answer; nil for none
}

var (
	errAway = errors.New("hub: nobody there")
	errName = errors.New("hub: another has the name")
)

func newHub() *hub {
	return &hub{desks: map[string]*desk{}, left: map[string]ownership.Agent{}, gone: map[string]bool{}, cut: map[way]bool{}, blind: map[way]bool{},
		latency: func() time.Duration { return 2 * time.Millisecond }, gossip: func() time.Duration { return 0 }}
}

// desk is one agent at the hub.
type desk struct {
	hub     *hub
	peer    ownership.Agent
	changed chan struct{}
	lost    chan struct{} // closed when another has the name
	server  cluster.Handler
	former  bool // it is of a version that knows no leases and no leaving

	here, left []ownership.Agent // as this agent knows
}

// desk makes the place of an agent that has not come yet.
func (h *hub) desk(id string, capacity int) *desk {
	return &desk{hub: h, peer: ownership.Agent{ID: id, Capacity: capacity}, changed: make(chan struct{}, 1), lost: make(chan struct{})}
}

// expel takes an agent away, since another has its name.
func (h *hub) expel(id string) {
	h.mu.Lock()
	d := h.desks[id]
	h.mu.Unlock()
	h.leave(d)
	close(d.lost)
}

// date makes an agent one of the former version, or of this.
func (h *hub) date(d *desk, former bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d.former = former
}

// hasGone says that an agent has said that it has nothing left: the others have forgotten what they told it.
func (h *hub) hasGone(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.gone[name]
}

// ending says that the crawl was over once: who comes then may find nobody.
func (h *hub) ending() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.over
}

// lose is what the others see of a kill: an agent that does not answer. Some time later they take it for gone: see
// leave.
func (h *hub) lose(d *desk) {
	h.mu.Lock()
	defer h.mu.Unlock()
	d.server = nil
}

// leave takes an agent away, if it is still there.
func (h *hub) leave(d *desk) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.desks[d.peer.ID] == d {
		delete(h.desks, d.peer.ID)
		h.tell()
	}
}

// tell spreads what is so now.
func (h *hub) tell() {
	for _, d := range h.desks {
		if late := h.gossip(); late > 0 {
			time.AfterFunc(late, func() {
				h.mu.Lock()
				defer h.mu.Unlock()
				d.hear()
			})
		} else {
			d.hear()
		}
	}
}

// hear has an agent know what is so now.
func (d *desk) hear() {
	d.here, d.left = nil, slices.Collect(maps.Values(d.hub.left))
	for _, other := range d.hub.desks {
		d.here = append(d.here, other.peer)
	}
	select {
	case d.changed <- struct{}{}:
	default:
	}
}

func (d *desk) Self() string { return d.peer.ID }

func (d *desk) Agents() (all []ownership.Agent) {
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	if d.hub.desks[d.peer.ID] != d {
		return []ownership.Agent{d.peer}
	}
	for _, other := range d.here {
		if !d.hub.blind[way{d.peer.ID, other.ID}] {
			all = append(all, other)
		}
	}
	slices.SortFunc(all, func(a, b ownership.Agent) int { return strings.Compare(a.ID, b.ID) })
	return all
}

func (d *desk) Changed() <-chan struct{} { return d.changed }

func (d *desk) KnownAgents() (known []cluster.KnownAgent) {
	for _, peer := range d.Agents() {
		known = append(known, cluster.KnownAgent{Agent: peer, State: cluster.AgentAlive})
	}
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	for _, peer := range d.left {
		known = append(known, cluster.KnownAgent{Agent: peer, State: cluster.AgentLeft})
	}
	return known
}

func (d *desk) Lost() <-chan struct{} { return d.lost }

func (d *desk) Err() error {
	select {
	case <-d.lost:
		return errName
	default:
		return nil
	}
}

func (d *desk) Join(_ context.Context, store uint64, s cluster.Handler) error {
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	d.server, d.peer.Store = s, store
	d.hub.desks[d.peer.ID] = d
	delete(d.hub.left, d.peer.ID)
	delete(d.hub.gone, d.peer.ID)
	d.hear()
	d.hub.tell()
	return nil
}

func (d *desk) Leave(context.Context) error {
	d.hub.mu.Lock()
	dead := d.server == nil
	if !dead {
		d.hub.left[d.peer.ID] = d.peer
	}
	d.hub.mu.Unlock()
	if !dead {
		d.hub.leave(d)
	}
	return nil
}

// travel takes the way from one agent to another; it fails if that carries nothing.
func (h *hub) travel(ctx context.Context, from, to string) error {
	h.mu.Lock()
	cut, wait := h.cut[way{from, to}] || h.drops != nil && h.drops(), h.latency()
	h.mu.Unlock()
	if cut {
		wait = 3 * time.Second
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	if cut {
		return errAway
	}
	return nil
}

// reach is the agent at another desk, after a while.
func (d *desk) reach(ctx context.Context, to string) (cluster.Handler, error) {
	if err := d.hub.travel(ctx, d.peer.ID, to); err != nil {
		return nil, err
	}
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	other := d.hub.desks[to]
	if other == nil || other.server == nil || d.server == nil || d.hub.desks[d.peer.ID] != d || d.hub.blind[way{d.peer.ID, to}] {
		return nil, errAway
	}
	return other.server, nil
}

func (d *desk) Send(ctx context.Context, to string, _ uint64, letter []byte) error {
	s, err := d.reach(ctx, to)
	if err != nil {
		return err
	}
	if d.hub.way != nil {
		if err = d.hub.way(ctx, d.peer.ID, to, letter); err != nil {
			return err
		}
	}
	for _, err := range outbox.Items(letter) {
		if err != nil {
			return cluster.ErrMalformed
		}
	}
	if d.hub.eats != nil && d.hub.eats(letter) {
		return nil
	}
	if err = s.HandleMessage(ctx, d.peer.ID, slices.Clone(letter)); err != nil {
		return err
	}
	if err = d.hub.travel(ctx, to, d.peer.ID); err != nil {
		return err
	}
	if d.hub.acked != nil {
		d.hub.acked(d.peer.ID, to)
	}
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	d.hub.letters++
	return nil
}

func (d *desk) Ask(ctx context.Context, to string, question []byte) ([]byte, error) {
	s, err := d.reach(ctx, to)
	if err != nil {
		return nil, err
	}
	d.hub.mu.Lock()
	d.hub.asked++
	d.hub.over = d.hub.over || question[0] == 'O'
	if question[0] == 'G' && question[1] == 2 {
		d.hub.gone[d.peer.ID] = true
	}
	former, mute := d.hub.desks[to] != nil && d.hub.desks[to].former, d.hub.mute
	d.hub.mu.Unlock()
	if former && question[0] != 'C' && question[0] != 'F' {
		return nil, cluster.ErrMalformed
	}
	if mute != nil && mute(d.peer.ID, to, question) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	answer, err := s.HandleQuestion(ctx, d.peer.ID, question)
	if err == nil {
		err = d.hub.travel(ctx, to, d.peer.ID)
	}
	return answer, err
}
