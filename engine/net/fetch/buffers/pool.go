package buffers

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/internal/invariants"
)

// Buffer is memory of a Pool. The zero Buffer is empty.
type Buffer struct {
	B    []byte
	tier int8 // 1 + index of its tier; 0 for memory outside the pool
}

// Sizes is the number of sizes of buffers.
const Sizes = 3

// Pool has buffers of a few sizes, a counted number of each. It is safe for concurrent use.
type Pool struct {
	tiers     [Sizes]tier
	queue     queue
	exhausted atomic.Uint64 // written by Take, read by Stats
	extra     atomic.Uint64 // written by TakeOrMake, read by Stats
}

// Size is how many buffers there are of a number of bytes.
type Size struct{ Bytes, Count int }

// Init sets the sizes of a new pool, in ascending order.
func (p *Pool) Init(sizes [Sizes]Size) {
	for i, s := range sizes {
		p.tiers[i].init(s.Bytes, s.Count)
	}
}

// Stats are the counters of a Pool. Those of the buffers are in the order of their sizes.
type Stats struct {
	BuffersMade [Sizes]int    // there now, in use or free
	BuffersOut  [Sizes]int    // in use
	BuffersDry  [Sizes]uint64 // times none was free and a larger one, or none, had to do
	Exhausted   uint64        // times no buffer of any size was free, and one was waited for or done without
	Extra       uint64        // payloads put together in memory beyond the count, since no buffer was free
}

// Stats returns the counters.
func (p *Pool) Stats() Stats {
	s := Stats{Exhausted: p.exhausted.Load(), Extra: p.extra.Load()}
	for i := range p.tiers {
		s.BuffersMade[i], s.BuffersOut[i], s.BuffersDry[i] = p.tiers[i].counts()
	}
	return s
}

// Memory is how many bytes the buffers take that are there now.
func (p *Pool) Memory() (sum int64) {
	for i := range p.tiers {
		made, _, _ := p.tiers[i].counts()
		sum += int64(made) * int64(p.tiers[i].size)
	}
	return sum
}

// LargestSize is the size of the largest buffer.
func (p *Pool) LargestSize() int { return p.tiers[Sizes-1].size }

// WaitingCount is how many callers of TakeOrWait wait.
func (p *Pool) WaitingCount() int { return int(p.queue.length.Load()) }

// TakeSmallest returns a buffer of the smallest size, if it has need bytes and one is free.
func (p *Pool) TakeSmallest(need int) (Buffer, bool) {
	if need > p.tiers[0].size {
		return Buffer{}, false
	}
	b := p.tiers[0].takeBuffer()
	if b == nil {
		return Buffer{}, false
	}
	return Buffer{B: b, tier: 1}, true
}

// Take returns the smallest free buffer of at least need bytes.
func (p *Pool) Take(need int) (Buffer, bool) {
	b, ok := p.find(need)
	if !ok {
		p.exhausted.Add(1)
	}
	return b, ok
}

// find is Take without counting a failure.
func (p *Pool) find(need int) (Buffer, bool) {
	for i := range p.tiers {
		if p.tiers[i].size < need {
			continue
		}
		if b := p.tiers[i].takeBuffer(); b != nil {
			return Buffer{B: b, tier: int8(i + 1)}, true
		}
	}
	return Buffer{}, false
}

// TakeOrMake is Take for a payload that must be assembled. If no buffer is free, memory is allocated and counted:
// at most one such payload exists for each parse worker.
func (p *Pool) TakeOrMake(need int) Buffer {
	if b, ok := p.Take(need); ok {
		return b
	}
	p.extra.Add(1)
	return Buffer{B: make([]byte, need)}
}

// Return returns a buffer to its tier and wakes a waiting goroutine. Tests find readers of a returned buffer: see
// invariants.Mangle.
func (p *Pool) Return(b Buffer) {
	invariants.Mangle(b.B)
	if b.tier > 0 {
		p.tiers[b.tier-1].returnBuffer(b.B)
		p.serve()
	}
}

// TakeOrWait is Take, but waits for a buffer until limit or until done is closed.
func (p *Pool) TakeOrWait(need int, limit time.Time, done <-chan struct{}) (Buffer, bool) {
	if b, ok := p.Take(need); ok {
		return b, true
	}
	w := &waiter{need: need, got: make(chan Buffer, 1)}
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
		return Buffer{}, false
	}
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

// queue holds the bodies that wait for a larger buffer, in order of arrival. A body with a largest buffer never waits,
// so not all can wait for each other.
type queue struct {
	mu      sync.Mutex // held for a few instructions
	waiting []*waiter
	length  atomic.Int32 // of waiting; written with mu held, read by Pool.serve
}

type waiter struct {
	need int
	got  chan Buffer // of one
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
