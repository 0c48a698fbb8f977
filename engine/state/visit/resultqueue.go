package visit

import (
	"context"
	"sync/atomic"

	"orbweaver/engine/state/site"
	"orbweaver/internal/notify"
	"orbweaver/workbench"
)

// Result is a Visit on its way: from the Feeder to a fetch worker, and back to the workbench with what it has found.
// The same Result is used for one Visit after another. A loop that has passed it on does not use it any more.
type Result struct {
	Visit   Visit
	Release workbench.Release
	// RequeueLast: the last item of Release.Front goes to the end of the site's queue
	RequeueLast    bool
	RobotsRedirect *site.RobotsRedirect // nil unless the robots.txt of the site redirects to another site
	RobotsAnswer   *site.RobotsAnswer   // nil unless robots.txt files of other sites redirect here

	next *Result // in a list
}

// list is a list of Results. Any goroutine pushes, one at a time takes all. Neither ever waits for the other.
type list struct{ last atomic.Pointer[Result] }

func (l *list) push(r *Result) {
	for {
		r.next = l.last.Load()
		if l.last.CompareAndSwap(r.next, r) {
			return
		}
	}
}

// takeAll returns the last Result of the list, with the one before it as next.
func (l *list) takeAll() *Result { return l.last.Swap(nil) }

// ResultQueue takes finished Visits from the fetch workers to the returner, and used Results back to the Feeder. It has
// no limit of its own: there are as many Results as Visits have been out at one time.
//
// Promise: while the checkpoint lock is held, a Visit is either in the queue or folded into the workbench. So the
// returner waits for a signal, and takes a Visit only within a step. Otherwise it would wait for the checkpoint lock
// with a Visit in hand, and a checkpoint would save the URL with its site although its Page has already counted it as
// done.
type ResultQueue struct {
	finished list
	oldest   *Result       // taken from finished: the next for the returner, and those after it
	signal   chan struct{} // capacity 1: there may be Visits

	used list
	free *Result // taken from used, for the Feeder
}

// NewResultQueue returns an empty queue.
func NewResultQueue() *ResultQueue { return &ResultQueue{signal: make(chan struct{}, 1)} }

// New returns a Result for a Visit that is out from now on. Only the Feeder calls it.
func (q *ResultQueue) New(v *Visit) *Result {
	if q.free == nil {
		q.free = q.used.takeAll()
	}
	r := q.free
	if r == nil {
		return &Result{Visit: *v}
	}
	q.free, r.next = r.next, nil
	r.Visit = *v
	return r
}

// Put adds a finished Visit, within a step.
func (q *ResultQueue) Put(r *Result) {
	q.finished.push(r)
	notify.Send(q.signal)
}

// TryTake removes the oldest finished Visit; nil if there is none. The caller is the returner in a step, or the
// checkpointer with the exclusive lock.
func (q *ResultQueue) TryTake() *Result {
	if q.oldest == nil {
		for r := q.finished.takeAll(); r != nil; { // the last one first
			before := r.next
			r.next, q.oldest = q.oldest, r
			r = before
		}
	}
	r := q.oldest
	if r != nil {
		q.oldest, r.next = r.next, nil
	}
	return r
}

// Recycle takes a Result that has been used, and empties it.
func (q *ResultQueue) Recycle(r *Result) {
	*r = Result{}
	q.used.push(r)
}

// Wait waits until there may be a Visit to take. After Close it does not wait, and open is false.
func (q *ResultQueue) Wait(ctx context.Context) (open bool, err error) {
	select {
	case _, open = <-q.signal:
		return open, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// Close says that no more Visits are put.
func (q *ResultQueue) Close() { close(q.signal) }
