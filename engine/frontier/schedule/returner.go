package schedule

import (
	"bytes"
	"context"
	"errors"
	"time"

	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/visit"
	"orbweaver/engine/store/journal"
)

// Returner gives finished Visits back to the workbench, in batches. ReturnVisits runs in one goroutine.
type Returner struct {
	Steps           *journal.Steps
	Workbench       *visit.Workbench
	Sites           *sites.Table
	Results         *visit.ResultQueue
	Unresolved      *sites.UnresolvedQueue
	Ready           *queued.ReadyQueue
	Dead            *DeadSites
	Live            *settings.Live
	Cluster         cluster.RobotsRouter
	Robots          *RobotsTargets
	Shares          *visit.Shares
	WakeFeeder      func()
	WakeDistributor func()

	// Of Drain, which runs in a step of the Returner or while all steps stand still.
	batch  [foldBatch]*visit.Result
	visits [foldBatch]visit.Visit
}

const (
	returnBatch = 256 // Visits in one step
	foldBatch   = 16  // Visits whose memory is prefetched together
)

// ReturnVisits returns Visits until the queue of Results is closed.
func (r *Returner) ReturnVisits(ctx context.Context) error {
	for {
		open, err := r.Results.Wait(ctx)
		if err != nil {
			return err
		}
		for more := true; more; {
			r.Steps.Begin()
			more, err = r.Drain(returnBatch)
			r.Steps.End()
			if err != nil {
				return err
			}
			r.WakeFeeder()
			r.WakeDistributor()
		}
		if !open {
			return nil
		}
	}
}

// Drain returns the Visits that wait, up to limit or a few more, and reports whether there may be more. The
// checkpointer calls it while all steps stand still, so that no Visit is saved with an item that its Page carries
// already. An error is of the disk, and ends the crawl before the next checkpoint, so that nothing is saved as done
// that was not done.
func (r *Returner) Drain(limit int) (more bool, err error) {
	n := foldBatch
	for ; n == foldBatch && limit > 0 && err == nil; limit -= n {
		for n = 0; n < foldBatch; n++ {
			result := r.Results.TryTake()
			if result == nil {
				break
			}
			r.batch[n], r.visits[n] = result, result.Visit
		}
		r.Workbench.Prefetch(r.visits[:n])
		for i := range n {
			err = errors.Join(err, r.fold(r.batch[i]))
			r.Results.Recycle(r.batch[i])
			r.batch[i], r.visits[i] = nil, visit.Visit{}
		}
	}
	return n == foldBatch && err == nil, err
}

// fold returns one Visit.
func (r *Returner) fold(result *visit.Result) error {
	now, rel := time.Now(), result.Release
	if rel.Kill {
		o := result.Visit.Site.DeadOutcome
		rel.Drop = func(item []byte) { r.Dead.Drop(result.Visit.Key, item, o) }
	}
	if result.RequeueLast {
		rel.Front = r.requeueLast(result.Visit.Key, rel.Front)
	}
	var key []byte // that is needed after the Release
	if rel.Kill || rel.Unresolved {
		key = bytes.Clone(result.Visit.Key)
	}
	r.Workbench.Release(&result.Visit, rel, now)
	r.Shares.GiveBack(result.Visit.Class)
	if rel.Kill {
		r.Dead.EmptyQueue(key)
	}
	if rel.Unresolved {
		r.Unresolved.Put(key)
	}
	if result.RobotsRedirect != nil {
		return r.RedirectRobots(result.RobotsRedirect)
	}
	if result.RobotsAnswer != nil {
		return r.settleTarget(result.RobotsAnswer, result.Visit.Acquired, now)
	}
	return nil
}

// requeueLast moves the last of some items of a site to the ready queue, so that it comes behind all others of the
// site, and returns the rest of them. After an error of the disk the item stays where it is.
func (r *Returner) requeueLast(site []byte, items [][]byte) [][]byte {
	last := len(items) - 1
	it := queued.MustDecode(items[last])
	it.Rest = append(append([]byte(nil), site...), it.Rest...)
	if err := r.Ready.Others.Append(queued.Append(nil, &it)); err != nil {
		return items // the Flusher gets the same error, and reports it
	}
	return items[:last]
}
