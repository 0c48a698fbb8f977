//go:build !mpmc_channel

package mpmc

import (
	"math/bits"
	"runtime"
	"sync/atomic"
)

// Queue is the queue. Make it with New; do not copy it. All methods are safe for concurrent use.
type Queue[T any] struct {
	slots []slot[T]
	size  uint64
	shift int // log2 of size, or -1 if size is no power of two

	takers  side[message[T]]
	putters side[struct{}]

	_    [cacheLine]byte
	tail atomic.Uint64
	_    [cacheLine - 8]byte
	head atomic.Uint64
	_    [cacheLine - 8]byte
}

type slot[T any] struct {
	turn  atomic.Uint64
	value T
	_     [cacheLine - 16]byte // keeps the turns of adjacent slots on different cache lines, even if T is small
}

const (
	cacheLine = 64
	closedBit = 1 << 63
)

// New makes a queue for up to capacity values, 1 or more. Powers of two are a little faster than others.
func New[T any](capacity int) *Queue[T] {
	if capacity < 1 {
		panic("BUG: mpmc: a queue without capacity")
	}
	q := &Queue[T]{slots: make([]slot[T], capacity), size: uint64(capacity), shift: -1}
	if q.size&(q.size-1) == 0 {
		q.shift = bits.TrailingZeros64(q.size)
	}
	q.takers.door = make(chan message[T])
	q.putters.door = make(chan struct{})
	return q
}

// at returns the slot and the lap of a position.
func (q *Queue[T]) at(pos uint64) (s *slot[T], lap uint64) {
	if q.shift >= 0 {
		return &q.slots[pos&(q.size-1)], pos >> uint(q.shift)
	}
	lap = pos / q.size
	return &q.slots[pos-lap*q.size], lap
}

// Cap is the capacity.
func (q *Queue[T]) Cap() int { return int(q.size) }

// Len returns the number of values in the queue, including those that are just being put or taken. A value that is
// handed to a waiting taker is never in it. If no other goroutine puts, Cap()-Len() calls of TryPut succeed.
func (q *Queue[T]) Len() int {
	head := q.head.Load()
	return int(min((q.tail.Load()&^closedBit)-head, q.size))
}

// TryPut appends v unless the queue is full or closed.
func (q *Queue[T]) TryPut(v T) bool {
	return (q.handable() && q.hand(&v)) || q.put(&v) == done
}

// TryTake removes the oldest value unless the queue is empty.
func (q *Queue[T]) TryTake() (v T, ok bool) {
	ok = q.take(&v) == done
	return v, ok
}

// result is the result of an attempt.
type result uint8

const (
	done   result = iota
	no            // full, or empty
	closed        // closed; for take: and empty
)

// put appends *v to the ring, and wakes a taker.
func (q *Queue[T]) put(v *T) result {
	for spins := 0; ; spins++ {
		pos := q.tail.Load()
		if pos&closedBit != 0 {
			return closed
		}
		s, lap := q.at(pos)
		if s.turn.Load() == 2*lap {
			if q.tail.CompareAndSwap(pos, pos+1) {
				s.value = *v
				s.turn.Store(2*lap + 1)
				if q.takers.waiting.Load() > 0 {
					q.callTaker()
				}
				return done
			}
			continue
		}
		// Three cases: another putter was faster and pos is stale; the queue is full; or the taker of the previous lap
		// has claimed the slot and not emptied it yet. In the third case the queue is not full, and the taker needs
		// only a moment.
		if pos-q.head.Load() == q.size && q.tail.Load() == pos {
			return no
		}
		yield(spins)
	}
}

// take moves the oldest value of the ring to *v, and wakes a putter.
func (q *Queue[T]) take(v *T) result {
	for spins := 0; ; spins++ {
		pos := q.head.Load()
		s, lap := q.at(pos)
		if s.turn.Load() == 2*lap+1 {
			if q.head.CompareAndSwap(pos, pos+1) {
				*v = s.value
				var zero T
				s.value = zero
				s.turn.Store(2 * (lap + 1))
				if q.putters.waiting.Load() > 0 {
					q.callPutter()
				}
				return done
			}
			continue
		}
		switch q.tail.Load() {
		case pos:
			return no
		case pos | closedBit:
			return closed
		}
		yield(spins)
	}
}

// spinsMax checks of one or two nanoseconds take about as long as an incomplete operation of a running goroutine. If
// that goroutine is not running, further checks are useless.
const spinsMax = 32

// yield lets the goroutine of an incomplete operation continue.
func yield(spins int) {
	if spins >= spinsMax {
		runtime.Gosched()
	}
}
