package components

import (
	"context"
	"math/bits"
	"sync"
	"time"

	"orbweaver/internal/cputime"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize"
)

// measureCheckpoints makes two checkpoints, each after some hundred thousand changes, while the owner of the queues
// goes on.
func (a *queuesAdapter) measureCheckpoints(ctx context.Context, r *Run, size int64) error {
	if err := a.checkpoint(); err != nil {
		return err
	}
	for _, round := range []string{"", ", second time"} {
		if err := a.takeAndAppend(ctx, min(size/10, 300_000)); err != nil {
			return err
		}
		var changed int
		for _, w := range a.touched {
			changed += bits.OnesCount64(w)
		}
		before := a.v.Stats().Index
		from := time.Now()
		snapshot, err := a.v.Snapshot()
		if err != nil {
			return err
		}
		a.figure(r, size, "marking"+round, float64(time.Since(from).Nanoseconds())/1000, "µs")
		clear(a.touched)
		worst, took, err := a.writeBeside(snapshot)
		if err != nil {
			return err
		}
		a.figure(r, size, "longest pause of the owner while it is written"+round, float64(worst.Microseconds())/1000, "ms")
		a.figure(r, size, "writing takes"+round, took.Seconds(), "s")
		if after := a.v.Stats().Index; after > before {
			a.figure(r, size, "bytes written for a changed queue, its buffered items included"+round,
				float64(after-before)/float64(changed), "B")
		} else {
			a.figure(r, size, "bytes written for a queue, in a new base"+round, float64(after)/float64(a.v.Stats().Queues), "B")
		}
		from = time.Now()
		if err := a.v.Sync(); err != nil {
			return err
		}
		a.figure(r, size, "syncing takes"+round, time.Since(from).Seconds(), "s")
		if err := a.v.Release(a.checkpointed); err != nil {
			return err
		}
	}
	return nil
}

// writeBeside writes a snapshot while the owner takes and appends; worst is the longest of its calls.
func (a *queuesAdapter) writeBeside(snapshot *virtualize.Snapshot) (worst, took time.Duration, err error) {
	var writer sync.WaitGroup
	done := make(chan struct{})
	var writeErr error
	writer.Go(func() {
		defer close(done)
		from := time.Now()
		a.checkpointed, writeErr = snapshot.Write()
		took = time.Since(from)
	})
	for over := false; !over && err == nil; {
		select {
		case <-done:
			over = true
		default:
		}
		if a.nextPage == len(a.pages) {
			a.makePages()
		}
		m := Meter{Run: &Run{}}
		if _, err = a.append(&m); err == nil {
			_, err = a.take(&m)
		}
		worst = max(worst, m.Longest())
	}
	writer.Wait()
	if err == nil {
		err = writeErr
	}
	return worst, took, err
}

// takeAndAppend takes and appends so many items in all.
func (a *queuesAdapter) takeAndAppend(ctx context.Context, items int64) error {
	for items > 0 {
		if a.nextPage == len(a.pages) {
			a.makePages()
		}
		n, err := a.append(nil)
		if err != nil {
			return err
		}
		k, err := a.take(nil)
		if err != nil {
			return err
		}
		items -= n + k
	}
	return ctx.Err()
}

// reopen closes the queues and opens them at the last checkpoint.
func (a *queuesAdapter) reopen(r *Run) error {
	queues := float64(a.v.Stats().Queues)
	if err := a.v.Close(); err != nil {
		return err
	}
	from, cpu := time.Now(), cputime.Process()
	var err error
	if a.v, err = virtualize.Open(vfs.Disk(), a.o, &a.checkpointed); err != nil {
		return err
	}
	r.Add("CPU of opening", (cputime.Process() - cpu).Seconds(), "s")
	r.Add("opening takes", time.Since(from).Seconds(), "s")
	r.Add("queues then", queues, "")
	return nil
}
