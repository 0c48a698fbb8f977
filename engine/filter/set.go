package filter

import (
	"sync"
	"sync/atomic"
)

// stringSet is a set of strings that is read without locks while others add to it. Readers see a large base and a small
// overlay, both immutable; an Add copies the overlay, and now and then folds it into a new base.
type stringSet struct {
	mu      sync.Mutex // writers only
	base    atomic.Pointer[map[string]struct{}]
	overlay atomic.Pointer[map[string]struct{}]
}

// has says whether key (borrowed) is in the set, without allocating.
func (s *stringSet) has(key []byte) bool {
	// The overlay is read first: a fold stores the new base before it empties the overlay, so a key is always in
	// one of them.
	if m := s.overlay.Load(); m != nil {
		if _, ok := (*m)[string(key)]; ok {
			return true
		}
	}
	if m := s.base.Load(); m != nil {
		_, ok := (*m)[string(key)]
		return ok
	}
	return false
}

// empty says that nothing was ever added.
func (s *stringSet) empty() bool { return s.overlay.Load() == nil && s.base.Load() == nil }

// add puts keys into the set, all at once as readers see it. It takes the strings.
func (s *stringSet) add(keys ...string) {
	if len(keys) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	base, overlay := deref(s.base.Load()), deref(s.overlay.Load())
	grown := make(map[string]struct{}, len(overlay)+len(keys))
	for k := range overlay {
		grown[k] = struct{}{}
	}
	for _, k := range keys {
		if _, known := base[k]; !known {
			grown[k] = struct{}{}
		}
	}
	if len(grown) <= 256+len(base)/64 {
		s.overlay.Store(&grown)
		return
	}
	for k := range base {
		grown[k] = struct{}{}
	}
	s.base.Store(&grown)
	s.overlay.Store(nil)
}

func (s *stringSet) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(deref(s.base.Load())) + len(deref(s.overlay.Load()))
}

func deref(m *map[string]struct{}) map[string]struct{} {
	if m == nil {
		return nil
	}
	return *m
}
