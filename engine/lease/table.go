package lease

import "time"

// table is a map that forgets what is of no use any more: what nobody looked at for a whole age, and is over.
type table[V any] struct {
	young, old map[Addr]*V
	turned     time.Time
}

// age is how long an entry is kept at least after somebody looked at it.
const age = time.Minute / 2

// get finds an entry; nil if there is none.
func (t *table[V]) get(a Addr) *V {
	v := t.young[a]
	if v == nil {
		if v = t.old[a]; v != nil {
			delete(t.old, a)
			t.put(a, v)
		}
	}
	return v
}

func (t *table[V]) put(a Addr, v *V) {
	if t.young == nil {
		t.young = make(map[Addr]*V)
	}
	t.young[a] = v
}

func (t *table[V]) len() int { return len(t.young) + len(t.old) }

// turn begins another age if it is time, and forgets what is over of what nobody looked at in the last one.
func (t *table[V]) turn(now time.Time, over func(*V) bool) {
	if now.Sub(t.turned) < age {
		return
	}
	t.turned = now
	left := t.old
	t.old, t.young = t.young, nil
	for a, v := range left {
		if !over(v) {
			t.put(a, v)
		}
	}
}
