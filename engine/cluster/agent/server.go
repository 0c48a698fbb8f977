package agent

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/peering"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/store/journal"
)

// server implements cluster.Handler: it takes messages and answers questions, as far as authority permits.
type server struct {
	authority authority
	questions questions
	urls      urlQuestions
	items     *items
	accounts  *accounts
	journal   *journal.Store
	frontier  *admission.Frontier
	sites     *sites.Table
	wake      func() // wakes the distributor

	acceptsMessages   atomic.Bool
	messages, bytes   atomic.Int64 // received in this run
	malformedMessages atomic.Int64
}

// HandleMessage takes what another agent sends, as far as that agent has the authority to say it. Its URLs pass
// admission like those of a page. HandleMessage returns when the message is durable.
func (s *server) HandleMessage(ctx context.Context, from string, batch []byte) error {
	if err := s.authority.checkSender(from); err != nil {
		return err
	}
	items, err := message.Read(batch, s.sites.Rules)
	if err != nil {
		s.malformedMessages.Add(1)
		return s.accounts.NoteMalformed(from, err)
	}
	refund, err := s.accounts.ChargeMessage(from, items)
	if err != nil {
		return err
	}
	end, err := s.receive(ctx, from, batch, items)
	if err != nil {
		refund()
		return fmt.Errorf("agent: a message of %q: %w", from, err)
	}
	return s.journal.Await(ctx, end)
}

// receive writes what the sender may say of a message to the journal, and does it, in one step.
func (s *server) receive(
	ctx context.Context, from string, batch []byte, items []message.Item,
) (end journal.Position, err error) {
	size := len(batch)
	items, isChanged, err := s.authority.permit(from, items)
	if err != nil || len(items) == 0 {
		return end, err
	}
	if isChanged {
		batch = message.Join(nil, items)
	}
	if err := s.frontier.WaitRoom(ctx); err != nil {
		return end, err
	}
	s.journal.Steps.Begin()
	defer s.journal.Steps.End()
	if !s.acceptsMessages.Load() {
		return end, cluster.ErrClosing
	}
	if end, err = s.journal.AppendEntry(&journal.Entry{Kind: journal.KindMessage, Links: batch}); err != nil {
		return end, err
	}
	if err := s.items.take(&admission.Scratch{}, items, origin{from: from}); err != nil {
		return end, err
	}
	s.messages.Add(1)
	s.bytes.Add(int64(size))
	s.wake()
	return end, nil
}

// acceptMessages says whether messages are taken from now on. No message is half taken when it returns.
func (s *server) acceptMessages(accept bool) {
	s.journal.Steps.Stop()
	defer s.journal.Steps.Allow()
	s.acceptsMessages.Store(accept)
}

// HandleQuestion implements cluster.Handler.
func (s *server) HandleQuestion(ctx context.Context, from string, question []byte) ([]byte, error) {
	if err := s.authority.checkQuestion(from, question); err != nil {
		return nil, err
	}
	answer, err := s.questions.answer(ctx, from, question)
	if errors.Is(err, peering.ErrMalformed) {
		return nil, s.accounts.NoteMalformed(from, err)
	}
	return answer, err
}
