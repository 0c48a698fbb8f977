package rooms

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"orbweaver/bench/growth"
	"orbweaver/engine"
	"orbweaver/workbench"
)

// changedEach is how many Visits there are between two cuts.
const changedEach = 100_000

// cuts writes a whole image and one of changes, while Visits go on, and loads both.
func (c *crowd) cuts(ctx context.Context, o *Options, run *growth.Run) error {
	names := []string{o.Dir + "/whole", o.Dir + "/changes"}
	for i, name := range names {
		what := []string{"whole image", "changes"}[i]
		if i > 0 {
			if err := c.goOn(ctx, changedEach); err != nil {
				return err
			}
		}
		if err := c.cut(ctx, name, what, run); err != nil {
			return err
		}
		fmt.Fprintf(o.Say, "workbench: %s written\n", what)
	}
	return c.load(names, run)
}

// goOn makes n more Visits.
func (c *crowd) goOn(ctx context.Context, n int) error {
	for ; n > 0 && ctx.Err() == nil; n -= visitBatch {
		c.visits = c.bench.Acquire(c.now, c.visits[:0], visitBatch)
		for i := range c.visits {
			c.bench.Release(&c.visits[i], release(&c.visits[i], c.now), c.now)
		}
		c.advance(visitBatch)
	}
	return ctx.Err()
}

// cut makes one cut and writes it to a file.
func (c *crowd) cut(ctx context.Context, name, what string, run *growth.Run) (err error) {
	began := time.Now()
	cut, err := c.bench.Cut(engine.AppendSite)
	if err != nil {
		return err
	}
	defer cut.Abandon()
	run.Add(what+": the cut itself", float64(time.Since(began))/1e3, "us")
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errFirst(err, f.Close()) }()
	write := cut.Write
	if !cut.Whole() {
		write = cut.WriteChanges
	}
	out := bufio.NewWriterSize(f, 1<<20)
	stops := c.watch(ctx)
	cpu := growth.CPU()
	began = time.Now()
	if err := write(out); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	took := time.Since(began)
	visits, p99, longest := stops()
	size, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	run.Add(what+": written in", took.Seconds(), "s")
	run.Add(what+": CPU, that of the Visits beside it included", (growth.CPU() - cpu).Seconds(), "s")
	run.Add(what+": Visits beside it", float64(visits), "")
	run.Add(what+": length", float64(size)/(1<<20), "MiB")
	run.Add(what+": a batch of 256 Visits out and back, 99th percentile", float64(p99)/1e6, "ms")
	run.Add(what+": the same, longest", float64(longest)/1e6, "ms")
	return nil
}

// watch makes Visits until stop is called, and says then how many there were and how long batches took.
func (c *crowd) watch(ctx context.Context) (stop func() (visits int, p99, longest time.Duration)) {
	ctx, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	var took []time.Duration
	wait.Go(func() {
		for ctx.Err() == nil {
			began := time.Now()
			if c.goOn(ctx, visitBatch) == nil {
				took = append(took, time.Since(began))
			}
		}
	})
	return func() (int, time.Duration, time.Duration) {
		cancel()
		wait.Wait()
		if len(took) == 0 {
			return 0, 0, 0
		}
		slices.Sort(took)
		return len(took) * visitBatch, took[len(took)*99/100], took[len(took)-1]
	}
}

// load reads what was written, and compares the number of hosts.
func (c *crowd) load(names []string, run *growth.Run) (err error) {
	hosts := c.bench.Counts().Sites
	c.bench = nil
	var images []io.Reader
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		images = append(images, bufio.NewReaderSize(f, 1<<20))
	}
	began, cpu := time.Now(), growth.CPU()
	w, err := workbench.Load(workbench.Options{}, engine.SiteReader(), images...)
	if err != nil {
		return err
	}
	run.Add("both loaded in", time.Since(began).Seconds(), "s")
	run.Add("both loaded: CPU", (growth.CPU() - cpu).Seconds(), "s")
	if n := w.Counts().Sites; n != hosts {
		return errors.New("rooms: hosts were lost")
	}
	return nil
}
