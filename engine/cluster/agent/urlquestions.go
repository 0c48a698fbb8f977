package agent

import (
	"context"
	"errors"
	"sync"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/state/cluster"
)

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
