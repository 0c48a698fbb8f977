package schedule

import (
	"context"
	"time"

	"orbweaver/engine/net/bandwidth"
	"orbweaver/engine/net/outage"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/handoff"
	"orbweaver/workbench"
)

// Feeder moves due Visits from the workbench to the fetch workers, in batches, and no more than the workers can soon
// use: a Visit in the queue holds its IP address. FeedVisits runs in one goroutine.
//
// The Feeder alone decides how many Visits are out, and so how many fetch workers are active. If that number falls, it
// takes Visits back that no worker has taken. They return to the workbench as they were. Backlog says how many are out
// while the parse workers are behind.
type Feeder struct {
	Steps           *journal.Steps
	Workbench       *visit.Workbench
	Todo            *handoff.Queue[visit.Result] // filled by the Feeder only
	Results         *visit.ResultQueue           // has the Results that Visits are moved in
	MaxLeased       int                          // Visits that are out at most
	Workers         int                          // fetch workers that there are
	Network         *outage.Network
	Gate            *outage.Gate
	Wake            chan struct{} // something may be due, a Visit is back, or the number of Visits that may be out changed
	Ready           *queued.ReadyQueue
	Front           *Front
	WakeDistributor func()
	IsClosing       func() bool // only page requisites are still fetched
	Bandwidth       *bandwidth.Limits
	Shares          *visit.Shares
	Backlog         *Backlog
	NotBefore       time.Time // after a kill, which host was asked last is not known: no host is asked before this time

	visits []visit.Visit
	moved  []*visit.Result
	out    int // Visits that were out after the last batch
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
		moved, full := f.feed(time.Now())
		switch {
		case moved > 0:
			if !f.Bandwidth.StartVisits(len(f.visits), ctx.Done()) {
				return nil
			}
		case !f.waitForVisits(ctx, full):
			return nil
		}
	}
}

// feed moves one batch and returns its size. full says that none could be moved: Wake says when one can be.
func (f *Feeder) feed(now time.Time) (moved int, full bool) {
	f.Steps.Begin()
	most, active := f.visitsMost()
	leased := f.Workbench.Counts().Leased
	held := f.Backlog.visitsMost(most, f.out, f.out-leased, now)
	leased -= f.takeBack(leased-held, now)
	f.out = leased
	room := held - leased
	if held == most {
		room = max(room, f.Shares.PromptRoom(active))
	}
	room = min(feedBatch, f.Bandwidth.VisitsMax(), f.Todo.Room(), room)
	if room <= 0 {
		f.Steps.End()
		return 0, true
	}
	f.callHeld(active, room, now)
	f.visits = f.Workbench.Acquire(now, f.visits[:0], room)
	moved = len(f.visits)
	if f.IsClosing() {
		f.holdPages(now)
	}
	f.divide(active, now)
	f.out = leased + len(f.visits)
	f.Steps.End()
	f.moved = f.moved[:0]
	for i := range f.visits {
		f.moved = append(f.moved, f.Results.New(&f.visits[i]))
		f.visits[i] = visit.Visit{}
	}
	f.Todo.Put(f.moved)
	return moved, false
}

// visitsMost returns how many Visits may be out now, and how many workers may be active. If the limit holds fetch
// workers back, there is one Visit for each active worker. Otherwise there are some more, so that no worker waits for
// the Feeder.
func (f *Feeder) visitsMost() (most, active int) {
	switch limit := f.Network.WorkerLimit(); {
	case !f.Gate.IsOpen():
		return 0, 0
	case limit < f.Workers:
		return limit, limit
	default:
		return f.MaxLeased, f.Workers
	}
}

// callHeld makes up to most sites due that waited for a worker of their share, if there are workers.
func (f *Feeder) callHeld(active, most int, now time.Time) {
	for called := 0; called < most; {
		h, ok := f.Shares.NextHeld(active, called, now)
		if !ok {
			return
		}
		if f.Workbench.DueTimes().Hasten(h.Key, h.Until, h.Due) {
			called++
		}
	}
}

// divide returns the Visits that must wait for a worker, since others have all those of their share.
func (f *Feeder) divide(active int, now time.Time) {
	kept := f.Shares.Divide(f.visits, active, now)
	for i := kept; i < len(f.visits); i++ {
		v := &f.visits[i]
		f.Workbench.Release(v, workbench.Release{Unused: v.Items, SiteDue: f.Shares.Hold(v, now)}, now)
	}
	f.visits = f.visits[:kept]
}

// takeBack returns up to n Visits to the workbench that no fetch worker has taken, and how many these are.
func (f *Feeder) takeBack(n int, now time.Time) (taken int) {
	for ; taken < n; taken++ {
		r := f.Todo.TakeBack()
		if r == nil {
			return taken
		}
		f.Workbench.Release(&r.Visit, workbench.Release{Unused: r.Visit.Items}, now)
		f.Shares.GiveBack(r.Visit.Class)
		f.Results.Recycle(r)
		f.Bandwidth.GiveBack()
	}
	return taken
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

// waitForVisits waits until a Visit is due that can be moved, or Wake is signalled; it returns false when ctx has
// ended.
func (f *Feeder) waitForVisits(ctx context.Context, full bool) bool {
	var due <-chan time.Time
	switch {
	case full && f.Backlog.isLimited.Load(): // the limit grows with time
		timer := time.NewTimer(backlogPause)
		defer timer.Stop()
		due = timer.C
	case !full:
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
