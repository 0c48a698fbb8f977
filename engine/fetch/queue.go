package fetch

import (
	"slices"
	"sync"
	"sync/atomic"
)

// queue holds the bodies that wait for a larger buffer, in order of arrival. A body with a largest buffer never waits,
// so not all can wait for each other.
type queue struct {
	mu      sync.Mutex // held for a few instructions
	waiting []*waiter
	length  atomic.Int32 // of waiting; written with mu held, read by bufferPool.serve
}

type waiter struct {
	need int
	got  chan buffer // of one
}

func (q *queue) join(w *waiter) {
	q.mu.Lock()
	q.waiting = append(q.waiting, w)
	q.length.Store(int32(len(q.waiting)))
	q.mu.Unlock()
}

func (q *queue) leave(w *waiter) {
	q.mu.Lock()
	if i := slices.Index(q.waiting, w); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	q.length.Store(int32(len(q.waiting)))
	q.mu.Unlock()
}
