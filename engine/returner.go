package engine

import (
	"context"
	"time"

	"orbweaver/workbench"
)

// returned is a Visit on its way back to the bench, with what else its end brings.
type returned struct {
	visit   visit
	release workbench.Release
	hop     *robotsHop
	verdict *robotsVerdict
}

// returner folds finished Visits back into the bench, in batches. One goroutine.
type returner struct {
	ledger  *ledger
	bench   *bench
	done    *doneQueue
	newborn *siteQueue
	under   *undertaker
	live    *Live
	feed    func()
	wake    func() // of the distributor

	batch  [foldBatch]returned // guarded by the cut: drain's
	visits [foldBatch]visit
}

const (
	returnBatch = 256
	foldBatch   = 16 // Visits that are read ahead in one go
)

func (r *returner) run(ctx context.Context) error {
	for {
		open, err := r.done.wait(ctx)
		if err != nil {
			return err
		}
		for more := true; more; {
			r.ledger.cut.RLock()
			more = r.drain(returnBatch)
			r.ledger.cut.RUnlock()
			r.feed()
			r.wake()
		}
		if !open {
			return nil
		}
	}
}

// drain folds what is waiting, up to limit or a few more, and reports whether there may be more. The checkpointer calls it
// under the exclusive lock, so that a Visit whose Page already carries its item is not saved with it.
func (r *returner) drain(limit int) bool {
	n := foldBatch
	for ; n == foldBatch && limit > 0; limit -= n {
		for n = 0; n < foldBatch; n++ {
			one, ok := r.done.take()
			if !ok {
				break
			}
			r.batch[n], r.visits[n] = one, one.visit
		}
		r.bench.Expect(r.visits[:n])
		for i := range n {
			r.fold(&r.batch[i])
			r.batch[i], r.visits[i] = returned{}, visit{}
		}
	}
	return n == foldBatch
}

func (r *returner) fold(one *returned) {
	vs := one.visit.VS
	now := time.Now()
	rel := one.release
	if rel.Kill {
		fate := one.visit.Site.Fate
		rel.Drop = func(item []byte) { r.under.drop(item, fate) }
	}
	r.bench.Release(&one.visit, rel, now)
	if rel.Kill {
		r.under.Dig(vs)
	}
	if rel.Newborn {
		r.newborn.Put(vs)
	}
	if one.hop != nil {
		r.sendHop(one.hop)
	}
	if one.verdict != nil {
		r.deliver(one.verdict)
	}
}

// sendHop puts a hop of a robots.txt redirect at the head of the site that it leads to.
func (r *returner) sendHop(h *robotsHop) {
	vs, added := r.bench.GetOrAdd(h.site)
	if !r.bench.PushFront(vs, h.item) {
		r.deliver(&robotsVerdict{site: h.origin, unreachable: true})
		return
	}
	if added {
		r.newborn.Put(vs)
	}
	if string(h.site) == string(h.origin) {
		r.bench.Unpark(vs, func(*Site) {}) // the chain came home: it goes on there
	}
}

// deliver ends the waiting of a site whose robots.txt was redirected elsewhere.
func (r *returner) deliver(v *robotsVerdict) {
	if vs := r.bench.Get(v.site); vs != nil {
		now := time.Now()
		if v.rules != nil {
			delay, _ := v.rules.CrawlDelay()
			r.bench.Postpone(vs, now.Add(r.live.policy().SiteDelay(delay)), time.Time{})
		}
		r.bench.Unpark(vs, func(s *Site) { v.apply(s, now) })
	}
}
