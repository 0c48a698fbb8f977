package agent

import (
	"sync"
	"time"
)

// silences are the agents that did not answer the last question whether they have a page, though they are there: such a
// question is lost, or late, now and then. What they were asked about waits, since nobody else knows it, but not for
// ever: they may be out of this agent's reach and in that of others. The zero value knows of none.
type silences struct {
	mu sync.Mutex
	of map[string]silence // guarded by mu: by line
}

// silence is that of one agent.
type silence struct {
	since time.Time // when the first answer was missed
	again time.Time // when it may be asked again
}

const (
	// recoveryAgain is after how long an agent is asked again that has not answered.
	recoveryAgain = time.Second
	// recoveryWait is for how long an agent is waited for that answers nothing. It is much more than the 10 s in which
	// it is found out that one has died: then it is not there, and nobody waits.
	recoveryWait = time.Minute
)

// ask says that an agent may be asked now. One that is silent is asked one question at a time, lest all fetch workers
// wait for it: then it may not be, and again is when to try.
func (s *silences) ask(line string, now time.Time) (again time.Time, may bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, silent := s.of[line]
	switch {
	case !silent || now.Sub(one.since) >= recoveryWait:
		return time.Time{}, true
	case now.Before(one.again):
		return one.again, false
	}
	one.again = now.Add(recoveryPatience)
	s.of[line] = one
	return time.Time{}, true
}

// miss notes that an agent has not answered, and says when to ask it again; zero if it is not waited for any more.
func (s *silences) miss(line string, now time.Time) (again time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, silent := s.of[line]
	if !silent {
		one.since = now
	}
	one.again = now.Add(recoveryAgain)
	if s.of == nil {
		s.of = make(map[string]silence)
	}
	s.of[line] = one
	if now.Sub(one.since) >= recoveryWait {
		return time.Time{}
	}
	return one.again
}

// end notes that an agent has answered, or is not there any more.
func (s *silences) end(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, line)
}
