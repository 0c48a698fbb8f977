//go:build !mpmc_channel

package mpmc

import (
	"context"
	"errors"
)

// ErrClosed means that the queue is closed and, for TakeNext, empty.
var ErrClosed = errors.New("mpmc: closed")

// Queue is the queue. Make it with New; do not copy it. All methods are safe for concurrent use.
type Queue[T any] struct {
	takers  side[message[T]]
	putters side[struct{}]
	ring    ring[T]
}

// New makes a queue for up to capacity values, 1 or more. Powers of two are a little faster than others.
func New[T any](capacity int) *Queue[T] {
	if capacity < 1 {
		panic("BUG: mpmc: a queue without capacity")
	}
	q := &Queue[T]{}
	q.ring.init(capacity)
	q.takers.wake = make(chan message[T])
	q.putters.wake = make(chan struct{})
	return q
}

// Cap is the capacity.
func (q *Queue[T]) Cap() int { return int(q.ring.size) }

// Len returns the number of values in the queue, including those that are just being put or taken. A value that is
// handed to a waiting taker is never in it. If no other goroutine puts, Cap()-Len() calls of TryPut succeed.
func (q *Queue[T]) Len() int { return q.ring.len() }

// TryPut appends v unless the queue is full or closed.
func (q *Queue[T]) TryPut(v T) bool {
	return q.takers.waiting.Load() > 0 && q.handOver(&v) || q.put(&v) == done
}

// TryTake removes the oldest value unless the queue is empty.
func (q *Queue[T]) TryTake() (v T, ok bool) {
	ok = q.remove(&v) == done
	return v, ok
}

// handOver gives *v to a parked taker, if there is one and the value would overtake none.
func (q *Queue[T]) handOver(v *T) bool {
	return !q.ring.hasValue() && q.takers.call(&message[T]{value: *v, full: true})
}

// put appends *v to the ring, and makes sure that a taker takes it.
func (q *Queue[T]) put(v *T) result {
	r := q.ring.put(v)
	if r == done && q.takers.waiting.Load() > 0 {
		q.takers.callWhile(q.ring.hasValue)
	}
	return r
}

// remove moves the oldest value of the ring to *v, and makes sure that a putter fills the space.
func (q *Queue[T]) remove(v *T) result {
	r := q.ring.remove(v)
	if r == done && q.putters.waiting.Load() > 0 {
		q.putters.callWhile(q.ring.hasRoom)
	}
	return r
}

// Put appends v. It waits while the queue is full. If the queue is closed, it returns ErrClosed; if ctx ends while it
// waits, the error of ctx. Then v is not in the queue. A ctx that cannot end costs nothing.
func (q *Queue[T]) Put(ctx context.Context, v T) error {
	if q.takers.waiting.Load() > 0 && q.handOver(&v) {
		return nil
	}
	switch q.put(&v) {
	case done:
		return nil
	case closed:
		return ErrClosed
	default:
		return q.putWaiting(ctx, &v)
	}
}

func (q *Queue[T]) putWaiting(ctx context.Context, v *T) error {
	for {
		q.putters.waiting.Add(1)
		if q.ring.hasRoom() {
			q.putters.waiting.Add(-1)
		} else if end := ctx.Done(); end == nil {
			<-q.putters.wake
		} else {
			select {
			case <-q.putters.wake:
			case <-end:
				q.putters.waiting.Add(-1)
				return ctx.Err()
			}
		}
		switch q.put(v) {
		case done:
			return nil
		case closed:
			return ErrClosed
		case no:
		}
	}
}

// TakeNext removes the oldest value. It waits while the queue is empty. If the queue is closed and empty, it returns
// ErrClosed; if ctx ends while it waits, the error of ctx. A ctx that cannot end costs nothing.
func (q *Queue[T]) TakeNext(ctx context.Context) (v T, err error) {
	switch q.remove(&v) {
	case done:
		return v, nil
	case closed:
		return v, ErrClosed
	default:
		err = q.takeWaiting(ctx, &v)
		return v, err
	}
}

func (q *Queue[T]) takeWaiting(ctx context.Context, v *T) error {
	var m message[T]
	for {
		q.takers.waiting.Add(1)
		if q.ring.hasValue() {
			q.takers.waiting.Add(-1)
		} else if end := ctx.Done(); end == nil {
			m = <-q.takers.wake
		} else {
			select {
			case m = <-q.takers.wake:
			case <-end:
				q.takers.waiting.Add(-1)
				return ctx.Err()
			}
		}
		if m.full {
			*v = m.value
			return nil
		}
		switch q.remove(v) {
		case done:
			return nil
		case closed:
			return ErrClosed
		case no:
		}
	}
}

// Close ends the queue and wakes all waiting goroutines: further Puts fail, and Takes fail when the queue is empty. It
// may be called more than once.
func (q *Queue[T]) Close() {
	q.ring.close()
	q.takers.callAll()
	q.putters.callAll()
}
