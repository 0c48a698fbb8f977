package fetch

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// buffer is memory of a pool. The zero buffer is empty.
type buffer struct {
	b    []byte
	tier int8 // 1 + index of its tier; 0 for memory outside the pool
}

// bufferPool has the buffers that the pages of a Pool share. It is safe for concurrent use.
type bufferPool struct {
	tiers     [3]tier
	queue     queue
	exhausted atomic.Uint64 // written by takeBuffer, read by Pool.Stats
	extra     atomic.Uint64 // written by takeOrMake, read by Pool.Stats
}

// takeBuffer returns the smallest free buffer of at least need bytes.
func (p *bufferPool) takeBuffer(need int) (buffer, bool) {
	b, ok := p.find(need)
	if !ok {
		p.exhausted.Add(1)
	}
	return b, ok
}

// find is takeBuffer without counting a failure.
func (p *bufferPool) find(need int) (buffer, bool) {
	for i := range p.tiers {
		if p.tiers[i].size < need {
			continue
		}
		if b := p.tiers[i].takeBuffer(); b != nil {
			return buffer{b: b, tier: int8(i + 1)}, true
		}
	}
	return buffer{}, false
}

// takeOrMake is takeBuffer for a payload that must be assembled. If no buffer is free, memory is allocated and counted:
// at most one such payload exists for each parse worker.
func (p *bufferPool) takeOrMake(need int) buffer {
	if b, ok := p.takeBuffer(need); ok {
		return b
	}
	p.extra.Add(1)
	return buffer{b: make([]byte, need)}
}

// returnBuffer returns a buffer to its tier and wakes a waiting goroutine.
func (p *bufferPool) returnBuffer(b buffer) {
	if b.tier > 0 {
		p.tiers[b.tier-1].returnBuffer(b.b)
		p.serve()
	}
}

// takeOrWait is takeBuffer, but waits for a buffer until limit or until done is closed.
func (p *bufferPool) takeOrWait(need int, limit time.Time, done <-chan struct{}) (buffer, bool) {
	if b, ok := p.takeBuffer(need); ok {
		return b, true
	}
	w := &waiter{need: need, got: make(chan buffer, 1)}
	p.queue.join(w)
	p.serve() // a buffer may have been returned before w was in the queue
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

// serve gives free buffers to the waiting bodies.
func (p *bufferPool) serve() {
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
