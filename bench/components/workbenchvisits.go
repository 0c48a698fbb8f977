package components

import (
	"context"
	"errors"
	"sync"
	"time"

	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/internal/cputime"
	"orbweaver/internal/handoff"
	"orbweaver/internal/notify"
	"orbweaver/workbench"
)

const (
	visitWorkers = 4000
	returnBatch  = 16        // released together
	visitsMax    = 2_000_000 // for each run
	visitsMin    = 20_000
)

type (
	benchVisit = workbench.Visit[site.State]
	benchState = workbench.VisitState[site.State]
)

// visitsFor is how many Visits are made at a size.
func visitsFor(hosts int64) int64 { return min(visitsMax, max(visitsMin, 2*hosts)) }

// fill gives every host two items and a due time as in the middle of a crawl: slow hosts are spread over the hour of
// their crawl-delay, the others over the time in which all are visited once.
func (h *hostSet) fill() {
	spread := max(time.Duration(h.hosts)*time.Second/visitsASec, siteDelay)
	h.workbench.Listing().Each(func(vs *benchState, _ workbench.State) bool {
		due := h.now.Add(siteDelay + time.Duration(h.rng.Int64N(int64(spread))))
		if slow(vs.ID()) {
			due = h.now.Add(siteDelay + time.Duration(h.rng.Int64N(int64(slowDelay))))
		}
		h.workbench.Site(vs).Postpone(due, time.Time{})
		h.workbench.Push(vs, []byte("/a/path/of/usual/length.html"))
		h.workbench.Push(vs, []byte("/another/path/of/usual/length.html"))
		return true
	})
	h.now = h.now.Add(siteDelay)
}

// advance moves virtual time on by n Visits.
func (h *hostSet) advance(n int) { h.now = h.now.Add(time.Duration(n) * time.Second / visitsASec) }

// release ends a Visit: its first item is done, and one more was found.
func release(v *benchVisit, now time.Time) workbench.Release {
	delay := siteDelay
	if slow(v.VS.ID()) {
		delay = slowDelay
	}
	return workbench.Release{
		Unused: v.Items[1:], Front: v.Items[:1], SiteDue: now.Add(delay), IPDue: now.Add(ipDelay),
	}
}

// visit makes Visits in one goroutine, in batches.
func (h *hostSet) visit(ctx context.Context, m *Meter) error {
	for left := visitsFor(h.hosts); left > 0; {
		began, cpu := time.Now(), cputime.Process()
		h.visits = h.workbench.Acquire(h.now, h.visits[:0], visitBatch)
		n := len(h.visits)
		h.acquiring.add(cpu, n)
		cpu = cputime.Process()
		for i := range h.visits {
			h.workbench.Release(&h.visits[i], release(&h.visits[i], h.now), h.now)
		}
		h.releasing.add(cpu, n)
		m.Done(int64(n), time.Since(began))
		left -= int64(n)
		h.advance(visitBatch)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// visitThroughQueues is visit as the engine does it: a feeder, a queue, workers, a queue, a returner.
func (h *hostSet) visitThroughQueues(ctx context.Context, m *Meter) error {
	todo, done := handoff.New[visit.Result](visitWorkers/2), visit.NewResultQueue()
	var workers, returner sync.WaitGroup
	for range visitWorkers {
		taker := todo.NewTaker()
		workers.Go(func() {
			for r, ok := taker.Next(); ok; r, ok = taker.Next() {
				done.Put(r)
			}
		})
	}
	now, left, room := h.now, visitsFor(h.hosts), make(chan struct{}, 1)
	returner.Go(func() {
		for open := true; open; {
			open, _ = done.Wait(context.WithoutCancel(ctx))
			h.returnVisits(done, now)
			notify.Send(room)
		}
	})
	moved := make([]*visit.Result, 0, visitBatch)
	for began := time.Now(); left > 0 && ctx.Err() == nil; began = time.Now() {
		for todo.Room() < visitBatch {
			<-room
		}
		h.visits, moved = h.workbench.Acquire(h.now, h.visits[:0], visitBatch), moved[:0]
		for i := range h.visits {
			moved = append(moved, done.New(&h.visits[i]))
		}
		todo.Put(moved)
		left -= int64(len(h.visits))
		m.Done(int64(len(h.visits)), time.Since(began))
		h.advance(visitBatch)
	}
	todo.Close()
	workers.Wait()
	done.Close()
	returner.Wait()
	if h.workbench.Counts().Leased > 0 && ctx.Err() == nil {
		return errors.New("a Visit was not released")
	}
	return ctx.Err()
}

// returnVisits releases the Visits that are done.
func (h *hostSet) returnVisits(done *visit.ResultQueue, now time.Time) {
	var results [returnBatch]*visit.Result
	var batch [returnBatch]benchVisit
	for n := returnBatch; n == returnBatch; {
		for n = 0; n < returnBatch; n++ {
			if results[n] = done.TryTake(); results[n] == nil {
				break
			}
			batch[n] = results[n].Visit
		}
		h.workbench.Prefetch(batch[:n])
		for i := range n {
			h.workbench.Release(&batch[i], release(&batch[i], now), now)
			done.Recycle(results[i])
		}
	}
}
