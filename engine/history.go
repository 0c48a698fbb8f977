package engine

import (
	"slices"
	"sync/atomic"
	"time"
)

// history is what was so before something else was, the last of it last, for as long as it matters what it said. The
// zero value remembers nothing. It is safe for concurrent use.
type history[T any] struct{ of atomic.Pointer[[]formerly[T]] }

// formerly is what was so, and until when.
type formerly[T any] struct {
	was   T
	until time.Time
}

// add notes that something was so until now, and forgets what ended longer than grace ago.
func (h *history[T]) add(was T, now time.Time, grace time.Duration) {
	h.change(func(all []formerly[T]) []formerly[T] {
		all = slices.DeleteFunc(all, func(f formerly[T]) bool { return now.Sub(f.until) >= grace })
		return append(all, formerly[T]{was, now})
	})
}

// last is the last that was so.
func (h *history[T]) last() (was T, ok bool) {
	if all := h.all(); len(all) > 0 {
		return all[len(all)-1].was, true
	}
	return was, false
}

// settled is grace after the last time that something was not so, by what was, if that is later than both; else from.
func (h *history[T]) settled(from, after time.Time, grace time.Duration, so func(was T) bool) time.Time {
	for _, f := range h.all() {
		if due := f.until.Add(grace); due.After(after) && due.After(from) && !so(f.was) {
			from = due
		}
	}
	return from
}

func (h *history[T]) all() []formerly[T] {
	if all := h.of.Load(); all != nil {
		return *all
	}
	return nil
}

// change gives change a copy.
func (h *history[T]) change(change func(all []formerly[T]) []formerly[T]) {
	for {
		was := h.of.Load()
		all := change(slices.Clone(h.all()))
		if h.of.CompareAndSwap(was, &all) {
			return
		}
	}
}
