package network

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"orbweaver/engine/peering"
	"orbweaver/engine/peering/membership"
	"orbweaver/engine/peering/transport"
	"orbweaver/engine/state/cluster"
)

// questionKind is the kind of the engine's questions, whose content the engine alone knows. The other kind is
// questionDescription.
const questionKind = 1

// askPatience is how long an answer is waited for. It usually takes milliseconds.
const askPatience = 10 * time.Second

// ErrNotMember says that an agent is not a member.
var ErrNotMember = errors.New("network: that agent is not there")

// Send implements cluster.Network. An error wraps peering.ErrMalformed if the other agent never accepts this
// message, or if it is too long.
func (n *Network) Send(ctx context.Context, to string, sequence uint64, message []byte) error {
	peer, err := n.find(to)
	if err != nil {
		return err
	}
	return n.transport.Send(ctx, peer, sequence, message)
}

// Ask implements cluster.Network. It waits for askPatience at most.
func (n *Network) Ask(ctx context.Context, to string, question []byte) ([]byte, error) {
	peer, err := n.find(to)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	return n.transport.Call(ctx, peer, questionKind, question)
}

// find is where an agent listens for messages, as membership has it now.
func (n *Network) find(id string) (transport.Peer, error) {
	members := n.members.Load()
	if members == nil {
		return transport.Peer{}, fmt.Errorf("%w: %q: this agent has not joined", ErrNotMember, id)
	}
	agents := members.View().Agents
	i, ok := slices.BinarySearchFunc(agents, id,
		func(a membership.Agent, id string) int { return strings.Compare(a.ID, id) })
	if !ok {
		return transport.Peer{}, fmt.Errorf("%w: %q", ErrNotMember, id)
	}
	return transport.Peer{ID: id, Addr: agents[i].MessageAddr}, nil
}

// receive hands a message to the engine.
func (n *Network) receive(ctx context.Context, from string, message []byte) error {
	handler := n.handler.Load()
	if handler == nil {
		return cluster.ErrClosing
	}
	return (*handler).HandleMessage(ctx, from, message)
}

// answer hands a request to the engine.
func (n *Network) answer(ctx context.Context, from string, kind byte, question []byte) ([]byte, error) {
	handler := n.handler.Load()
	if handler == nil {
		return nil, cluster.ErrClosing
	}
	if kind == questionDescription {
		return appendDescription(nil, n.self()), nil
	}
	if kind != questionKind {
		return nil, fmt.Errorf("%w: a request of kind %d", peering.ErrMalformed, kind)
	}
	return (*handler).HandleQuestion(ctx, from, question)
}
