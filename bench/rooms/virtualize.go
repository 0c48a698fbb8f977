package rooms

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"orbweaver/bench/growth"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize"
)

const (
	queueBurst = 19      // at most so many links of a page go to one host: ten on average
	queueTake  = 64      // items that a refill asks for
	queueBatch = 1 << 16 // items between two looks at anything else
	queueCut   = 1 << 19 // items taken between two cuts
)

// Virtualize measures the queues on disk: bursts of a page's links are appended to queues at random, and taken again 64
// at a time. At each size it also takes and appends for a while with Collect at work beside, and makes cuts.
func Virtualize(ctx context.Context, o Options) (*growth.Result, error) {
	return virtualizeWith(ctx, o, virtualize.Options{Dir: o.Dir})
}

func virtualizeWith(ctx context.Context, o Options, vo virtualize.Options) (_ *growth.Result, err error) {
	away, err := o.in()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, away()) }()
	b := &queueBench{o: o, vo: vo, ctx: ctx, paths: newPathMaker(o.Seed), rng: dice{state: o.Seed}, touched: make([]uint64, o.Hosts/64+1)}
	enqueue := growth.NewMeter("enqueue", "URLs", b.disk)
	dequeue := growth.NewMeter("dequeue", "URLs", b.disk)
	steady := growth.NewMeter("as many in as out, Collect beside", "URLs", b.disk)
	cuts := &growth.Run{Name: "cut", Items: "URLs"}
	opened := time.Now()
	if b.v, err = virtualize.Open(vfs.Disk(), vo, nil); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.v.Close()) }()
	for _, size := range growth.Sizes(o.URLs) {
		last := size == o.URLs
		enqueue.Resume()
		if err := b.fill(enqueue, size); err != nil {
			return nil, err
		}
		b.say("enqueue", size, enqueue.Mark(size))
		dequeue.Resume()
		if err := b.drain(dequeue, min(size/10, 2_000_000)); err != nil {
			return nil, err
		}
		b.say("dequeue", size, dequeue.Mark(int64(b.v.Total())))
		turnover := min(size/5, 2_000_000)
		if last && size <= 100_000_000 {
			turnover = 2 * size
		}
		steady.Resume()
		if err := b.churn(steady, turnover); err != nil {
			return nil, err
		}
		b.say("steady", size, steady.Mark(int64(b.v.Total())))
		b.steadyFigures(steady.Run, size)
		if err := b.cuts(cuts, size); err != nil {
			return nil, err
		}
	}
	if err := b.reopen(cuts); err != nil {
		return nil, err
	}
	b.makingItems(enqueue.Run)
	fmt.Fprintf(o.Say, "virtualize: done in %v\n", time.Since(opened).Round(time.Second))
	return &growth.Result{Name: "virtualize", Runs: []*growth.Run{enqueue.Run, dequeue.Run, steady.Run, cuts}}, nil
}

// queueBench is the benchmark under way. One goroutine owns it.
type queueBench struct {
	o     Options
	vo    virtualize.Options
	ctx   context.Context
	v     *virtualize.Virtualizer
	paths *pathMaker
	rng   dice

	pages   []page // bursts that are ready to be appended
	at      int
	arena   []byte
	made    uint64 // items so far
	dir     []byte
	cut     virtualize.Cut
	touched []uint64 // hosts, a bit each

	calls, slow int64 // calls of the owner, and those that took more than 50 ms
}

// page is the links of a page that lead to one host.
type page struct {
	host  uint64
	items [][]byte
}

// host draws one: the density falls with the square root, so the first hundredth of the hosts gets a tenth.
func (b *queueBench) host() uint64 {
	u := b.rng.float()
	return uint64(u * u * float64(b.o.Hosts))
}

// makePages prepares a batch of bursts.
func (b *queueBench) makePages() {
	b.pages, b.at, b.arena = b.pages[:0], 0, b.arena[:0]
	var ends []int
	for n := 0; n < queueBatch; {
		p := page{host: b.host()}
		depth := 2 + b.rng.below(6)
		b.dir = b.paths.appendDirectory(b.dir[:0], p.host, &b.rng)
		for k := 1 + b.rng.below(queueBurst); k > 0; k-- {
			dir := b.dir
			if b.rng.below(10) >= 6 {
				dir = nil // six of ten links of a page lead to its own directory
			}
			b.arena = b.paths.appendPage(b.arena, p.host, b.made, depth, dir)
			b.made++
			n++
			ends = append(ends, len(b.arena))
			p.items = append(p.items, nil)
		}
		b.pages = append(b.pages, p)
	}
	start, i := 0, 0
	for _, p := range b.pages {
		for k := range p.items {
			p.items[k] = b.arena[start:ends[i]]
			start = ends[i]
			i++
		}
	}
}

// append puts a burst in. m may be nil.
func (b *queueBench) append(m *growth.Meter) (n int64, err error) {
	p := &b.pages[b.at]
	b.at++
	b.touched[p.host/64] |= 1 << (p.host % 64)
	from := time.Now()
	for _, item := range p.items {
		if err := b.v.Append(p.host, item); err != nil {
			return 0, err
		}
	}
	if m != nil {
		b.done(m, int64(len(p.items)), time.Since(from))
	}
	return int64(len(p.items)), nil
}

// done notes a call and how long it took.
func (b *queueBench) done(m *growth.Meter, items int64, took time.Duration) {
	m.Done(items, took)
	b.calls++
	if took > 50*time.Millisecond {
		b.slow++
	}
}

func (b *queueBench) take(m *growth.Meter) (n int64, err error) {
	host := b.host()
	b.touched[host/64] |= 1 << (host % 64)
	from := time.Now()
	got, err := b.v.Take(host, queueTake, func([]byte) {})
	if m != nil {
		b.done(m, int64(got), time.Since(from))
	}
	return int64(got), err
}

// fill appends until there are so many items.
func (b *queueBench) fill(m *growth.Meter, size int64) error {
	for n := int64(b.v.Total()); n < size; {
		if b.at == len(b.pages) {
			if err := b.ctx.Err(); err != nil {
				return err
			}
			m.Except(b.makePages)
		}
		k, err := b.append(m)
		if err != nil {
			return err
		}
		n += k
	}
	return nil
}

// drain takes so many items.
func (b *queueBench) drain(m *growth.Meter, items int64) error {
	for tries := 0; items > 0; tries++ {
		if tries%1024 == 0 && b.ctx.Err() != nil {
			return b.ctx.Err()
		}
		k, err := b.take(m)
		if err != nil {
			return err
		}
		items -= k
	}
	return nil
}

// churn takes so many items and appends as many, with Collect at work in another goroutine.
func (b *queueBench) churn(m *growth.Meter, items int64) (err error) {
	work := make(chan struct{}, 1)
	var failed error
	var beside sync.WaitGroup
	beside.Go(func() {
		for range work {
			if _, err := b.v.Collect(4 << 20); err != nil && failed == nil {
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
			if next -= queueBatch; b.ctx.Err() != nil {
				return b.ctx.Err()
			}
			select {
			case work <- struct{}{}:
			default:
			}
			if next%queueCut < queueBatch { // a crawl makes cuts, and lets go of old ones
				if err := b.checkpoint(); err != nil {
					return err
				}
			}
		}
		k, err := b.take(m)
		if err != nil {
			return err
		}
		items -= k
		for credit += k; credit > 0; {
			if b.at == len(b.pages) {
				b.makePages()
			}
			k, err := b.append(m)
			if err != nil {
				return err
			}
			credit -= k
		}
	}
	return nil
}

// checkpoint makes a cut, and has the one before let go of what it needed. It is not synced.
func (b *queueBench) checkpoint() error {
	image, err := b.v.Cut()
	if err != nil {
		return err
	}
	clear(b.touched)
	if b.cut, err = image.Write(); err != nil {
		return err
	}
	return b.v.Release(b.cut)
}

// add notes a figure, and says it.
func (b *queueBench) add(r *growth.Run, size int64, name string, value float64, unit string) {
	name = fmt.Sprintf("%s at %.3g", name, float64(size))
	r.Add(name, value, unit)
	fmt.Fprintf(b.o.Say, "virtualize: %s: %.4g %s\n", name, value, unit)
}

func (b *queueBench) steadyFigures(r *growth.Run, size int64) {
	s := b.v.Stats()
	b.add(r, size, "live part of the log", float64(s.Live)/float64(s.Disk), "")
	b.add(r, size, "live bytes of an item on disk", float64(s.Live)/float64(s.Items-s.Buffered), "B")
	b.add(r, size, "items of a block when it was written", float64(s.Appended-s.Buffered)/float64(max(s.BlocksWritten, 1)), "")
	b.add(r, size, "bytes written for a byte that came in", 1+float64(s.Collected)/float64(max(s.BytesWritten, 1)), "")
	b.add(r, size, "queues", float64(s.Queues), "")
	b.add(r, size, "memory of a queue, less the buffer", float64(s.Memory-s.BufferMemory)/float64(s.Queues), "B")
	b.add(r, size, "moved blocks", float64(s.Moved), "")
	b.add(r, size, "calls of more than 50 ms, of a million", float64(b.slow)/float64(b.calls)*1e6, "")
}

// disk is what all files take.
func (b *queueBench) disk() (bytes int64) {
	list, err := os.ReadDir(b.o.Dir)
	if err != nil {
		return 0
	}
	for _, entry := range list {
		if info, err := os.Stat(filepath.Join(b.o.Dir, entry.Name())); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}

func (b *queueBench) say(what string, size int64, p growth.Point) {
	fmt.Fprintf(b.o.Say, "virtualize: %-8s %12d URLs: %8.0f a second, %5.0f ns CPU, %6.2f bytes each, longest pause %v\n",
		what, size, p.PerSecond, p.CPUPerItem, p.DiskPerItem, p.LongestPause.Round(time.Microsecond))
}

// makingItems measures what the benchmark itself costs.
func (b *queueBench) makingItems(r *growth.Run) {
	runtime.GC()
	before, cpu := b.made, growth.CPU()
	for range 4 {
		b.makePages()
	}
	r.Add("CPU of making an item, not counted here, but when as many come in as go out",
		float64((growth.CPU()-cpu).Nanoseconds())/float64(b.made-before), "ns")
}
