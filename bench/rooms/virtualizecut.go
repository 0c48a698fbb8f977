package rooms

import (
	"math/bits"
	"sync"
	"time"

	"orbweaver/bench/growth"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize"
)

// cuts makes one cut of what has changed while some hundred thousand items came and went, and the owner goes on
// meanwhile; then, at a size that is the last one, nothing else.
func (b *queueBench) cuts(r *growth.Run, size int64) error {
	if err := b.checkpoint(); err != nil {
		return err
	}
	for _, round := range []string{"", " again"} {
		if err := b.someWork(min(size/10, 300_000)); err != nil {
			return err
		}
		var changed int
		for _, w := range b.touched {
			changed += bits.OnesCount64(w)
		}
		before := b.v.Stats().Index
		from := time.Now()
		image, err := b.v.Cut()
		if err != nil {
			return err
		}
		b.add(r, size, "marking"+round, float64(time.Since(from).Nanoseconds())/1000, "µs")
		clear(b.touched)
		worst, took, err := b.beside(image)
		if err != nil {
			return err
		}
		b.add(r, size, "longest pause of the owner while it is written"+round, float64(worst.Microseconds())/1000, "ms")
		b.add(r, size, "writing takes"+round, took.Seconds(), "s")
		if after := b.v.Stats().Index; after > before {
			b.add(r, size, "bytes written for a changed queue, its buffered items included"+round, float64(after-before)/float64(changed), "B")
		} else {
			b.add(r, size, "bytes written for a queue, in a new base"+round, float64(after)/float64(b.v.Stats().Queues), "B")
		}
		from = time.Now()
		if err := b.v.Sync(); err != nil {
			return err
		}
		b.add(r, size, "syncing takes"+round, time.Since(from).Seconds(), "s")
		if err := b.v.Release(b.cut); err != nil {
			return err
		}
	}
	return nil
}

// beside writes an image while the owner takes and appends; worst is the longest that one of its calls took.
func (b *queueBench) beside(image *virtualize.Image) (worst, took time.Duration, err error) {
	var writer sync.WaitGroup
	done := make(chan struct{})
	var writeErr error
	writer.Go(func() {
		defer close(done)
		from := time.Now()
		b.cut, writeErr = image.Write()
		took = time.Since(from)
	})
	for over := false; !over && err == nil; {
		select {
		case <-done:
			over = true
		default:
		}
		if b.at == len(b.pages) {
			b.makePages()
		}
		m := growth.Meter{Run: &growth.Run{}}
		if _, err = b.append(&m); err == nil {
			_, err = b.take(&m)
		}
		worst = max(worst, m.Longest())
	}
	writer.Wait()
	if err == nil {
		err = writeErr
	}
	return worst, took, err
}

// someWork takes and appends so many items.
func (b *queueBench) someWork(items int64) error {
	for items > 0 {
		if b.at == len(b.pages) {
			b.makePages()
		}
		n, err := b.append(nil)
		if err != nil {
			return err
		}
		k, err := b.take(nil)
		if err != nil {
			return err
		}
		items -= n + k
	}
	return b.ctx.Err()
}

// reopen closes the queues and goes back to the last cut.
func (b *queueBench) reopen(r *growth.Run) error {
	queues := float64(b.v.Stats().Queues)
	if err := b.v.Close(); err != nil {
		return err
	}
	from, cpu := time.Now(), growth.CPU()
	var err error
	if b.v, err = virtualize.Open(vfs.Disk(), b.vo, &b.cut); err != nil {
		return err
	}
	r.Add("CPU of opening", (growth.CPU() - cpu).Seconds(), "s")
	r.Add("opening takes", time.Since(from).Seconds(), "s")
	r.Add("queues then", queues, "")
	return nil
}
