package ownership

import (
	"slices"
	"sync/atomic"
	"time"
)

// History keeps former values, the last of them last, for as long as agents may still act by them. The zero value is
// empty. Safe for concurrent use.
type History[T any] struct {
	values atomic.Pointer[[]Previous[T]]
}

// Previous is a value that was in force until a time.
type Previous[T any] struct {
	Value T
	Until time.Time
}

// Add appends a value that was in force until now, and drops those that ended longer than grace ago.
func (h *History[T]) Add(value T, now time.Time, grace time.Duration) {
	h.update(func(all []Previous[T]) []Previous[T] {
		all = slices.DeleteFunc(all, func(f Previous[T]) bool { return now.Sub(f.Until) >= grace })
		return append(all, Previous[T]{value, now})
	})
}

// Last is the former value that was in force last.
func (h *History[T]) Last() (value T, ok bool) {
	if all := h.All(); len(all) > 0 {
		return all[len(all)-1].Value, true
	}
	return value, false
}

// SettledAt is grace after the end of the last former value for which holds is false, if that is later than both from
// and after; otherwise from.
func (h *History[T]) SettledAt(from, after time.Time, grace time.Duration, holds func(value T) bool) time.Time {
	for _, f := range h.All() {
		if due := f.Until.Add(grace); due.After(after) && due.After(from) && !holds(f.Value) {
			from = due
		}
	}
	return from
}

// All are the former values. The slice must not be changed.
func (h *History[T]) All() []Previous[T] {
	if all := h.values.Load(); all != nil {
		return *all
	}
	return nil
}

// update replaces the values by what change makes of a copy.
func (h *History[T]) update(change func(all []Previous[T]) []Previous[T]) {
	for {
		before := h.values.Load()
		all := change(slices.Clone(h.All()))
		if h.values.CompareAndSwap(before, &all) {
			return
		}
	}
}
