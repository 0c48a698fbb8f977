package leasing

import "time"

// table is a map that forgets entries that have expired and were not used for at least minAge.
type table[V any] struct {
	recent, older map[Addr]*V // used in the current period; not used in it
	periodStart   time.Time
}

// minAge is how long an entry is kept at least after its last use.
const minAge = time.Minute / 2

// get returns the entry of an address; nil if there is none.
func (t *table[V]) get(a Addr) *V {
	v := t.recent[a]
	if v == nil {
		if v = t.older[a]; v != nil {
			delete(t.older, a)
			t.put(a, v)
		}
	}
	return v
}

func (t *table[V]) put(a Addr, v *V) {
	if t.recent == nil {
		t.recent = make(map[Addr]*V)
	}
	t.recent[a] = v
}

func (t *table[V]) size() int { return len(t.recent) + len(t.older) }

// forgetExpired starts another period if the current one is over. It removes entries that were not used in the old
// period and have expired.
func (t *table[V]) forgetExpired(now time.Time, expired func(*V) bool) {
	if now.Sub(t.periodStart) < minAge {
		return
	}
	t.periodStart = now
	unused := t.older
	t.older, t.recent = t.recent, nil
	for a, v := range unused {
		if !expired(v) {
			t.put(a, v)
		}
	}
}
