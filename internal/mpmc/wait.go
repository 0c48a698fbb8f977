//go:build !mpmc_channel

package mpmc

import "sync/atomic"

// side is where takers wait for values, or putters for space.
//
// Why no wake-up is lost. "Work" means a value that a taker could take, or space that a putter could fill. A closed
// queue is work for all.
//
//   - A waiting goroutine increments the count (waiting), checks for work, and only then parks on a channel without
//     buffer. A goroutine that makes work makes it first, and then reads the count. These operations are sequentially
//     consistent. So either the waiting goroutine sees the work, or the other one sees the count.
//   - A goroutine that made work and sees a count repeats until one of three is true (callWhile): it has
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
	wake    chan M       // without buffer
	_       [cacheLine - 16]byte
}

// message is what a parked taker is woken with: a value, or the news that there is one in the ring.
type message[T any] struct {
	value T
	full  bool
}

// call wakes a parked goroutine with *m, if there is one.
func (s *side[M]) call(m *M) bool {
	select {
	case s.wake <- *m:
		s.waiting.Add(-1)
		return true
	default:
		return false
	}
}

// callWhile wakes a parked goroutine, unless none is waiting or the work is gone.
func (s *side[M]) callWhile(work func() bool) {
	var m M
	for spins := 0; s.waiting.Load() > 0 && work(); spins++ {
		if s.call(&m) {
			return
		}
		yield(spins)
	}
}

// callAll wakes all goroutines.
func (s *side[M]) callAll() {
	var m M
	for spins := 0; s.waiting.Load() > 0; spins++ {
		if s.call(&m) {
			spins = 0
		}
		yield(spins)
	}
}
