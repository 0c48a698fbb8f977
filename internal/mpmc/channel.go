//go:build mpmc_channel

package mpmc

import (
	"context"
	"errors"
	"sync/atomic"
)

// ErrClosed means that the queue is closed and, for TakeNext, empty.
var ErrClosed = errors.New("mpmc: closed")

// Queue is the interface of the lock-free queue over a buffered channel. It exists for one purpose: to measure the
// engine with it in alternating pairs (docs/adr/0033-queue-or-channel.md). Unlike the lock-free queue it must not be
// closed while a Put waits or runs.
type Queue[T any] struct {
	values chan T
	ended  atomic.Bool
}

// New makes a queue for up to capacity values, 1 or more.
func New[T any](capacity int) *Queue[T] {
	if capacity < 1 {
		panic("BUG: mpmc: a queue without capacity")
	}
	return &Queue[T]{values: make(chan T, capacity)}
}

// Cap is the capacity.
func (q *Queue[T]) Cap() int { return cap(q.values) }

// Len is how many values are in the queue.
func (q *Queue[T]) Len() int { return len(q.values) }

// TryPut appends v unless the queue is full or closed.
func (q *Queue[T]) TryPut(v T) bool {
	if q.ended.Load() {
		return false
	}
	select {
	case q.values <- v:
		return true
	default:
		return false
	}
}

// TryTake removes the oldest value unless the queue is empty.
func (q *Queue[T]) TryTake() (v T, ok bool) {
	select {
	case v, ok = <-q.values:
		return v, ok
	default:
		return v, false
	}
}

// Put appends v. It waits while the queue is full.
func (q *Queue[T]) Put(ctx context.Context, v T) error {
	if q.ended.Load() {
		return ErrClosed
	}
	select {
	case q.values <- v:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TakeNext removes the oldest value. It waits while the queue is empty, and returns ErrClosed when it is closed and
// empty.
func (q *Queue[T]) TakeNext(ctx context.Context) (v T, err error) {
	end := ctx.Done()
	if end == nil {
		v, ok := <-q.values
		if !ok {
			return v, ErrClosed
		}
		return v, nil
	}
	select {
	case v, ok := <-q.values:
		if !ok {
			return v, ErrClosed
		}
		return v, nil
	case <-end:
		return v, ctx.Err()
	}
}

// Close ends the queue. It may be called more than once.
func (q *Queue[T]) Close() {
	if !q.ended.Swap(true) {
		close(q.values)
	}
}
