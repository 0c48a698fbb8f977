package fetch

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// queue holds the bodies that wait for a larger buffer, in order of arrival. A body with a largest buffer never waits,
// so not all can wait for each other.
type queue struct {
	mu      sync.Mutex // held for a few instructions
	waiting []*waiter
	length  atomic.Int32 // of waiting; written with mu held, read by give
}

type waiter struct {
	need int
	got  chan buffer // of one
}

// takeOrWait is take, but waits for a buffer until limit or until done is closed.
func (p *Pool) takeOrWait(need int, limit time.Time, done <-chan struct{}) (buffer, bool) {
	if b, ok := p.takeBuffer(need); ok {
		return b, true
	}
	w := &waiter{need: need, got: make(chan buffer, 1)}
	p.queue.join(w)
	p.serve() // one may have come back before we stood in the queue
	timer := time.NewTimer(time.Until(limit))
	defer timer.Stop()
	select {
	case b := <-w.got:
		return b, true
	case <-timer.C:
	case <-done:
	}
	p.queue.leave(w)
	select {
	case b := <-w.got:
		return b, true
	default:
		return buffer{}, false
	}
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

// serve gives free buffers to the waiting bodies.
func (p *Pool) serve() {
	q := &p.queue
	if q.length.Load() == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(w *waiter) bool {
		b, ok := p.find(w.need)
		if ok {
			w.got <- b
		}
		return ok
	})
	q.length.Store(int32(len(q.waiting)))
}
