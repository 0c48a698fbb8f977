package attempt

import (
	"bytes"
	"context"
	"sync"

	"orbweaver/internal/urlx"
)

// InFlight is the set of attempts whose queued item exists nowhere else. An attempt is added in the same step that
// releases its Visit without the item, and removed in the step that counts the URL's outcome. A checkpoint saves the
// items of all attempts in the set. InFlight is safe for concurrent use; an attempt belongs to the caller.
type InFlight struct {
	mu       sync.Mutex
	attempts map[*Attempt]struct{}
	ended    chan struct{} // closed and set to nil by the next Remove; nil if no goroutine waits
}

// NewInFlight returns an empty set.
func NewInFlight() *InFlight { return &InFlight{attempts: make(map[*Attempt]struct{})} }

// Add adds f. The caller is within the step that releases the Visit of f.
func (s *InFlight) Add(f *Attempt) {
	s.mu.Lock()
	s.attempts[f] = struct{}{}
	s.mu.Unlock()
	f.isInFlight = true
}

// Remove removes f and wakes the goroutines in WaitFor.
func (s *InFlight) Remove(f *Attempt) {
	f.isInFlight = false
	s.mu.Lock()
	delete(s.attempts, f)
	if s.ended != nil {
		close(s.ended)
		s.ended = nil
	}
	s.mu.Unlock()
}

// Detach lets the Page of f go to the next holder although its URL has no outcome, as when the crawl ends: what the set
// has of f is copied. It does nothing if f is not in the set.
func (s *InFlight) Detach(f *Attempt) {
	if !f.isInFlight {
		return
	}
	f.isInFlight = false
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.attempts, f)
	s.attempts[&Attempt{URL: bytes.Clone(f.URL), Item: bytes.Clone(f.Item)}] = struct{}{}
}

// WaitFor waits until no attempt for one of the urls (normal forms) is in flight. It returns the error of ctx if that
// ends first.
func (s *InFlight) WaitFor(ctx context.Context, urls map[string]struct{}) error {
	for {
		s.mu.Lock()
		var ended chan struct{}
		for f := range s.attempts {
			if _, wanted := urls[string(f.URL)]; wanted {
				if s.ended == nil {
					s.ended = make(chan struct{})
				}
				ended = s.ended
				break
			}
		}
		s.mu.Unlock()
		if ended == nil {
			return nil
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Each calls f for all attempts with the site key and the item, which f borrows. The caller holds the checkpoint lock
// exclusively.
func (s *InFlight) Each(f func(site, item []byte)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for a := range s.attempts {
		site, _ := urlx.Split(a.URL)
		f(site, a.Item)
	}
}
