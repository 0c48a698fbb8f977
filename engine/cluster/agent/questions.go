package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"orbweaver/engine/cluster/leasing"
	"orbweaver/engine/cluster/leave"
	"orbweaver/engine/cluster/message"
	"orbweaver/engine/cluster/payloads"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/cluster/termination"
	"orbweaver/engine/peering"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/cluster"
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

// urlQuestions carries the question what an agent knows about a URL. An agent answers one at a time, since an answer
// reads its log: agents that ask meanwhile are told so.
type urlQuestions struct {
	network peers
	answer  cluster.AnswerAboutURL // set before the first question
	turn    sync.Mutex             // held while a question is answered
}

// Faults of a question about a URL.
var (
	errURLBusy   = errors.New("agent: this agent is answering another question about a URL")
	errURLAnswer = errors.New("agent: the answer about a URL is too long")
)

// AskAboutURL implements cluster.URLQuestions.
func (u *urlQuestions) AskAboutURL(ctx context.Context, agent string, url []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, cluster.URLPatience)
	defer cancel()
	answer, err := u.network.Ask(ctx, agent, message.AppendURLQuestion(nil, url))
	if err == nil && len(answer) > cluster.URLAnswerMax {
		err = errURLAnswer
	}
	return answer, err
}

// AnswerAboutURL implements cluster.URLQuestions.
func (u *urlQuestions) AnswerAboutURL(answer cluster.AnswerAboutURL) { u.answer = answer }

// handle answers the question of another agent.
func (u *urlQuestions) handle(ctx context.Context, content []byte) ([]byte, error) {
	url, err := message.ReadURLQuestion(content)
	if err != nil {
		return nil, err
	}
	if !u.turn.TryLock() {
		return nil, errURLBusy
	}
	defer u.turn.Unlock()
	ctx, cancel := context.WithTimeout(ctx, cluster.URLPatience)
	defer cancel()
	answer, err := u.answer(ctx, url)
	if err == nil && len(answer) > cluster.URLAnswerMax {
		return nil, errURLAnswer
	}
	return answer, err
}
