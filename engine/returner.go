package engine

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

// returner folds finished Visits back into the bench, in batches. One goroutine.
type returner struct {
	ledger     *journal.Store
	bench      *visit.Workbench
	hosts      *hosts
	done       *visit.ResultQueue
	unresolved *sites.UnresolvedQueue
	ready      *diskq.Queue
	under      *undertaker
	live       *settings.Live
	cluster    cluster.RobotsRouter
	feed       func()
	wake       func() // of the distributor

	batch  [foldBatch]visit.Result // guarded by the cut: drain's
	visits [foldBatch]visit.Visit
}

const (
	returnBatch = 256
	foldBatch   = 16 // Visits that are read ahead in one go
)

func (r *returner) run(ctx context.Context) error {
	for {
		open, err := r.done.Wait(ctx)
		if err != nil {
			return err
		}
		for more := true; more; {
			r.ledger.Steps.Begin()
			more, err = r.drain(returnBatch)
			r.ledger.Steps.End()
			if err != nil {
				return err
			}
			r.feed()
			r.wake()
		}
		if !open {
			return nil
		}
	}
}

// drain folds what is waiting, up to limit or a few more, and reports whether there may be more. The checkpointer calls
// it under the exclusive lock, so that a Visit whose Page already carries its item is not saved with it. An error is of
// the disk, and ends the crawl before the next cut: what it kept from being done is not saved as done.
func (r *returner) drain(limit int) (more bool, err error) {
	n := foldBatch
	for ; n == foldBatch && limit > 0 && err == nil; limit -= n {
		for n = 0; n < foldBatch; n++ {
			one, ok := r.done.TryTake()
			if !ok {
				break
			}
			r.batch[n], r.visits[n] = one, one.Visit
		}
		r.bench.Prefetch(r.visits[:n])
		for i := range n {
			err = errors.Join(err, r.fold(&r.batch[i]))
			r.batch[i], r.visits[i] = visit.Result{}, visit.Visit{}
		}
	}
	return n == foldBatch && err == nil, err
}

func (r *returner) fold(one *visit.Result) error {
	vs := one.Visit.VS
	now := time.Now()
	rel := one.Release
	if rel.Kill {
		fate := one.Visit.Site.DeadOutcome
		rel.Drop = func(item []byte) { r.under.dropOf(one.Visit.Key, item, fate) }
	}
	if one.RequeueLast {
		rel.Front = r.sendBehind(one.Visit.Key, rel.Front)
	}
	r.bench.Release(&one.Visit, rel, now)
	if rel.Kill {
		r.under.Dig(vs)
	}
	if rel.Unresolved {
		r.unresolved.Put(vs)
	}
	if one.RobotsRedirect != nil {
		if err := r.sendHop(one.RobotsRedirect); err != nil {
			return err
		}
	}
	if one.RobotsResult != nil {
		return r.settle(one.RobotsResult)
	}
	return nil
}

// sendBehind moves the last of some items of a site into the ready queue, behind all others of the site, and returns
// the rest of them. If the disk does not take it, it stays where it is.
func (r *returner) sendBehind(site []byte, items [][]byte) [][]byte {
	last := len(items) - 1
	it := queued.MustDecode(items[last])
	it.Rest = append(append([]byte(nil), site...), it.Rest...)
	if err := r.ready.Append(queued.Append(nil, &it)); err != nil {
		return items // the flusher meets the same disk, and tells
	}
	return items[:last]
}

// settle gives a verdict to the site that waits, or to the agent that has it.
func (r *returner) settle(v *site.RobotsResult) error {
	if r.cluster.SendResult(v) {
		return nil
	}
	return r.deliver(v)
}

// sendHop puts a hop of a robots.txt redirect at the head of the site that it leads to. If that one waits for its own
// robots.txt from elsewhere it goes on, and asks again later: perhaps each of two sites waits for the other, or the
// chain has come home.
func (r *returner) sendHop(h *site.RobotsRedirect) error {
	if r.cluster.SendRedirect(h) {
		return nil
	}
	sent := false
	err := r.hosts.meet(h.Site, func(vs *visit.State) {
		if sent = r.bench.PushFront(vs, h.Item); sent {
			r.bench.Unpark(vs, nil)
		}
	})
	r.feed() // a letter brought it, and nobody else may have a reason to look when it is due
	if err == nil && !sent {
		err = r.settle(&site.RobotsResult{Site: h.Origin, Unreachable: true})
	}
	return err
}

// deliver ends the waiting of a site whose robots.txt was redirected elsewhere.
func (r *returner) deliver(v *site.RobotsResult) error {
	return r.hosts.look(v.Site, func(vs *visit.State) {
		now := time.Now()
		if v.Rules != nil {
			delay, _ := v.Rules.CrawlDelay()
			r.bench.Postpone(vs, now.Add(r.live.SiteDelay(v.Site, delay)), time.Time{})
		}
		tries := int8(0)
		r.bench.Unpark(vs, func(s *site.State) {
			v.Apply(s, now)
			tries = s.RobotsTries
		})
		if pause := site.RobotsRetryWait(tries); v.Unreachable && pause > 0 {
			r.bench.Postpone(vs, now.Add(pause), time.Time{})
		}
		r.feed() // a letter brought it, and nobody else may have a reason to look when it is due
	})
}
