package peering

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/membership"
	"orbweaver/engine/cluster/transport"
)

// ErrAway says that an agent is not a member.
var ErrAway = errors.New("peering: that agent is not there")

// Send implements engine.Peering. An error wraps engine.ErrMalformed if the other agent never accepts this message, or
// if it is too long.
func (s *Seat) Send(ctx context.Context, to string, sequence uint64, letter []byte) error {
	peer, err := s.find(to)
	if err != nil {
		return err
	}
	return engineError(s.transport.Send(ctx, peer, sequence, letter))
}

// Ask implements engine.Peering. It waits for askPatience at most.
func (s *Seat) Ask(ctx context.Context, to string, question []byte) ([]byte, error) {
	peer, err := s.find(to)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	answer, err := s.transport.Call(ctx, peer, questionKind, question)
	return answer, engineError(err)
}

// find is where an agent listens for messages, as membership has it now.
func (s *Seat) find(id string) (transport.Peer, error) {
	g := s.group.Load()
	if g == nil {
		return transport.Peer{}, fmt.Errorf("%w: %q: this one has not joined", ErrAway, id)
	}
	agents := g.View().Agents
	i, ok := slices.BinarySearchFunc(agents, id, func(a membership.Agent, id string) int { return strings.Compare(a.ID, id) })
	if !ok {
		return transport.Peer{}, fmt.Errorf("%w: %q", ErrAway, id)
	}
	return transport.Peer{ID: id, Addr: agents[i].MessageAddr}, nil
}

// engineError is an error of the transport as the engine knows it: never send the message again, or not for a time.
func engineError(err error) error {
	var quota *transport.QuotaError
	switch {
	case errors.Is(err, transport.ErrRefused):
		return fmt.Errorf("%w: %w", cluster.ErrMalformed, err)
	case errors.Is(err, transport.ErrBanned):
		return fmt.Errorf("%w: %w", cluster.ErrBanned, err)
	case errors.As(err, &quota):
		return &cluster.WaitError{Wait: quota.Wait}
	}
	return err
}

// transportError is an error of the engine as the transport knows it: the message is refused, or must be sent later.
// The transport bans an agent that the engine bans. All other errors may pass, engine.ErrClosing too.
func (s *Seat) transportError(from string, err error) error {
	var wait *cluster.WaitError
	switch {
	case errors.Is(err, cluster.ErrBanned):
		s.transport.Ban(from, err.Error())
	case errors.Is(err, cluster.ErrMalformed):
		return fmt.Errorf("%w: %w", transport.ErrRefused, err)
	case errors.As(err, &wait):
		return &transport.QuotaError{Wait: wait.Wait}
	}
	return err
}

// receive hands a message to the engine.
func (s *Seat) receive(ctx context.Context, from string, letter []byte) error {
	server := s.server.Load()
	if server == nil {
		return cluster.ErrClosing
	}
	return s.transportError(from, (*server).HandleMessage(ctx, from, letter))
}

// answer hands a request to the engine.
func (s *Seat) answer(ctx context.Context, from string, kind byte, question []byte) ([]byte, error) {
	server := s.server.Load()
	if server == nil {
		return nil, cluster.ErrClosing
	}
	if kind == questionCard {
		return s.card(), nil
	}
	if kind != questionKind {
		return nil, fmt.Errorf("%w: a request of kind %d", transport.ErrRefused, kind)
	}
	a, err := (*server).HandleQuestion(ctx, from, question)
	return a, s.transportError(from, err)
}
