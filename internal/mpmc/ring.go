//go:build !mpmc_channel

package mpmc

import (
	"math/bits"
	"runtime"
	"sync/atomic"
)

// ring is the queue without waiting: an operation that would have to wait returns.
type ring[T any] struct {
	slots []slot[T]
	size  uint64
	shift int // log2 of size, or -1 if size is no power of two

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

// init makes the slots.
func (r *ring[T]) init(capacity int) {
	r.slots, r.size, r.shift = make([]slot[T], capacity), uint64(capacity), -1
	if r.size&(r.size-1) == 0 {
		r.shift = bits.TrailingZeros64(r.size)
	}
}

// at returns the slot and the lap of a position.
func (r *ring[T]) at(pos uint64) (s *slot[T], lap uint64) {
	if r.shift >= 0 {
		return &r.slots[pos&(r.size-1)], pos >> uint(r.shift)
	}
	lap = pos / r.size
	return &r.slots[pos-lap*r.size], lap
}

// len returns the number of values, including those that are just being put or removed.
func (r *ring[T]) len() int {
	head := r.head.Load()
	return int(min((r.tail.Load()&^closedBit)-head, r.size))
}

// hasValue reports whether a taker would not have to wait.
func (r *ring[T]) hasValue() bool { return r.tail.Load() != r.head.Load() }

// hasRoom reports whether a putter would not have to wait.
func (r *ring[T]) hasRoom() bool {
	head := r.head.Load()
	tail := r.tail.Load()
	return tail&closedBit != 0 || tail-head < r.size
}

// close lets put fail, and remove when the ring is empty.
func (r *ring[T]) close() { r.tail.Or(closedBit) }

// result is the result of an attempt.
type result uint8

const (
	done   result = iota
	no            // full, or empty
	closed        // closed; for remove: and empty
)

// put appends *v.
func (r *ring[T]) put(v *T) result {
	for spins := 0; ; spins++ {
		pos := r.tail.Load()
		if pos&closedBit != 0 {
			return closed
		}
		s, lap := r.at(pos)
		if s.turn.Load() == 2*lap {
			if r.tail.CompareAndSwap(pos, pos+1) {
				s.value = *v
				s.turn.Store(2*lap + 1)
				return done
			}
			continue
		}
		// Three cases: another putter was faster and pos is stale; the queue is full; or the taker of the previous lap
		// has claimed the slot and not emptied it yet. In the third case the queue is not full, and the taker needs
		// only a moment.
		if pos-r.head.Load() == r.size && r.tail.Load() == pos {
			return no
		}
		yield(spins)
	}
}

// remove moves the oldest value to *v.
func (r *ring[T]) remove(v *T) result {
	for spins := 0; ; spins++ {
		pos := r.head.Load()
		s, lap := r.at(pos)
		if s.turn.Load() == 2*lap+1 {
			if r.head.CompareAndSwap(pos, pos+1) {
				*v = s.value
				var zero T
				s.value = zero
				s.turn.Store(2 * (lap + 1))
				return done
			}
			continue
		}
		switch r.tail.Load() {
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
