package engine

import (
	"context"

	"orbweaver/internal/mpmc"
	"orbweaver/internal/notify"
)

// doneQueue is where fetch workers put finished Visits for the returner. A Visit is in the queue or folded into the
// bench and nowhere between, for as long as somebody holds the cut: so the returner waits for the bell, and takes from
// the queue only under the cut's shared lock. If it waited for a Visit, it would stand before that lock with one in its
// hand, and a cut would save the URL with its site although its Page had already counted it as done.
type doneQueue struct {
	visits *mpmc.Queue[returned]
	bell   chan struct{} // capacity 1: there may be Visits
}

func newDoneQueue(capacity int) *doneQueue {
	return &doneQueue{visits: mpmc.New[returned](capacity), bell: make(chan struct{}, 1)}
}

// put is called under the cut's shared lock, and never waits: there is room for all Visits.
func (q *doneQueue) put(r *returned) {
	if !q.visits.TryPut(*r) {
		panic("BUG: engine: the done queue has less room than there are Visits")
	}
	notify.Send(q.bell)
}

// take removes the oldest Visit, if there is one. It is called under the cut's lock, shared or exclusive.
func (q *doneQueue) take() (returned, bool) { return q.visits.TryTake() }

// wait waits until there may be something to take. After close it does not wait, and open is false.
func (q *doneQueue) wait(ctx context.Context) (open bool, err error) {
	select {
	case _, open = <-q.bell:
		return open, nil
	case <-ctx.Done():
		return false, ctx.Err()
	}
}

// close says that nothing is put any more.
func (q *doneQueue) close() { close(q.bell) }
