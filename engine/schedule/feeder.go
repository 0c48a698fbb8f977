package schedule

import (
	"context"
	"time"

	"orbweaver/engine/journal"
	"orbweaver/engine/outage"
	"orbweaver/engine/visit"
	"orbweaver/internal/mpmc"
)

// Feeder takes due Visits off the bench in batches and puts them on the todo queue, no more than the workers can soon
// use: a Visit there holds its IP. One goroutine.
type Feeder struct {
	Journal   *journal.Store
	Workbench *visit.Workbench
	Todo      *mpmc.Queue[visit.Visit]
	MaxLeased int // Visits that may be out at once: the done queue has room for all of them
	Gate      *outage.Gate
	Wake      chan struct{}
	Starved   func()    // the todo queue is empty and nothing is due
	NotBefore time.Time // after an unclean stop: whoever was asked last is not asked again before this

	visits []visit.Visit
}

const feedBatch = 256

// Run moves Visits until ctx ends.
func (f *Feeder) Run(ctx context.Context) error {
	if wait := time.Until(f.NotBefore); wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil
		}
	}
	for {
		if f.Gate.Wait(ctx) != nil {
			return nil
		}
		if n := f.feed(time.Now()); n > 0 {
			continue
		}
		if !f.wait(ctx) {
			return nil
		}
	}
}

// feed moves one batch and says how many.
func (f *Feeder) feed(now time.Time) int {
	f.Journal.Steps.Begin()
	room := min(feedBatch, f.Todo.Cap()-f.Todo.Len(), f.MaxLeased-f.Workbench.Leased())
	if room <= 0 {
		f.Journal.Steps.End()
		return 0
	}
	f.visits = f.Workbench.Acquire(now, f.visits[:0], room)
	f.Journal.Steps.End()
	for i := range f.visits {
		if !f.Todo.TryPut(f.visits[i]) {
			panic("BUG: engine: the todo queue has less room than its only filler saw")
		}
		f.visits[i] = visit.Visit{}
	}
	return len(f.visits)
}

// wait waits until something is due or somebody says that there is; false when the crawl stops.
func (f *Feeder) wait(ctx context.Context) bool {
	var due <-chan time.Time
	if f.Todo.Len() < f.Todo.Cap() {
		if next, ok := f.Workbench.NextDue(); ok {
			timer := time.NewTimer(max(time.Until(next), 100*time.Microsecond))
			defer timer.Stop()
			due = timer.C
		}
		if f.Todo.Len() == 0 {
			f.Starved()
		}
	}
	select {
	case <-due:
	case <-f.Wake:
	case <-ctx.Done():
		return false
	}
	return true
}
