package schedule

import (
	"context"
	"errors"
	"time"

	"orbweaver/engine/cluster"
	"orbweaver/engine/journal"
	"orbweaver/engine/queued"
	"orbweaver/engine/settings"
	"orbweaver/engine/site"
	"orbweaver/engine/sites"
	"orbweaver/engine/visit"
	"orbweaver/virtualize/diskq"
)

// Returner folds finished Visits back into the bench, in batches. One goroutine.
type Returner struct {
	Journal         *journal.Store
	Workbench       *visit.Workbench
	Sites           *sites.Table
	Results         *visit.ResultQueue
	Unresolved      *sites.UnresolvedQueue
	Ready           *diskq.Queue
	Dead            *DeadSites
	Live            *settings.Live
	Cluster         cluster.RobotsRouter
	WakeFeeder      func()
	WakeDistributor func() // of the distributor

	batch  [foldBatch]visit.Result // guarded by the cut: drain's
	visits [foldBatch]visit.Visit
}

const (
	returnBatch = 256
	foldBatch   = 16 // Visits that are read ahead in one go
)

// Run returns Visits until the queue of Results is closed.
func (r *Returner) Run(ctx context.Context) error {
	for {
		open, err := r.Results.Wait(ctx)
		if err != nil {
			return err
		}
		for more := true; more; {
			r.Journal.Steps.Begin()
			more, err = r.Drain(returnBatch)
			r.Journal.Steps.End()
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

// Drain folds what is waiting, up to limit or a few more, and reports whether there may be more. The checkpointer calls
// it under the exclusive lock, so that a Visit whose Page already carries its item is not saved with it. An error is of
// the disk, and ends the crawl before the next cut: what it kept from being done is not saved as done.
func (r *Returner) Drain(limit int) (more bool, err error) {
	n := foldBatch
	for ; n == foldBatch && limit > 0 && err == nil; limit -= n {
		for n = 0; n < foldBatch; n++ {
			one, ok := r.Results.TryTake()
			if !ok {
				break
			}
			r.batch[n], r.visits[n] = one, one.Visit
		}
		r.Workbench.Prefetch(r.visits[:n])
		for i := range n {
			err = errors.Join(err, r.fold(&r.batch[i]))
			r.batch[i], r.visits[i] = visit.Result{}, visit.Visit{}
		}
	}
	return n == foldBatch && err == nil, err
}

func (r *Returner) fold(one *visit.Result) error {
	vs := one.Visit.VS
	now := time.Now()
	rel := one.Release
	if rel.Kill {
		fate := one.Visit.Site.DeadOutcome
		rel.Drop = func(item []byte) { r.Dead.DropUnlessFinished(one.Visit.Key, item, fate) }
	}
	if one.RequeueLast {
		rel.Front = r.requeueLast(one.Visit.Key, rel.Front)
	}
	r.Workbench.Release(&one.Visit, rel, now)
	if rel.Kill {
		r.Dead.EmptyQueue(vs)
	}
	if rel.Unresolved {
		r.Unresolved.Put(vs)
	}
	if one.RobotsRedirect != nil {
		if err := r.RedirectRobots(one.RobotsRedirect); err != nil {
			return err
		}
	}
	if one.RobotsResult != nil {
		return r.SettleRobots(one.RobotsResult)
	}
	return nil
}

// requeueLast moves the last of some items of a site into the ready queue, behind all others of the site, and returns
// the rest of them. If the disk does not take it, it stays where it is.
func (r *Returner) requeueLast(site []byte, items [][]byte) [][]byte {
	last := len(items) - 1
	it := queued.MustDecode(items[last])
	it.Rest = append(append([]byte(nil), site...), it.Rest...)
	if err := r.Ready.Append(queued.Append(nil, &it)); err != nil {
		return items // the flusher meets the same disk, and tells
	}
	return items[:last]
}

// SettleRobots gives a verdict to the site that waits, or to the agent that has it.
func (r *Returner) SettleRobots(v *site.RobotsResult) error {
	if r.Cluster.SendResult(v) {
		return nil
	}
	return r.DeliverRobots(v)
}

// RedirectRobots puts a hop of a robots.txt redirect at the head of the site that it leads to. If that one waits for
// its own robots.txt from elsewhere it goes on, and asks again later: perhaps each of two sites waits for the other, or
// the chain has come home.
func (r *Returner) RedirectRobots(h *site.RobotsRedirect) error {
	if r.Cluster.SendRedirect(h) {
		return nil
	}
	sent := false
	err := r.Sites.UseOrAdd(h.Site, func(vs *visit.State) {
		if sent = r.Workbench.PushFront(vs, h.Item); sent {
			r.Workbench.Unpark(vs, nil)
		}
	})
	r.WakeFeeder() // a letter brought it, and nobody else may have a reason to look when it is due
	if err == nil && !sent {
		err = r.SettleRobots(&site.RobotsResult{Site: h.Origin, Unreachable: true})
	}
	return err
}

// DeliverRobots ends the waiting of a site whose robots.txt was redirected elsewhere.
func (r *Returner) DeliverRobots(v *site.RobotsResult) error {
	return r.Sites.Use(v.Site, func(vs *visit.State) {
		now := time.Now()
		if v.Rules != nil {
			delay, _ := v.Rules.CrawlDelay()
			r.Workbench.Postpone(vs, now.Add(r.Live.SiteDelay(v.Site, delay)), time.Time{})
		}
		tries := int8(0)
		r.Workbench.Unpark(vs, func(s *site.State) {
			v.Apply(s, now)
			tries = s.RobotsTries
		})
		if pause := site.RobotsRetryWait(tries); v.Unreachable && pause > 0 {
			r.Workbench.Postpone(vs, now.Add(pause), time.Time{})
		}
		r.WakeFeeder() // a letter brought it, and nobody else may have a reason to look when it is due
	})
}
