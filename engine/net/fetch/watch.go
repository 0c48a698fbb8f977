package fetch

import (
	"context"
	"net"
	"sync"
	"time"
)

// watch aborts what its Fetcher waits for when a context ends. The fetches of one worker share a context, so the
// registration is made once and not for each page. This saves allocations and contention for the context's lock.
//
// It is also the context for the dialer: with the dial's deadline, without a timer, and without a child of the real
// context. Its Done is not closed at the deadline.
type watch struct {
	mu       sync.Mutex // held for a few instructions, and while a deadline is set; between Fetch and the abort
	done     <-chan struct{}
	stop     func() bool
	turn     int // counts registrations, so that a late abort of an old one is told apart
	ended    bool
	conn     net.Conn
	dialing  func()
	undial   func() bool // dialed, bound once
	deadline time.Time
}

// aLongTimeAgo is a deadline that has passed.
func aLongTimeAgo() time.Time { return time.Unix(1, 0) }

// follow makes w follow ctx; false if ctx has ended.
func (w *watch) follow(ctx context.Context) bool {
	done := ctx.Done()
	w.mu.Lock()
	same := done == w.done
	ended := w.ended
	w.mu.Unlock()
	if !same {
		w.leave()
		w.mu.Lock()
		w.done, w.ended = done, false
		w.turn++
		turn := w.turn
		w.mu.Unlock()
		if done != nil {
			w.stop = context.AfterFunc(ctx, func() { w.abort(turn) })
		}
		ended = false
	}
	return !ended && ctx.Err() == nil
}

// leave ends the registration.
func (w *watch) leave() {
	if w.stop != nil {
		w.stop()
		w.stop = nil
	}
	w.mu.Lock()
	w.done, w.turn = nil, w.turn+1
	w.mu.Unlock()
}

// abort makes the wait at hand fail, and every later one.
func (w *watch) abort(turn int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if turn != w.turn {
		return
	}
	w.ended = true
	if w.dialing != nil {
		w.dialing()
	}
	if w.conn != nil {
		_ = w.conn.SetDeadline(aLongTimeAgo()) // a connection that is closed needs no deadline
	}
}

// hold makes w abort conn; nil for none.
func (w *watch) hold(conn net.Conn) {
	w.mu.Lock()
	w.conn = conn
	w.mu.Unlock()
}

// arm sets the deadline of the held connection; false if the context has ended.
func (w *watch) arm(deadline time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return false
	}
	_ = w.conn.SetDeadline(deadline) // if the connection is gone the next read says so
	return true
}

// cancelled says whether the context has ended.
func (w *watch) cancelled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended
}

// Deadline is the dial's.
func (w *watch) Deadline() (time.Time, bool) { return w.deadline, true }

// Done is the followed context's.
func (w *watch) Done() <-chan struct{} { return w.done }

// Err says whether the followed context has ended.
func (w *watch) Err() error {
	select {
	case <-w.done:
		return context.Canceled
	default:
		return nil
	}
}

// Value has none: it would lead package context past AfterFunc to the followed context's tree.
func (w *watch) Value(any) any { return nil }

// AfterFunc has package context call us rather than start a goroutine that waits for Done. It does not call f itself:
// the caller holds a lock that f takes. f asks Err, which must still speak of the same context. So the stop function,
// which every dial calls before it returns, waits until f has ended.
func (w *watch) AfterFunc(f func()) (stop func() bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		called := make(chan struct{})
		time.AfterFunc(0, func() {
			f()
			close(called)
		})
		return func() bool {
			<-called
			return false
		}
	}
	w.dialing = f
	return w.undial
}

// dialed ends what AfterFunc began; false if f has been called.
func (w *watch) dialed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.dialing = nil
	return !w.ended
}
