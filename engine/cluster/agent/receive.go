package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"orbweaver/engine/admission"
	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/handoff"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/outbox"
	"orbweaver/engine/cluster/termination"
	"orbweaver/engine/journal"
)

// origin says where an item comes from.
type origin struct {
	from   string        // ID of the sender; empty if unknown, because the item is replayed from the journal
	delay  time.Duration // at most so much time has passed since it arrived
	resent bool          // it was sent to a lost agent some time ago: its clocks are not true any more
}

// HandleMessage takes what another agent sends, as far as that agent has the authority to say it (authority.go). Its
// URLs pass admission like those of a page. HandleMessage returns when the message is durable.
func (p *agent) HandleMessage(ctx context.Context, from string, batch []byte) error {
	if err := p.checkSender(from); err != nil {
		return err
	}
	if err := message.Check(batch, p.parts.Sites.Rules); err != nil {
		p.counters.refused.Add(1)
		return p.accounts.NoteMalformed(from, err)
	}
	refund, err := p.accounts.ChargeMessage(from, batch)
	if err != nil {
		return err
	}
	size := len(batch)
	if batch, err = p.permit(from, batch); err != nil || len(batch) == 0 {
		if err != nil {
			refund()
		}
		return err
	}
	if err := p.parts.Frontier.WaitRoom(ctx); err != nil {
		refund()
		return err
	}
	end, err := p.receive(from, batch)
	if err != nil {
		refund()
		return fmt.Errorf("engine: a message of %q: %w", from, err)
	}
	p.counters.messagesIn.Add(1)
	p.counters.bytesIn.Add(int64(size))
	p.parts.Wake()
	return p.parts.Journal.Await(ctx, end)
}

// receive writes a message to the journal and does what its items say, in one step.
func (p *agent) receive(from string, batch []byte) (end journal.Position, err error) {
	p.parts.Journal.Steps.Begin()
	defer p.parts.Journal.Steps.End()
	if !p.acceptsMessages.Load() {
		return end, cluster.ErrClosing
	}
	if end, err = p.parts.Journal.AppendEntry(&journal.Entry{Kind: journal.KindMessage, Links: batch}); err != nil {
		return end, err
	}
	return end, p.takeItems(batch, origin{from: from})
}

// takeItems does what the items of a message say.
func (p *agent) takeItems(batch []byte, o origin) error {
	var d admission.Scratch
	for item, err := range outbox.Items(batch) {
		if err == nil {
			err = p.take(&d, item, o)
		}
		if err != nil {
			return fmt.Errorf("%w: %w", cluster.ErrMalformed, err)
		}
	}
	return nil
}

// take does what one item says, which was checked before, or written by this agent.
func (p *agent) take(d *admission.Scratch, item []byte, o origin) error {
	return itemKindOf(message.KindOf(item)).take(p, d, item, o)
}

// takeLink gives a URL to admission.
func (p *agent) takeLink(d *admission.Scratch, item []byte, _ origin) error {
	it, err := message.ReadLink(item)
	if err != nil {
		return err
	}
	p.parts.Frontier.Receive(d, it.Rest, it)
	return nil
}

// takeSite takes a site that another agent had. What is known of it is set, unless it was sent long ago, before its
// URLs pass admission.
func (p *agent) takeSite(d *admission.Scratch, item []byte, o origin) error {
	move, err := message.ReadSite(item)
	if err != nil {
		return err
	}
	v := p.views.Load()
	switch owner := v.OwnerOf(move.Key); {
	case o.resent || p.parts.Frontier.HostRules.Excludes(move.Key):
	case owner == v.Self:
		err = handoff.TakeSite(p.parts.Sites, p.views, &move, o.from, o.delay)
	default:
		put := time.Now().Add(-move.Age)
		p.outbox.PutBacklog(v.Instances[owner], message.AppendSite(nil, move.Key, move.Due, move.State, put))
	}
	for it, fault := range move.URLs() {
		if err = errors.Join(err, fault); err != nil {
			break
		}
		p.parts.Frontier.Receive(d, it.Rest, it)
	}
	return err
}

// takeRobotsRedirect takes a redirect to a host of this agent, or sends it on.
func (p *agent) takeRobotsRedirect(_ *admission.Scratch, item []byte, _ origin) error {
	return p.robots.TakeRedirect(item)
}

// takeRobotsResult ends the wait of a site. What was sent to a lost agent is not true any more.
func (p *agent) takeRobotsResult(_ *admission.Scratch, item []byte, o origin) error {
	if o.resent {
		return nil
	}
	return p.robots.TakeResult(item, o.delay)
}

// takeFetched adds to the list of what an agent that leaves has fetched.
func (p *agent) takeFetched(_ *admission.Scratch, item []byte, _ origin) error {
	list, fingerprints, err := message.ReadFetched(item)
	if err == nil {
		p.fetched.Inherit(list, fingerprints)
	}
	return err
}

// HandleQuestion implements cluster.Handler.
func (p *agent) HandleQuestion(ctx context.Context, from string, question []byte) ([]byte, error) {
	if err := p.checkQuestion(from, question); err != nil {
		return nil, err
	}
	answer, err := p.answer(ctx, from, question)
	if errors.Is(err, cluster.ErrMalformed) {
		return nil, p.accounts.NoteMalformed(from, err)
	}
	return answer, err
}

func (p *agent) answer(ctx context.Context, from string, question []byte) ([]byte, error) {
	switch {
	case termination.IsStatus(question), termination.IsEnded(question):
		return p.end.Answer(from, question)
	case len(question) > 0 && question[0] == message.QuestionFetched:
		return p.pages.Answer(ctx, from, question[1:])
	case len(question) > 0 && question[0] == message.QuestionLease:
		return p.leases.HandleQuestion(from, question[1:])
	case len(question) > 0 && question[0] == message.QuestionConsensus:
		return p.quorum.Answer(ctx, from, question[1:])
	case len(question) > 0 && question[0] == message.QuestionLeave:
		return p.answerLeave(from, question[1:])
	case len(question) > 1 && question[0] == message.QuestionLeft:
		return p.leavingAgents.AnswerLeft(string(question[1:])), nil
	}
	return nil, fmt.Errorf("%w: a question of %q that is not known: %.20q", cluster.ErrMalformed, from, question)
}
