package recovery

import (
	"sync"
	"time"
)

// Unanswering are the agents that did not answer the last question whether they have a page, although they are members.
// A question or its answer is sometimes lost or late. The pages wait, since no other agent knows them, but not forever:
// the agent may be out of reach of this one only. The zero value is empty.
type Unanswering struct {
	mu         sync.Mutex
	byInstance map[string]silence // guarded by mu
}

// silence is that of one agent.
type silence struct {
	began   time.Time // when the first answer was missed
	retryAt time.Time // when it may be asked again
}

const (
	// Patience is how long a question waits for its answer.
	Patience = 3 * time.Second
	// retryWait is the time between a missed answer and the next question.
	retryWait = time.Second
	// waitMost is how long pages wait for an agent that answers nothing. It is much more than the 10 s in which the
	// death of an agent is detected: then it is no member, and nothing waits.
	waitMost = time.Minute
)

// MayAsk says whether an agent may be asked now. An agent that has not answered gets one question at a time, so that
// the fetch workers do not all wait for it. Then retryAt is when to try.
func (s *Unanswering) MayAsk(instance string, now time.Time) (retryAt time.Time, may bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, silent := s.byInstance[instance]
	switch {
	case !silent || now.Sub(one.began) >= waitMost:
		return time.Time{}, true
	case now.Before(one.retryAt):
		return one.retryAt, false
	}
	one.retryAt = now.Add(Patience)
	s.byInstance[instance] = one
	return time.Time{}, true
}

// NoteMissed notes that an agent has not answered. It returns when to ask again; zero if its pages wait no longer.
func (s *Unanswering) NoteMissed(instance string, now time.Time) (retryAt time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, silent := s.byInstance[instance]
	if !silent {
		one.began = now
	}
	one.retryAt = now.Add(retryWait)
	if s.byInstance == nil {
		s.byInstance = make(map[string]silence)
	}
	s.byInstance[instance] = one
	if now.Sub(one.began) >= waitMost {
		return time.Time{}
	}
	return one.retryAt
}

// Forget notes that an agent has answered, or is no member any more.
func (s *Unanswering) Forget(instance string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byInstance, instance)
}
