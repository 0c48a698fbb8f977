package visit

import (
	"context"

	"orbweaver/engine/state/site"
	"orbweaver/internal/mpmc"
	"orbweaver/internal/notify"
	"orbweaver/workbench"
)

// Result is a Visit that returns to the workbench, with what it has found.
type Result struct {
	Visit   Visit
	Release workbench.Release
	// RequeueLast: the last item of Release.Front goes to the end of the site's queue
	RequeueLast    bool
	RobotsRedirect *site.RobotsRedirect // nil unless the robots.txt of the site redirects to another site
	RobotsAnswer   *site.RobotsAnswer   // nil unless robots.txt files of other sites redirect here
}

// ResultQueue takes finished Visits from the fetch workers to the returner.
//
// Promise: while the checkpoint lock is held, a Visit is either in the queue or folded into the workbench. So the
// returner waits for a signal, and takes a Visit only within a step. Otherwise it would wait for the checkpoint lock
// with a Visit in hand, and a checkpoint would save the URL with its site although its Page has already counted it as
// done.
type ResultQueue struct {
	results *mpmc.Queue[Result]
	signal  chan struct{} // capacity 1: there may be Visits
}

// NewResultQueue returns a queue with room for capacity Visits.
func NewResultQueue(capacity int) *ResultQueue {
	return &ResultQueue{results: mpmc.New[Result](capacity), signal: make(chan struct{}, 1)}
}

// Cap is the number of Visits for which there is room.
func (q *ResultQueue) Cap() int { return q.results.Cap() }

// Put adds a Visit within a step. It never waits: there is room for all Visits.
func (q *ResultQueue) Put(r *Result) {
	if !q.results.TryPut(*r) {
		panic("BUG: visit: the queue has less room than there are Visits")
	}
	notify.Send(q.signal)
}

// TryTake removes the oldest Visit, if there is one. The caller holds the checkpoint lock, shared or exclusive.
func (q *ResultQueue) TryTake() (Result, bool) { return q.results.TryTake() }

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
