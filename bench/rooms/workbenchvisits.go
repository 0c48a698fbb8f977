package rooms

import (
	"context"
	"errors"
	"sync"
	"time"

	"orbweaver/bench/growth"
	"orbweaver/engine"
	"orbweaver/internal/mpmc"
	"orbweaver/workbench"
)

const (
	visitWorkers = 4000
	returnBatch  = 16        // folded in one go
	visitsEach   = 2_000_000 // of each way
	visitsMin    = 20_000
)

type (
	benchVisit = workbench.Visit[engine.Site]
	benchState = workbench.VisitState[engine.Site]
)

// visitsFor is how many Visits are made at a size.
func visitsFor(hosts int64) int64 { return min(visitsEach, max(visitsMin, 2*hosts)) }

// fill gives every host two items and a due time, spread as it would be in the middle of a crawl: slow hosts over the hour
// that they ask for between two requests, the others over the time in which all are visited once.
func (c *crowd) fill() {
	spread := max(time.Duration(c.hosts)*time.Second/visitsASec, siteDelay)
	c.bench.Each(func(vs *benchState, _ workbench.State) bool {
		due := c.now.Add(siteDelay + time.Duration(c.rng.Int64N(int64(spread))))
		if slow(vs.ID()) {
			due = c.now.Add(siteDelay + time.Duration(c.rng.Int64N(int64(slowDelay))))
		}
		c.bench.Postpone(vs, due, time.Time{})
		c.bench.Push(vs, []byte("/a/path/of/usual/length.html"))
		c.bench.Push(vs, []byte("/another/path/of/usual/length.html"))
		return true
	})
	c.now = c.now.Add(siteDelay)
}

// advance goes on in virtual time as n Visits do.
func (c *crowd) advance(n int) { c.now = c.now.Add(time.Duration(n) * time.Second / visitsASec) }

// release is what becomes of a Visit: the first item is done, and one more was found.
func release(v *benchVisit, now time.Time) workbench.Release {
	delay := siteDelay
	if slow(v.VS.ID()) {
		delay = slowDelay
	}
	return workbench.Release{
		Unused: v.Items[1:], Front: v.Items[:1], SiteDue: now.Add(delay), IPDue: now.Add(ipDelay),
	}
}

// visit makes Visits from one goroutine, in batches.
func (c *crowd) visit(ctx context.Context, m *growth.Meter) error {
	for left := visitsFor(c.hosts); left > 0; {
		began, cpu := time.Now(), growth.CPU()
		c.visits = c.bench.Acquire(c.now, c.visits[:0], visitBatch)
		n := len(c.visits)
		c.acquiring.add(cpu, n)
		cpu = growth.CPU()
		for i := range c.visits {
			c.bench.Release(&c.visits[i], release(&c.visits[i], c.now), c.now)
		}
		c.releasing.add(cpu, n)
		m.Done(int64(n), time.Since(began))
		left -= int64(n)
		c.advance(visitBatch)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// visitThroughQueues is visit as the engine does it: a feeder, a queue, workers, a queue, a returner.
func (c *crowd) visitThroughQueues(ctx context.Context, m *growth.Meter) error {
	todo := mpmc.New[benchVisit](visitWorkers / 2)
	done := mpmc.New[benchVisit](2 * (visitWorkers + visitWorkers/2))
	var workers, returner sync.WaitGroup
	for range visitWorkers {
		workers.Go(func() {
			for {
				v, err := todo.Take(ctx)
				if err != nil || done.Put(ctx, v) != nil {
					return
				}
			}
		})
	}
	now, left := c.now, visitsFor(c.hosts)
	returner.Go(func() {
		batch := make([]benchVisit, 0, returnBatch)
		for {
			v, err := done.Take(ctx)
			if err != nil {
				return
			}
			for batch = append(batch[:0], v); len(batch) < returnBatch; batch = append(batch, v) {
				var more bool
				if v, more = done.TryTake(); !more {
					break
				}
			}
			c.bench.Expect(batch)
			for i := range batch {
				c.bench.Release(&batch[i], release(&batch[i], now), now)
			}
		}
	})
	for began := time.Now(); left > 0 && ctx.Err() == nil; began = time.Now() {
		c.visits = c.bench.Acquire(c.now, c.visits[:0], visitBatch)
		for _, v := range c.visits {
			if err := todo.Put(ctx, v); err != nil {
				break
			}
		}
		left -= int64(len(c.visits))
		m.Done(int64(len(c.visits)), time.Since(began))
		c.advance(visitBatch)
	}
	todo.Close()
	workers.Wait()
	done.Close()
	returner.Wait()
	if c.bench.Leased() > 0 && ctx.Err() == nil {
		return errors.New("rooms: a Visit did not come back")
	}
	return ctx.Err()
}
