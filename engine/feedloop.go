package engine

import (
	"context"
	"time"

	"orbweaver/engine/journal"
	"orbweaver/engine/outage"
	"orbweaver/engine/visit"
	"orbweaver/internal/mpmc"
)

// feeder takes due Visits off the bench in batches and puts them on the todo queue, no more than the workers can soon
// use: a Visit there holds its IP. One goroutine.
type feeder struct {
	ledger    *journal.Store
	bench     *visit.Workbench
	todo      *mpmc.Queue[visit.Visit]
	leases    int // Visits that may be out at once: the done queue has room for all of them
	gate      *outage.Gate
	wake      chan struct{}
	starved   func()    // the todo queue is empty and nothing is due
	notBefore time.Time // after an unclean stop: whoever was asked last is not asked again before this

	visits []visit.Visit
}

const feedBatch = 256

func (f *feeder) run(ctx context.Context) error {
	if wait := time.Until(f.notBefore); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
	}
	for {
		if f.gate.Wait(ctx) != nil {
			return nil
		}
		if n := f.feed(time.Now()); n > 0 {
			continue
		}
		if !f.rest(ctx) {
			return nil
		}
	}
}

// feed moves one batch and says how many.
func (f *feeder) feed(now time.Time) int {
	f.ledger.Steps.Begin()
	room := min(feedBatch, f.todo.Cap()-f.todo.Len(), f.leases-f.bench.Leased())
	if room <= 0 {
		f.ledger.Steps.End()
		return 0
	}
	f.visits = f.bench.Acquire(now, f.visits[:0], room)
	f.ledger.Steps.End()
	for i := range f.visits {
		if !f.todo.TryPut(f.visits[i]) {
			panic("BUG: engine: the todo queue has less room than its only filler saw")
		}
		f.visits[i] = visit.Visit{}
	}
	return len(f.visits)
}

// rest waits until something is due or somebody says that there is; false when the crawl stops.
func (f *feeder) rest(ctx context.Context) bool {
	var due <-chan time.Time
	if f.todo.Len() < f.todo.Cap() {
		if next, ok := f.bench.NextDue(); ok {
			timer := time.NewTimer(max(time.Until(next), 100*time.Microsecond))
			defer timer.Stop()
			due = timer.C
		}
		if f.todo.Len() == 0 {
			f.starved()
		}
	}
	select {
	case <-due:
	case <-f.wake:
	case <-ctx.Done():
		return false
	}
	return true
}
