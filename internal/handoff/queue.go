package handoff

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// Queue is the queue. Make it with New; do not copy it. One goroutine at a time calls Put and TakeBack.
type Queue[T any] struct {
	capacity int
	slots    []atomic.Pointer[T] // a power of two of them

	_    [cacheLine]byte
	tail atomic.Uint64 // next to put
	_    [cacheLine - 8]byte
	head atomic.Uint64 // next to take
	_    [cacheLine - 8]byte

	mu     sync.Mutex
	idle   []*Taker[T] // that wait, in the order in which they came; if there are any, the slots are empty
	closed bool

	called []*Taker[T] // of Put
}

// Taker takes values for one goroutine. Make it with NewTaker.
type Taker[T any] struct {
	queue *Queue[T]
	value chan *T // capacity 1: the value for a waiting taker; closed if there will be none
}

const cacheLine = 64

// New makes a queue for up to capacity values, 1 or more.
func New[T any](capacity int) *Queue[T] {
	if capacity < 1 {
		panic("BUG: handoff: a queue without capacity")
	}
	return &Queue[T]{capacity: capacity, slots: make([]atomic.Pointer[T], 1<<bits.Len(uint(capacity-1)))}
}

// NewTaker makes a taker.
func (q *Queue[T]) NewTaker() *Taker[T] { return &Taker[T]{queue: q, value: make(chan *T, 1)} }

// Len returns the number of values that no taker has yet. If it is asked by the putter, it does not grow before the
// next Put.
func (q *Queue[T]) Len() int {
	head := q.head.Load()
	return int(q.tail.Load() - head)
}

// Room returns how many values Put may add.
func (q *Queue[T]) Room() int { return q.capacity - q.Len() }

// Put adds values, at most as many as there is Room for. The queue keeps no reference to the slice.
func (q *Queue[T]) Put(values []*T) {
	q.mu.Lock()
	if q.closed || len(values) > q.Room() {
		q.mu.Unlock()
		panic("BUG: handoff: values for a queue that is full or closed")
	}
	waiting := len(q.idle) - min(len(q.idle), len(values))
	q.called = append(q.called[:0], q.idle[waiting:]...)
	clear(q.idle[waiting:])
	q.idle = q.idle[:waiting]
	tail := q.tail.Load()
	for _, v := range values[len(q.called):] {
		q.slots[tail&uint64(len(q.slots)-1)].Store(v)
		tail++
	}
	q.tail.Store(tail)
	q.mu.Unlock()
	for i, t := range q.called {
		t.value <- values[len(q.called)-1-i]
	}
}

// take removes the oldest value, or returns nil. A value that another goroutine claims first is not lost to it: head
// only grows, so the pointer that was read belongs to the position that is claimed.
func (q *Queue[T]) take() *T {
	for {
		head := q.head.Load()
		if head == q.tail.Load() {
			return nil
		}
		v := q.slots[head&uint64(len(q.slots)-1)].Load()
		if q.head.CompareAndSwap(head, head+1) {
			return v
		}
	}
}

// TakeBack removes the oldest value for the putter, or returns nil.
func (q *Queue[T]) TakeBack() *T { return q.take() }

// Close ends the queue. It may be called more than once, but not beside Put.
func (q *Queue[T]) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, t := range q.idle {
		close(t.value)
	}
	q.idle = nil
}

// Next removes the oldest value, and waits while there is none. ok is false if the queue is closed and empty.
func (t *Taker[T]) Next() (v *T, ok bool) {
	q := t.queue
	if v = q.take(); v != nil {
		return v, true
	}
	q.mu.Lock()
	if v = q.take(); v != nil || q.closed { // Put holds the lock, so nothing comes between this and the list
		q.mu.Unlock()
		return v, v != nil
	}
	q.idle = append(q.idle, t)
	q.mu.Unlock()
	v, ok = <-t.value
	return v, ok
}
