package components

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"orbweaver/internal/cputime"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize"
)

const (
	queueBurst      = 19      // at most so many links of a page lead to one host: ten on average
	queueTake       = 64      // items of one refill
	queueSites      = 64      // refills of one step, for which the log reads ahead
	queueBatch      = 1 << 16 // items that are made in advance
	queueCheckpoint = 1 << 19 // items taken between two checkpoints
)

// queuesAdapter measures the queues on disk. It appends bursts of a page's links to random queues, and takes items 64
// at a time. At each size it also takes and appends for a while beside Collect, and makes checkpoints.
type queuesAdapter struct {
	*driver
	o     virtualize.Options
	v     *virtualize.Virtualizer
	began time.Time

	enqueue, dequeue, steady *Meter
	checkpoints              *Run

	refills      []uint64 // hosts of this step that are not refilled yet
	paths        *pathMaker
	rng          splitmix
	pages        []page // bursts that can be appended
	nextPage     int    // in pages
	arena        []byte // of the items in pages
	made         uint64 // items so far
	dir          []byte
	checkpointed virtualize.Checkpoint
	touched      []uint64 // hosts, one bit each

	took struct{ all, slow int64 } // calls of Append and Take; slow ones took more than 50 ms
}

func openQueues(d *driver) (adapter, error) {
	a := &queuesAdapter{
		driver: d, o: virtualize.Options{Dir: d.Dir}, paths: newPathMaker(d.Seed), rng: splitmix{state: d.Seed},
		touched: make([]uint64, d.Hosts/64+1), began: time.Now(),
	}
	a.enqueue = d.meter("enqueue", "URLs")
	a.dequeue = d.meter("dequeue", "URLs")
	a.steady = d.meter("as many in as out, Collect beside", "URLs")
	a.checkpoints = d.run("checkpoint", "URLs")
	var err error
	a.v, err = virtualize.Open(vfs.Disk(), a.o, nil)
	return a, err
}

func (a *queuesAdapter) close() error { return a.v.Close() }

// grow appends up to a size, and measures the other operations there.
func (a *queuesAdapter) grow(ctx context.Context, size int64) error {
	a.enqueue.Resume()
	if err := a.fill(ctx, a.enqueue, size); err != nil {
		return err
	}
	a.point("enqueue", size, a.enqueue.Mark(size))
	a.dequeue.Resume()
	if err := a.drain(ctx, a.dequeue, min(size/10, 2_000_000)); err != nil {
		return err
	}
	a.point("dequeue", size, a.dequeue.Mark(int64(a.v.Total())))
	turnover := min(size/5, 2_000_000)
	if size == a.URLs && size <= 100_000_000 {
		turnover = 2 * size
	}
	a.steady.Resume()
	if err := a.churn(ctx, a.steady, turnover); err != nil {
		return err
	}
	a.point("steady", size, a.steady.Mark(int64(a.v.Total())))
	a.steadyFigures(a.steady.Run, size)
	return a.measureCheckpoints(ctx, a.checkpoints, size)
}

// finish measures opening, and what the input of the measurement costs.
func (a *queuesAdapter) finish() error {
	if err := a.reopen(a.checkpoints); err != nil {
		return err
	}
	a.measureInput(a.enqueue.Run)
	a.progress("done in %v", time.Since(a.began).Round(time.Second))
	return nil
}

// page holds the links of one page that lead to one host.
type page struct {
	host  uint64
	items [][]byte
}

// host draws a host: the first hundredth of the hosts gets a tenth of the draws.
func (a *queuesAdapter) host() uint64 {
	u := a.rng.float()
	return uint64(u * u * float64(a.Hosts))
}

// makePages prepares a batch of bursts.
func (a *queuesAdapter) makePages() {
	a.pages, a.nextPage, a.arena = a.pages[:0], 0, a.arena[:0]
	var ends []int
	for n := 0; n < queueBatch; {
		p := page{host: a.host()}
		depth := 2 + a.rng.below(6)
		a.dir = a.paths.appendDirectory(a.dir[:0], p.host, &a.rng)
		for k := 1 + a.rng.below(queueBurst); k > 0; k-- {
			dir := a.dir
			if a.rng.below(10) >= 6 {
				dir = nil // six of ten links of a page lead to its own directory
			}
			a.arena = a.paths.appendPage(a.arena, p.host, a.made, depth, dir)
			a.made++
			n++
			ends = append(ends, len(a.arena))
			p.items = append(p.items, nil)
		}
		a.pages = append(a.pages, p)
	}
	start, i := 0, 0
	for _, p := range a.pages {
		for k := range p.items {
			p.items[k] = a.arena[start:ends[i]]
			start = ends[i]
			i++
		}
	}
}

// append appends a burst. m may be nil.
func (a *queuesAdapter) append(m *Meter) (n int64, err error) {
	p := &a.pages[a.nextPage]
	a.nextPage++
	a.touched[p.host/64] |= 1 << (p.host % 64)
	from := time.Now()
	for _, item := range p.items {
		if err := a.v.Append(p.host, item); err != nil {
			return 0, err
		}
	}
	if m != nil {
		a.done(m, int64(len(p.items)), time.Since(from))
	}
	return int64(len(p.items)), nil
}

// done counts a call and its duration.
func (a *queuesAdapter) done(m *Meter, items int64, took time.Duration) {
	m.Done(items, took)
	a.took.all++
	if took > 50*time.Millisecond {
		a.took.slow++
	}
}

// take takes items of a random host. m may be nil.
func (a *queuesAdapter) take(m *Meter) (n int64, err error) {
	from := time.Now()
	if len(a.refills) == 0 {
		for range queueSites {
			a.refills = append(a.refills, a.host())
		}
		a.v.ReadAhead(a.refills, queueTake)
	}
	host := a.refills[0]
	a.refills = a.refills[1:]
	a.touched[host/64] |= 1 << (host % 64)
	got, err := a.v.Take(host, queueTake, func([]byte) {})
	if m != nil {
		a.done(m, int64(got), time.Since(from))
	}
	return int64(got), err
}

// fill appends up to size items.
func (a *queuesAdapter) fill(ctx context.Context, m *Meter, size int64) error {
	for n := int64(a.v.Total()); n < size; {
		if a.nextPage == len(a.pages) {
			if err := ctx.Err(); err != nil {
				return err
			}
			m.Except(a.makePages)
		}
		k, err := a.append(m)
		if err != nil {
			return err
		}
		n += k
	}
	return nil
}

// drain takes so many items.
func (a *queuesAdapter) drain(ctx context.Context, m *Meter, items int64) error {
	for tries := 0; items > 0; tries++ {
		if tries%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		k, err := a.take(m)
		if err != nil {
			return err
		}
		items -= k
	}
	return nil
}

// churn takes so many items and appends as many, while another goroutine runs Collect.
func (a *queuesAdapter) churn(ctx context.Context, m *Meter, items int64) (err error) {
	work := make(chan struct{}, 1)
	var failed error
	var beside sync.WaitGroup
	beside.Go(func() {
		for range work {
			if _, err := a.v.Collect(4 << 20); err != nil && failed == nil {
				failed = err
			}
		}
	})
	defer func() {
		close(work)
		beside.Wait()
		err = errors.Join(err, failed)
	}()
	for credit, next := int64(0), items; items > 0; {
		if items <= next {
			if next -= queueBatch; ctx.Err() != nil {
				return ctx.Err()
			}
			select {
			case work <- struct{}{}:
			default:
			}
			if next%queueCheckpoint < queueBatch { // as often as a crawl
				if err := a.checkpoint(); err != nil {
					return err
				}
			}
		}
		k, err := a.take(m)
		if err != nil {
			return err
		}
		items -= k
		for credit += k; credit > 0; {
			if a.nextPage == len(a.pages) {
				a.makePages()
			}
			k, err := a.append(m)
			if err != nil {
				return err
			}
			credit -= k
		}
	}
	return nil
}

// checkpoint makes a checkpoint without Sync, and releases the one before.
func (a *queuesAdapter) checkpoint() error {
	snapshot, err := a.v.Snapshot()
	if err != nil {
		return err
	}
	clear(a.touched)
	if a.checkpointed, err = snapshot.Write(); err != nil {
		return err
	}
	return a.v.Release(a.checkpointed)
}

// figure adds a figure and prints it.
func (a *queuesAdapter) figure(r *Run, size int64, name string, value float64, unit string) {
	name = fmt.Sprintf("%s at %.3g", name, float64(size))
	r.Add(name, value, unit)
	a.progress("%s: %.4g %s", name, value, unit)
}

func (a *queuesAdapter) steadyFigures(r *Run, size int64) {
	s := a.v.Stats()
	a.figure(r, size, "live part of the log", float64(s.Live)/float64(s.Disk), "")
	a.figure(r, size, "live bytes of an item on disk", float64(s.Live)/float64(s.Items-s.Buffered), "B")
	a.figure(r, size, "items of a block when it was written",
		float64(s.Appended-s.Buffered)/float64(max(s.BlocksWritten, 1)), "")
	a.figure(r, size, "bytes written for a byte that came in", 1+float64(s.Collected)/float64(max(s.BytesWritten, 1)), "")
	a.figure(r, size, "queues", float64(s.Queues), "")
	a.figure(r, size, "memory of a queue, less the buffer", float64(s.Memory-s.BufferMemory)/float64(s.Queues), "B")
	a.figure(r, size, "moved blocks", float64(s.Moved), "")
	a.figure(r, size, "calls of more than 50 ms, of a million", float64(a.took.slow)/float64(a.took.all)*1e6, "")
}

// point prints a Point.
func (a *queuesAdapter) point(what string, size int64, p Point) {
	a.progress("%-8s %12d URLs: %8.0f a second, %5.0f ns CPU, %6.2f bytes each, longest pause %v",
		what, size, p.PerSecond, p.CPUPerItem, p.DiskPerItem, p.LongestPause.Round(time.Microsecond))
}

// measureInput measures the CPU time of making items.
func (a *queuesAdapter) measureInput(r *Run) {
	runtime.GC()
	before, cpu := a.made, cputime.Process()
	for range 4 {
		a.makePages()
	}
	r.Add("CPU of making an item, not counted here, but when as many come in as go out",
		float64((cputime.Process()-cpu).Nanoseconds())/float64(a.made-before), "ns")
}
