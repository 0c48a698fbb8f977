package filter

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
)

// stringSet is a set of strings that only grows. It is read without locks while others add to it. The zero value is
// empty and ready.
type stringSet struct {
	mu    sync.Mutex // writers only
	table atomic.Pointer[stringTable]
}

// stringTable is a hash table with open addressing, at most half full. A slot is set once. A full table is replaced by
// one of twice the size, so that adding costs the same however many strings there are.
type stringTable struct {
	seed  maphash.Seed
	slots []atomic.Pointer[string] // a power of two
	n     int                      // for writers
}

const slotsLeast = 16

func newStringTable(slots int) *stringTable {
	return &stringTable{seed: maphash.MakeSeed(), slots: make([]atomic.Pointer[string], slots)}
}

// has reports whether key (borrowed) is in the set. It does not allocate.
func (s *stringSet) has(key []byte) bool {
	t := s.table.Load()
	if t == nil {
		return false
	}
	most := uint64(len(t.slots) - 1)
	for i := maphash.Bytes(t.seed, key); ; i++ {
		held := t.slots[i&most].Load()
		if held == nil {
			return false
		}
		if *held == string(key) {
			return true
		}
	}
}

// empty reports whether nothing was ever added.
func (s *stringSet) empty() bool { return s.table.Load() == nil }

// add adds keys, which it takes. Readers see them one after another.
func (s *stringSet) add(keys ...string) {
	if len(keys) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.table.Load()
	if t == nil {
		t = newStringTable(slotsLeast)
		s.table.Store(t)
	}
	for _, key := range keys {
		if 2*(t.n+1) > len(t.slots) {
			t = t.grown()
			s.table.Store(t)
		}
		if slot := t.slot(key); slot.Load() == nil {
			slot.Store(&key)
			t.n++
		}
	}
}

// grown returns a table of twice the size with the same strings.
func (t *stringTable) grown() *stringTable {
	next := newStringTable(2 * len(t.slots))
	next.n = t.n
	for i := range t.slots {
		if held := t.slots[i].Load(); held != nil {
			next.slot(*held).Store(held)
		}
	}
	return next
}

// slot returns the slot of a string, or the empty one for it.
func (t *stringTable) slot(key string) *atomic.Pointer[string] {
	most := uint64(len(t.slots) - 1)
	for i := maphash.String(t.seed, key); ; i++ {
		slot := &t.slots[i&most]
		if held := slot.Load(); held == nil || *held == key {
			return slot
		}
	}
}

func (s *stringSet) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.table.Load(); t != nil {
		return t.n
	}
	return 0
}
