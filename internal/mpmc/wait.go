//go:build !mpmc_channel

package mpmc

import (
	"context"
	"errors"
	"sync/atomic"
)

// ErrClosed means that the queue is closed and, for Take, empty.
var ErrClosed = errors.New("mpmc: closed")

// side is where takers wait for values, or putters for space.
//
// Why no wake-up is lost. "Work" means a value that a taker could take, or space that a putter could fill. A closed
// queue is work for all.
//
//   - A waiting goroutine increments the count (waiting), checks for work, and only then parks on a channel without
//     buffer. A goroutine that makes work makes it first, and then reads the count. These operations are sequentially
//     consistent. So either the waiting goroutine sees the work, or the other one sees the count.
//   - A goroutine that made work and sees a count repeats until one of three is true (callTaker, callPutter): it has
//     woken a parked goroutine, which will check again; or the count is zero; or the work is gone. A counted goroutine
//     that is not parked is a few instructions from parking, or from finding the work and decrementing the count. So
//     this takes moments.
//   - The goroutine that wakes another one decrements the count for it. If the woken one finds no work, it increments
//     the count again and checks again before it parks.
//   - A goroutine whose context ended has not been woken: a channel either hands over to it or does not.
//
// The check for work compares head and tail, read one after the other. If one of them moved in between, the goroutine
// that moved it made work, or took it after the first read. Then that goroutine must wake others.
//
// A value may also be handed to a parked taker without the ring. This is correct only while the ring is empty,
// otherwise it would overtake others. It cannot be lost: without a buffer it belongs either to the sender or to the
// receiver.
type side[M any] struct {
	waiting atomic.Int64 // counted: about to park or parked, and not woken yet
	door    chan M
	_       [cacheLine - 16]byte
}

// message is what a parked taker is woken with: a value, or the news that there is one in the ring.
type message[T any] struct {
	value T
	full  bool
}

// handable reports whether a value may be handed over: a taker waits, and the value would overtake none.
func (q *Queue[T]) handable() bool {
	return q.takers.waiting.Load() > 0 && q.tail.Load() == q.head.Load()
}

// hand gives *v to a parked taker, if there is one.
func (q *Queue[T]) hand(v *T) bool {
	m := message[T]{value: *v, full: true}
	select {
	case q.takers.door <- m:
		q.takers.waiting.Add(-1)
		return true
	default:
		return false
	}
}

// call wakes a parked goroutine, if there is one.
func (s *side[M]) call() bool {
	var m M
	select {
	case s.door <- m:
		s.waiting.Add(-1)
		return true
	default:
		return false
	}
}

// callTaker makes sure that a taker takes the value that was put.
func (q *Queue[T]) callTaker() {
	for spins := 0; q.takers.waiting.Load() > 0 && q.tail.Load() != q.head.Load(); spins++ {
		if q.takers.call() {
			return
		}
		yield(spins)
	}
}

// callPutter makes sure that a putter fills the space that was made.
func (q *Queue[T]) callPutter() {
	for spins := 0; q.putters.waiting.Load() > 0 && q.hasRoom(); spins++ {
		if q.putters.call() {
			return
		}
		yield(spins)
	}
}

// hasRoom reports whether a putter would not have to wait.
func (q *Queue[T]) hasRoom() bool {
	head := q.head.Load()
	tail := q.tail.Load()
	return tail&closedBit != 0 || tail-head < q.size
}

// Put appends v. It waits while the queue is full. If the queue is closed, it returns ErrClosed; if ctx ends while it
// waits, the error of ctx. Then v is not in the queue. A ctx that cannot end costs nothing.
func (q *Queue[T]) Put(ctx context.Context, v T) error {
	if q.handable() && q.hand(&v) {
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
		if q.hasRoom() {
			q.putters.waiting.Add(-1)
		} else if end := ctx.Done(); end == nil {
			<-q.putters.door
		} else {
			select {
			case <-q.putters.door:
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

// Take removes the oldest value. It waits while the queue is empty. If the queue is closed and empty, it returns
// ErrClosed; if ctx ends while it waits, the error of ctx. A ctx that cannot end costs nothing.
func (q *Queue[T]) Take(ctx context.Context) (v T, err error) {
	switch q.take(&v) {
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
		if q.tail.Load() != q.head.Load() {
			q.takers.waiting.Add(-1)
		} else if end := ctx.Done(); end == nil {
			m = <-q.takers.door
		} else {
			select {
			case m = <-q.takers.door:
			case <-end:
				q.takers.waiting.Add(-1)
				return ctx.Err()
			}
		}
		if m.full {
			*v = m.value
			return nil
		}
		switch q.take(v) {
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
	q.tail.Or(closedBit)
	q.takers.callAll()
	q.putters.callAll()
}

func (s *side[M]) callAll() {
	for spins := 0; s.waiting.Load() > 0; spins++ {
		if s.call() {
			spins = 0
		}
		yield(spins)
	}
}
