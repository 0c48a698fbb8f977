package schedule

import (
	"context"
	"time"

	"orbweaver/engine/bandwidth"
	"orbweaver/engine/journal"
	"orbweaver/engine/outage"
	"orbweaver/engine/queued"
	"orbweaver/engine/readyqueue"
	"orbweaver/engine/visit"
	"orbweaver/internal/mpmc"
	"orbweaver/workbench"
)

// Feeder moves due Visits from the workbench to the fetch workers, in batches, and no more than the workers can soon
// use: a Visit in the queue holds its IP address. FeedVisits runs in one goroutine.
type Feeder struct {
	Journal         *journal.Store
	Workbench       *visit.Workbench
	Todo            *mpmc.Queue[visit.Visit] // filled by the Feeder only
	MaxLeased       int                      // Visits that are out at most: the queue of Results has room for all
	Gate            *outage.Gate
	Wake            chan struct{} // something may be due
	Ready           *readyqueue.Queue
	Front           *Front
	WakeDistributor func()
	IsClosing       func() bool // only page requisites are still fetched
	Bandwidth       *bandwidth.Limits
	NotBefore       time.Time // after a kill, which host was asked last is not known: no host is asked before this time

	visits []visit.Visit
}

const (
	feedBatch = 256
	feedPause = 100 * time.Microsecond // the least wait for a Visit that is not due yet
)

// FeedVisits moves Visits until ctx ends.
func (f *Feeder) FeedVisits(ctx context.Context) error {
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
			if !f.Bandwidth.StartVisits(len(f.visits), ctx.Done()) {
				return nil
			}
			continue
		}
		if !f.waitForVisits(ctx) {
			return nil
		}
	}
}

// feed moves one batch and returns its size.
func (f *Feeder) feed(now time.Time) int {
	f.Journal.Steps.Begin()
	room := min(feedBatch, f.Bandwidth.VisitsMax(), f.Todo.Cap()-f.Todo.Len(), f.MaxLeased-f.Workbench.Counts().Leased)
	if room <= 0 {
		f.Journal.Steps.End()
		return 0
	}
	f.visits = f.Workbench.Acquire(now, f.visits[:0], room)
	acquired := len(f.visits)
	if f.IsClosing() {
		f.holdPages(now)
	}
	f.Journal.Steps.End()
	for i := range f.visits {
		if !f.Todo.TryPut(f.visits[i]) {
			panic("BUG: schedule: the queue of Visits has less room than the Feeder saw")
		}
		f.visits[i] = visit.Visit{}
	}
	return acquired
}

// holdPages returns the Visits whose next item is a page. Their sites wait for page requisites. If they have some on
// disk they are due again at once, and the Distributor must bring these.
func (f *Feeder) holdPages(now time.Time) {
	kept := f.visits[:0]
	for i := range f.visits {
		if v := &f.visits[i]; queued.IsUrgent(v.Items[0]) {
			kept = append(kept, *v)
		} else {
			f.Workbench.Release(v, workbench.Release{Unused: v.Items, Hold: true}, now)
		}
	}
	if len(kept) < len(f.visits) {
		f.WakeDistributor()
	}
	f.visits = kept
}

// waitForVisits waits until a Visit is due or Wake is signalled; it returns false when ctx has ended.
func (f *Feeder) waitForVisits(ctx context.Context) bool {
	var due <-chan time.Time
	if f.Todo.Len() < f.Todo.Cap() {
		if next, ok := f.Workbench.DueTimes().Next(); ok {
			timer := time.NewTimer(max(time.Until(next), feedPause))
			defer timer.Stop()
			due = timer.C
		}
		if f.Todo.Len() == 0 {
			f.Front.noteNothingDue(f.Ready.Len() > 0)
			f.WakeDistributor()
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
