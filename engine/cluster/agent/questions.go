package agent

import (
	"context"
	"fmt"

	"orbweaver/engine/cluster/leasing"
	"orbweaver/engine/cluster/leave"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/payloads"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/cluster/termination"
	"orbweaver/engine/peering"
	"orbweaver/engine/peering/ownership"
)

// questions answers the questions of other agents.
type questions struct {
	end      *termination.Detector
	pages    *recovery.Pages
	leases   *leasing.Leases
	leaving  *leave.Register
	lost     *lostAgents
	views    *ownership.Timeline
	urls     *urlQuestions
	payloads *payloads.Holder
	wake     func() // wakes the distributor
	// consensus is quorumRule.Answer.
	consensus func(ctx context.Context, from string, content []byte) ([]byte, error)
}

// answer answers a question that its sender may ask.
func (q *questions) answer(ctx context.Context, from string, question []byte) ([]byte, error) {
	switch {
	case termination.IsStatus(question), termination.IsEnded(question):
		return q.end.Answer(from, question)
	case len(question) > 0 && question[0] == message.QuestionFetched:
		return q.pages.Answer(ctx, from, question[1:])
	case len(question) > 0 && question[0] == message.QuestionLease:
		return q.leases.HandleQuestion(from, question[1:])
	case len(question) > 0 && question[0] == message.QuestionConsensus:
		return q.consensus(ctx, from, question[1:])
	case len(question) > 0 && question[0] == message.QuestionLeave:
		return q.answerLeave(from, question[1:])
	case len(question) > 0 && question[0] == message.QuestionURL:
		return q.urls.handle(ctx, question[1:])
	case len(question) > 0 && question[0] == message.QuestionDigests:
		return q.payloads.AnswerDigests(question[1:])
	case len(question) > 0 && question[0] == message.QuestionPayload:
		return q.payloads.AnswerPayload(ctx, question[1:])
	case len(question) > 1 && question[0] == message.QuestionLeft:
		return q.leaving.AnswerLeft(string(question[1:])), nil
	}
	return nil, fmt.Errorf("%w: a question of %q that is not known: %.20q", peering.ErrMalformed, from, question)
}

// answerLeave notes how far another agent is with leaving. The answer says whether this agent has done what that asks.
func (q *questions) answerLeave(from string, content []byte) ([]byte, error) {
	instance, stage, err := q.leaving.Note(from, content)
	if err != nil {
		return nil, err
	}
	if stage < leave.Done {
		return []byte{message.LeaveDone}, nil
	}
	switch isForgotten, err := q.lost.forget(instance, q.views); {
	case err != nil:
		return nil, err
	case !isForgotten:
		return []byte{message.LeaveWait}, nil
	}
	q.wake()
	return []byte{message.LeaveDone}, nil
}
