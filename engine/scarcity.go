package engine

import (
	"sync"
	"time"
)

// scarcity counts what this machine had no means for: connections and questions without a file descriptor or a port. Nobody
// else is blamed for them. It tells the log the first time and then now and again, with their number.
type scarcity struct {
	say func(msg string, args ...any)

	mu     sync.Mutex
	count  int64
	what   string
	last   time.Time
	murmur murmur
}

// scarceWait is how long whoever met a scarcity waits before the next try.
const scarceWait = time.Second

func (s *scarcity) meet(now time.Time, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	s.what, s.last = what, now
	if n, ok := s.murmur.may(now); ok {
		s.say("this machine has no means for a connection: the crawl goes slower; raise the limit (ulimit -n) or lower --fetchers",
			"cause", what, "times", n)
	}
}

// now returns how often it was met, and what is missing just now, "" if nothing.
func (s *scarcity) now(now time.Time) (count int64, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.last) < 2*scarceWait && s.count > 0 {
		what = s.what
	}
	return s.count, what
}

// murmur lets a message through now and again: the first, and one in every murmurEvery after it.
type murmur struct {
	told time.Time
	n    int // since
}

const murmurEvery = 10 * time.Minute

// may counts one, and says whether it may be told, and how many there were.
func (m *murmur) may(now time.Time) (n int, ok bool) {
	m.n++
	if !m.told.IsZero() && now.Sub(m.told) < murmurEvery {
		return m.n, false
	}
	n, m.n, m.told = m.n, 0, now
	return n, true
}
