package peering

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orbweaver/engine"
	"orbweaver/engine/members"
	"orbweaver/engine/post"
)

// ErrAway says that an agent is not among those who are there.
var ErrAway = errors.New("peering: that agent is not there")

// Send implements engine.Peering. An error wraps engine.ErrLetter if the other agent never wants this letter, or it is too long for any.
func (s *Seat) Send(ctx context.Context, to string, letter []byte) error {
	peer, err := s.find(to)
	if err != nil {
		return err
	}
	return ofPost(s.office.Send(ctx, peer, letter))
}

// Ask implements engine.Peering. It waits for askPatience at most.
func (s *Seat) Ask(ctx context.Context, to string, question []byte) ([]byte, error) {
	peer, err := s.find(to)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	answer, err := s.office.Ask(ctx, peer, questionKind, question)
	return answer, ofPost(err)
}

// find is where an agent takes letters, as membership has it now.
func (s *Seat) find(id string) (post.Peer, error) {
	g := s.group.Load()
	if g == nil {
		return post.Peer{}, fmt.Errorf("%w: %q: this one has not joined", ErrAway, id)
	}
	agents := g.View().Agents
	i, ok := slices.BinarySearchFunc(agents, id, func(a members.Agent, id string) int { return strings.Compare(a.ID, id) })
	if !ok {
		return post.Peer{}, fmt.Errorf("%w: %q", ErrAway, id)
	}
	return post.Peer{ID: id, Addr: agents[i].Post}, nil
}

// ofPost says in the engine's words that something is never to be sent again, or not for a while.
func ofPost(err error) error {
	var quota *post.Quota
	switch {
	case errors.Is(err, post.ErrRefused):
		return fmt.Errorf("%w: %w", engine.ErrLetter, err)
	case errors.Is(err, post.ErrBanned):
		return fmt.Errorf("%w: %w", engine.ErrBanned, err)
	case errors.As(err, &quota):
		return &engine.WaitError{Wait: quota.Wait}
	}
	return err
}

// toPost says in those of the post that a letter is refused for good, or to be sent later, and has it ban whom the engine bans: then connections
// of that one are refused, too. Whatever else the engine says may pass, engine.ErrClosing too.
func (s *Seat) toPost(from string, err error) error {
	var wait *engine.WaitError
	switch {
	case errors.Is(err, engine.ErrBanned):
		s.office.Ban(from, err.Error())
	case errors.Is(err, engine.ErrLetter):
		return fmt.Errorf("%w: %w", post.ErrRefused, err)
	case errors.As(err, &wait):
		return &post.Quota{Wait: wait.Wait}
	}
	return err
}

// receive hands a letter to the engine.
func (s *Seat) receive(ctx context.Context, from string, letter []byte) error {
	server := s.server.Load()
	if server == nil {
		return engine.ErrClosing
	}
	return s.toPost(from, (*server).Letter(ctx, from, letter))
}

// answer hands a question to the engine.
func (s *Seat) answer(ctx context.Context, from string, kind byte, question []byte) ([]byte, error) {
	server := s.server.Load()
	if server == nil {
		return nil, engine.ErrClosing
	}
	if kind == questionCard {
		return s.card(), nil
	}
	if kind != questionKind {
		return nil, fmt.Errorf("%w: a question of kind %d", post.ErrRefused, kind)
	}
	a, err := (*server).Answer(ctx, from, question)
	return a, s.toPost(from, err)
}
