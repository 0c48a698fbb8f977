package leasing

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"orbweaver/engine/peering"
	"orbweaver/internal/notify"
)

const (
	// batchWait is how long the first request of a question waits for others, for each other granter, so that an agent
	// asks as often however many there are. batchWaitMost is the most.
	batchWait, batchWaitMost = 50 * time.Millisecond, 400 * time.Millisecond
	// A question waits for its answer twice as long as the last one took, within these bounds. After a question without
	// an answer the next one waits twice as long. So a slow connection has leases, and a lost granter costs little.
	answerWait, answerWaitMost = time.Second, 4 * time.Second
	// A granter is silent after so many questions in a row without an answer, until it is not asked for silentFor.
	silentAfter, silentFor = 3, 30 * time.Second
)

// Requester sends the requests of this agent to one granter, in one question for all that came while the last one was
// under way. They are no more than there are exchanges and fetch workers.
type Requester struct {
	leases   *Leases
	agent    string
	instance string
	wake     chan struct{} // capacity 1: there are requests

	mu            sync.Mutex
	next          *batch        // guarded by mu: of the next question; nil after SendRequests
	retryAt       time.Time     // guarded by mu: no address is asked for before, since the granter did not answer
	unanswered    int           // guarded by mu: questions since the last answer
	took          time.Duration // guarded by mu: how long the last question waited
	isUnsupported bool          // of SendRequests: the granter is of an earlier version without leases
}

// batch are the requests of one question.
type batch struct {
	requests []Request
	answered chan struct{} // closed when the holder has the responses, or will get none
}

func newBatch() *batch { return &batch{answered: make(chan struct{})} }

// AddRequester makes the requester for a granter, by name and instance. The caller runs SendRequests, and calls
// RemoveRequester when that has returned.
func (l *Leases) AddRequester(agent, instance string) *Requester {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := &Requester{leases: l, agent: agent, instance: instance, wake: make(chan struct{}, 1), next: newBatch()}
	l.requesters[instance] = q
	return q
}

// RemoveRequester removes the requester for a granter.
func (l *Leases) RemoveRequester(instance string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.requesters, instance)
}

// batchTime is how long a batch waits for more requests.
func (l *Leases) batchTime() time.Duration {
	return min(time.Duration(len(l.granters.Load().instances)-1)*batchWait, batchWaitMost)
}

// add adds a request to the next question. It returns nil if the granter is not to be asked now.
func (q *Requester) add(r Request) (answered <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.next == nil || r.Kind == Acquire && time.Now().Before(q.retryAt) {
		return nil
	}
	q.next.requests = append(q.next.requests, r)
	notify.Send(q.wake)
	return q.next.answered
}

// SendRequests asks the granter whenever there are requests, until ctx ends.
func (q *Requester) SendRequests(ctx context.Context) {
	for {
		select {
		case <-q.wake:
			notify.Sleep(ctx, q.leases.batchTime())
			q.ask(ctx)
		case <-ctx.Done():
			q.mu.Lock()
			defer q.mu.Unlock()
			close(q.next.answered)
			q.next = nil
			return
		}
	}
}

// take takes the requests of one question.
func (q *Requester) take() *batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	b := q.next
	q.next = newBatch()
	if len(b.requests) > requestsMost {
		q.next.requests = append(q.next.requests, b.requests[requestsMost:]...)
		b.requests = b.requests[:requestsMost]
		notify.Send(q.wake)
	}
	return b
}

// ask puts one question.
func (q *Requester) ask(ctx context.Context) {
	b, l := q.take(), q.leases
	defer close(b.answered)
	if q.isUnsupported {
		l.handleHere(q.instance, b.requests)
		return
	}
	question := binary.BigEndian.AppendUint64([]byte{QuestionKind}, l.run)
	question = binary.AppendUvarint(question, l.number.Add(1))
	for _, r := range b.requests {
		question = AppendRequest(question, r)
	}
	l.counts.questions.Add(1)
	asked := time.Now()
	own, cancel := context.WithTimeout(ctx, min(max(2*q.answerTime(), answerWait), answerWaitMost))
	defer cancel()
	raw, err := l.options.Ask(own, q.agent, question)
	now := time.Now()
	var responses []Response
	if err == nil {
		responses, err = ParseResponses(raw, len(b.requests))
	}
	if err == nil {
		l.holder.HandleResponses(q.instance, b.requests, responses, asked, now)
		q.note(now.Sub(asked), time.Time{})
		return
	}
	if q.isUnsupported = errors.Is(err, peering.ErrMalformed); q.isUnsupported {
		l.options.Log.Warn("another agent knows nothing of leases: "+
			"the delay of its addresses is kept by each agent for itself", "agent", q.agent)
		l.handleHere(q.instance, b.requests)
		return
	}
	l.counts.unanswered.Add(1)
	retryAt := now.Add(retryWait)
	l.holder.HandleFailure(q.instance, b.requests, retryAt)
	q.note(now.Sub(asked), retryAt)
}

// note notes how a question ended: retryAt is zero if it was answered.
func (q *Requester) note(took time.Duration, retryAt time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.took, q.retryAt = took, retryAt
	if q.unanswered++; retryAt.IsZero() {
		q.unanswered = 0
	}
}

// answerTime is how long the granter takes for an answer, as far as is known.
func (q *Requester) answerTime() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.took
}

// isSilent reports whether the granter has not answered for a while.
func (q *Requester) isSilent() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.unanswered >= silentAfter && time.Since(q.retryAt) < silentFor
}
