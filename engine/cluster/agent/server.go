package agent

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/sites"
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
	if err := message.Check(batch, s.sites.Rules); err != nil {
		s.malformedMessages.Add(1)
		return s.accounts.NoteMalformed(from, err)
	}
	refund, err := s.accounts.ChargeMessage(from, batch)
	if err != nil {
		return err
	}
	size := len(batch)
	if batch, err = s.authority.permit(from, batch); err != nil || len(batch) == 0 {
		if err != nil {
			refund()
		}
		return err
	}
	if err := s.frontier.WaitRoom(ctx); err != nil {
		refund()
		return err
	}
	end, err := s.receive(from, batch)
	if err != nil {
		refund()
		return fmt.Errorf("agent: a message of %q: %w", from, err)
	}
	s.messages.Add(1)
	s.bytes.Add(int64(size))
	s.wake()
	return s.journal.Await(ctx, end)
}

// receive writes a message to the journal and does what its items say, in one step.
func (s *server) receive(from string, batch []byte) (end journal.Position, err error) {
	s.journal.Steps.Begin()
	defer s.journal.Steps.End()
	if !s.acceptsMessages.Load() {
		return end, cluster.ErrClosing
	}
	if end, err = s.journal.AppendEntry(&journal.Entry{Kind: journal.KindMessage, Links: batch}); err != nil {
		return end, err
	}
	return end, s.items.takeAll(batch, origin{from: from})
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
	if errors.Is(err, cluster.ErrMalformed) {
		return nil, s.accounts.NoteMalformed(from, err)
	}
	return answer, err
}
