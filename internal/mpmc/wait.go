//go:build !mpmc_channel

package mpmc

import (
	"context"
	"errors"
	"sync/atomic"
)

// ErrClosed says that the queue is closed and, for Take, empty.
var ErrClosed = errors.New("mpmc: closed")

// side is where takers wait for values, or putters for room.
//
// Why no wake-up is lost. Say "work" for a value that a taker could have, or for room that a putter could fill; a closed
// queue is work for everybody.
//
//   - To wait is: count oneself (waiting), look for work, and only then park at the door, a channel without buffer. To
//     bring work is: bring it, then look at the count. All of these are sequentially consistent, so either the waiter
//     sees the work or the bringer sees the count.
//   - A bringer who sees somebody counted goes on until one of three is true (callTaker, callPutter): he has woken somebody
//     parked, who will look again; or nobody is counted; or the work is gone. Who is counted and not parked is a few
//     instructions from parking, or from having found the work and counting himself out, so this takes moments.
//   - Who is woken is counted out by the one who woke him. Who looks and finds nothing counts himself in again, and
//     looks again, before he parks again.
//   - Who gives up because his context ended has not been woken: a channel hands over to him or does not.
//
// "Is there work" compares head and tail, read one after the other. If one of them moved in between, then whoever moved it
// brought work or took it after the first reading: then it is for him to call.
//
// A value may also be handed to a parked taker, past the ring. That is right only while the ring is empty, or it would
// overtake. It cannot get lost: without a buffer it is either still the sender's or already the receiver's.
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

// handable says that a value may be handed over: somebody waits, and there is nothing that it would overtake.
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

// call wakes somebody who is parked, if there is one.
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

// callTaker makes sure that somebody takes what has been put.
func (q *Queue[T]) callTaker() {
	for spins := 0; q.takers.waiting.Load() > 0 && q.tail.Load() != q.head.Load(); spins++ {
		if q.takers.call() {
			return
		}
		yield(spins)
	}
}

// callPutter makes sure that somebody fills the room that has been made.
func (q *Queue[T]) callPutter() {
	for spins := 0; q.putters.waiting.Load() > 0 && q.hasRoom(); spins++ {
		if q.putters.call() {
			return
		}
		yield(spins)
	}
}

// hasRoom says that a putter would not have to wait.
func (q *Queue[T]) hasRoom() bool {
	head := q.head.Load()
	tail := q.tail.Load()
	return tail&closedBit != 0 || tail-head < q.size
}

// Put appends v, and waits for room if there is none. It returns ErrClosed if the queue is closed, or ctx's error if that
// ended while it had to wait; then v is not in the queue. A ctx that cannot end costs nothing.
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

// Take removes the oldest value, and waits for one if there is none. It returns ErrClosed once the queue is closed and
// nothing is left in it, or ctx's error if that ended while it had to wait. A ctx that cannot end costs nothing.
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

// Close ends the queue and wakes all who wait: puts fail from now on, takes when nothing is left. It may be called more
// than once.
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
