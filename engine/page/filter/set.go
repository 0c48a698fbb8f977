package filter

import (
	"sync"
	"sync/atomic"
)

// stringSet is a set of strings that is read without locks while others add to it. Readers use a large base and a small
// overlay, both immutable. An Add copies the overlay, and sometimes merges it into a new base.
type stringSet struct {
	mu      sync.Mutex // writers only
	base    atomic.Pointer[map[string]struct{}]
	overlay atomic.Pointer[map[string]struct{}]
}

// has reports whether key (borrowed) is in the set. It does not allocate.
func (s *stringSet) has(key []byte) bool {
	// The overlay is read first. A merge stores the new base before it empties the overlay, so a key is always in one
	// of them.
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

// empty reports whether nothing was ever added.
func (s *stringSet) empty() bool { return s.overlay.Load() == nil && s.base.Load() == nil }

// add adds keys, which readers see all at once. It takes the strings.
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
