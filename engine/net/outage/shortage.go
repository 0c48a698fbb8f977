package outage

import (
	"sync"
	"time"

	"orbweaver/internal/throttle"
)

// Shortage counts connections and DNS queries that failed because this machine had no file descriptor, port or socket
// memory. No site is to blame for them. The first one is logged, later ones at a limited rate with their number.
type Shortage struct {
	Warn func(msg string, args ...any)

	mu       sync.Mutex
	count    int64
	cause    string
	lastAt   time.Time
	throttle throttle.Log
}

// ShortageWait is the wait before the next try after a shortage.
const ShortageWait = time.Second

// Note counts one shortage; cause says what is missing.
func (s *Shortage) Note(now time.Time, cause string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count++
	s.cause, s.lastAt = cause, now
	if n, ok := s.throttle.Allow(now); ok {
		s.Warn("this machine has no file descriptor or port for a connection, so the crawl is slower; raise the limit "+
			"(ulimit -n) or lower --fetchers", "cause", cause, "times", n)
	}
}

// Current returns the number of shortages so far, and what is missing now: "" if there was no shortage in the last two
// ShortageWait.
func (s *Shortage) Current(now time.Time) (count int64, cause string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now.Sub(s.lastAt) < 2*ShortageWait && s.count > 0 {
		cause = s.cause
	}
	return s.count, cause
}
