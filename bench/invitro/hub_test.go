package invitro

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"orbweaver/engine"
)

// hub joins engines in one process to a crawl of several agents, in virtual time: everybody knows at once who is there.
type hub struct {
	mu    sync.Mutex
	desks map[string]*desk

	latency time.Duration
	letters int // that were acknowledged
	asked   int
}

var errAway = errors.New("hub: nobody there")

func newHub() *hub { return &hub{desks: map[string]*desk{}, latency: 2 * time.Millisecond} }

// desk is one agent at the hub.
type desk struct {
	hub     *hub
	peer    engine.Peer
	changed chan struct{}
	server  engine.PeerServer
}

// join adds an agent.
func (h *hub) join(p engine.Peer) *desk {
	h.mu.Lock()
	defer h.mu.Unlock()
	d := &desk{hub: h, peer: p, changed: make(chan struct{}, 1)}
	h.desks[p.ID] = d
	h.tell()
	return d
}

// leave takes an agent away.
func (h *hub) leave(id string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.desks, id)
	h.tell()
}

func (h *hub) tell() {
	for _, d := range h.desks {
		select {
		case d.changed <- struct{}{}:
		default:
		}
	}
}

func (d *desk) Self() string { return d.peer.ID }

func (d *desk) Peers() (all []engine.Peer) {
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	for _, other := range d.hub.desks {
		all = append(all, other.peer)
	}
	slices.SortFunc(all, func(a, b engine.Peer) int { return strings.Compare(a.ID, b.ID) })
	return all
}

func (d *desk) Changed() <-chan struct{} { return d.changed }

func (d *desk) Serve(s engine.PeerServer) {
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	d.server = s
}

// reach is the agent at another desk, after a while.
func (d *desk) reach(ctx context.Context, to string) (engine.PeerServer, error) {
	timer := time.NewTimer(d.hub.latency)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	d.hub.mu.Lock()
	defer d.hub.mu.Unlock()
	other := d.hub.desks[to]
	if other == nil || other.server == nil || d.hub.desks[d.peer.ID] != d {
		return nil, errAway
	}
	return other.server, nil
}

func (d *desk) Send(ctx context.Context, to string, letter []byte) error {
	s, err := d.reach(ctx, to)
	if err != nil {
		return err
	}
	if err = s.Letter(ctx, d.peer.ID, slices.Clone(letter)); err != nil {
		return err
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
	d.hub.mu.Unlock()
	return s.Answer(ctx, d.peer.ID, question)
}
