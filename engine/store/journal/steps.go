package journal

import "sync"

// Steps lets many steps of URLs run side by side, and a checkpoint only between them. A step is the admission of a URL,
// the return of a Visit, or the writing of an attempt. A step must not wait for anything but the commit lock, and must
// not begin another one.
type Steps struct{ mu sync.RWMutex }

// Begin begins a step. It waits while steps are stopped.
func (s *Steps) Begin() { s.mu.RLock() }

// End ends what Begin began.
func (s *Steps) End() { s.mu.RUnlock() }

// Stop waits until no step is under way, and lets none begin until Allow.
func (s *Steps) Stop() { s.mu.Lock() }

// Allow ends what Stop began.
func (s *Steps) Allow() { s.mu.Unlock() }
