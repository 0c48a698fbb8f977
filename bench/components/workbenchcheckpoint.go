package components

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"orbweaver/engine/state/site"
	"orbweaver/internal/cputime"
	"orbweaver/workbench"
)

// visitsBetweenCheckpoints is the number of Visits between two checkpoints.
const visitsBetweenCheckpoints = 100_000

// measureCheckpoints writes a whole snapshot and one of changes, while Visits go on, and loads both.
func (a *workbenchAdapter) measureCheckpoints(ctx context.Context) error {
	names := []string{a.Dir + "/whole", a.Dir + "/changes"}
	for i, name := range names {
		what := []string{"whole snapshot", "changes"}[i]
		if i > 0 {
			if err := a.hosts.visitMore(ctx, visitsBetweenCheckpoints); err != nil {
				return err
			}
		}
		if err := a.hosts.checkpoint(ctx, name, what, a.checkpoints); err != nil {
			return err
		}
		a.progress("%s written", what)
	}
	return a.hosts.load(names, a.checkpoints)
}

// visitMore makes n more Visits.
func (h *hostSet) visitMore(ctx context.Context, n int) error {
	for ; n > 0 && ctx.Err() == nil; n -= visitBatch {
		h.visits = h.workbench.Acquire(h.now, h.visits[:0], visitBatch)
		for i := range h.visits {
			h.workbench.Release(&h.visits[i], release(&h.visits[i], h.now), h.now)
		}
		h.advance(visitBatch)
	}
	return ctx.Err()
}

// checkpoint writes a snapshot to a file while Visits go on.
func (h *hostSet) checkpoint(ctx context.Context, name, what string, run *Run) (err error) {
	began := time.Now()
	cut, err := h.workbench.Snapshot(site.Append)
	if err != nil {
		return err
	}
	defer cut.Abandon()
	run.Add(what+": Cut", float64(time.Since(began))/1e3, "us")
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	write := cut.Write
	if !cut.Whole() {
		write = cut.WriteChanges
	}
	out := bufio.NewWriterSize(f, 1<<20)
	stop := h.visitBeside(ctx)
	cpu := cputime.Process()
	began = time.Now()
	if err := write(out); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	took := time.Since(began)
	visits, p99, longest := stop()
	size, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return err
	}
	run.Add(what+": written in", took.Seconds(), "s")
	run.Add(what+": CPU, that of the Visits beside it included", (cputime.Process() - cpu).Seconds(), "s")
	run.Add(what+": Visits beside it", float64(visits), "")
	run.Add(what+": length", float64(size)/(1<<20), "MiB")
	run.Add(what+": a batch of 256 Visits out and back, 99th percentile", float64(p99)/1e6, "ms")
	run.Add(what+": the same, longest", float64(longest)/1e6, "ms")
	return nil
}

// visitBeside makes Visits until stop is called. stop returns their number and the times of batches.
func (h *hostSet) visitBeside(ctx context.Context) (stop func() (visits int, p99, longest time.Duration)) {
	ctx, cancel := context.WithCancel(ctx)
	var wait sync.WaitGroup
	var took []time.Duration
	wait.Go(func() {
		for ctx.Err() == nil {
			began := time.Now()
			if h.visitMore(ctx, visitBatch) == nil {
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

// load reads the snapshots and compares the number of hosts.
func (h *hostSet) load(names []string, run *Run) (err error) {
	hosts := h.workbench.Counts().Sites
	h.workbench = nil
	var snapshots []io.Reader
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		snapshots = append(snapshots, bufio.NewReaderSize(f, 1<<20))
	}
	began, cpu := time.Now(), cputime.Process()
	w, err := workbench.Load(workbench.Options{}, site.NewDecoder(), snapshots...)
	if err != nil {
		return err
	}
	run.Add("both loaded in", time.Since(began).Seconds(), "s")
	run.Add("both loaded: CPU", (cputime.Process() - cpu).Seconds(), "s")
	if n := w.Counts().Sites; n != hosts {
		return errors.New("hosts were lost")
	}
	return nil
}
