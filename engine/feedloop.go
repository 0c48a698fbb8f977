package engine

import (
	"context"
	"errors"
	"time"

	"orbweaver/internal/mpmc"
	"orbweaver/workbench"
)

// feeder takes due Visits off the bench in batches and puts them on the todo queue, no more than the workers can soon
// use: a Visit there holds its IP. One goroutine.
type feeder struct {
	ledger    *ledger
	bench     *bench
	todo      *mpmc.Queue[visit]
	leases    int // Visits that may be out at once: the done queue has room for all of them
	gate      *gate
	wake      chan struct{}
	starved   func()    // the todo queue is empty and nothing is due
	notBefore time.Time // after an unclean stop: whoever was asked last is not asked again before this

	visits []visit
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
	f.ledger.cut.RLock()
	room := min(feedBatch, f.todo.Cap()-f.todo.Len(), f.leases-f.bench.Leased())
	if room <= 0 {
		f.ledger.cut.RUnlock()
		return 0
	}
	f.visits = f.bench.Acquire(now, f.visits[:0], room)
	f.ledger.cut.RUnlock()
	for i := range f.visits {
		if !f.todo.TryPut(f.visits[i]) {
			panic("BUG: engine: the todo queue has less room than its only filler saw")
		}
		f.visits[i] = visit{}
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
	done    *mpmc.Queue[returned]
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
		one, err := r.done.Take(ctx)
		if err != nil {
			if errors.Is(err, mpmc.ErrClosed) {
				return nil
			}
			return err
		}
		r.ledger.cut.RLock()
		r.fold(&one)
		r.drain(returnBatch)
		r.ledger.cut.RUnlock()
		r.feed()
		r.wake()
	}
}

// drain folds what is waiting, up to limit or a few more. The checkpointer calls it under the exclusive lock, so that a
// Visit whose Page already carries its item is not saved with it.
func (r *returner) drain(limit int) {
	for n := foldBatch; n == foldBatch && limit > 0; limit -= n {
		for n = 0; n < foldBatch; n++ {
			one, ok := r.done.TryTake()
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
