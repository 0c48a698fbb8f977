package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"orbweaver/engine/net/outage"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/store/manifest"
	"orbweaver/internal/notify"
)

// Options are what a Checkpointer needs beside the components.
type Options struct {
	Journal *journal.Store
	// Flush is held by the flusher while a flush of the sieve is half done.
	Flush chan struct{}
	// Drain folds the Visits on their way back into the workbench. It is called while no step is under way.
	Drain       func() error
	Seeded      func() bool // all seeds have passed admission
	Period      time.Duration
	JournalStep int64 // bytes that a journal reserves at a time
	RunTime     *lifecycle.RunTime
	Boot        lifecycle.Boot // nil if it is not known
}

// Checkpointer takes the checkpoints of a crawl.
type Checkpointer struct {
	o          Options
	c          Components
	order      []entry
	pauses     Pauses
	last       manifest.Manifest // the last durable one
	generation uint64            // the last one begun
	requests   chan chan error

	periodNow     atomic.Int64
	periodChanged chan struct{}
}

// New returns the checkpointer of a crawl whose last manifest is given.
func New(c Components, o Options, last *manifest.Manifest) *Checkpointer {
	k := &Checkpointer{
		o: o, c: c, order: c.order(), last: *last, requests: make(chan chan error), periodChanged: make(chan struct{}, 1),
	}
	k.periodNow.Store(int64(o.Period))
	return k
}

// Last is the last durable manifest. Before the first checkpoint of a run it may be changed.
func (c *Checkpointer) Last() *manifest.Manifest { return &c.last }

// Pauses says how long the crawl stood still for its checkpoints.
func (c *Checkpointer) Pauses() *Pauses { return &c.pauses }

// Requests takes requests for a checkpoint while Run runs. The answer comes when the checkpoint is durable.
func (c *Checkpointer) Requests() chan<- chan error { return c.requests }

// Request asks Run for a checkpoint and returns when its manifest is durable, ctx ends, or stopping is closed: the last
// checkpoint follows then.
func (c *Checkpointer) Request(ctx context.Context, stopping <-chan struct{}) error {
	reply := make(chan error, 1)
	select {
	case c.requests <- reply:
	case <-stopping:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// SkipGenerations makes the next generation higher than the given one.
func (c *Checkpointer) SkipGenerations(generation uint64) {
	c.generation = max(c.generation, generation)
}

// SetPeriod changes the time between two checkpoints, from now on. Safe for concurrent use.
func (c *Checkpointer) SetPeriod(d time.Duration) {
	c.periodNow.Store(int64(d))
	notify.Send(c.periodChanged)
}

func (c *Checkpointer) period() time.Duration { return time.Duration(c.periodNow.Load()) }

// Run takes a checkpoint once per period, when the journal has become long, and on request. The last one, at the end,
// is left to the engine.
func (c *Checkpointer) Run(ctx context.Context) error {
	tick := time.NewTicker(c.period())
	defer tick.Stop()
	for {
		var reply chan error
		select {
		case <-tick.C:
		case <-c.periodChanged:
			tick.Reset(c.period())
			continue
		case <-c.o.Journal.Long:
		case reply = <-c.requests:
		case <-ctx.Done():
			return nil
		}
		err := c.Take(ctx, lifecycle.Running, "", false)
		if reply != nil {
			reply <- err
		}
		if err != nil && ctx.Err() == nil {
			if err := c.o.Journal.Disk.Wait(ctx, err); errors.Is(err, outage.ErrFullAtStop) {
				return nil
			} else if err != nil {
				return err
			}
		}
	}
}

// Take makes one checkpoint and its manifest durable. final says that all goroutines have ended and no Page is in
// flight.
func (c *Checkpointer) Take(ctx context.Context, state lifecycle.State, reason string, final bool) error {
	next := c.last
	m := &next
	if err := c.save(ctx, m, state, reason, final); err != nil {
		return err
	}
	if err := c.sync(m); err != nil {
		return err
	}
	if err := manifest.Write(c.c.FS, c.c.Dir, m); err != nil {
		return err
	}
	c.last = next
	c.pauses.noteDurable(next.Written)
	if err := c.each(func(e *entry) error { return e.Release(&c.last) }); err != nil {
		return err
	}
	if err := layout.RemoveOlder(c.c.FS, c.c.Dir, m.Generation, m.Bench.Names); err != nil || final {
		return err
	}
	return c.reclaim(ctx)
}

// each calls f for the participants in order, until one fails.
func (c *Checkpointer) each(f func(e *entry) error) error {
	for i := range c.order {
		if err := f(&c.order[i]); err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
	}
	return nil
}

// save marks the checkpoint and writes every component.
func (c *Checkpointer) save(ctx context.Context, m *manifest.Manifest, state lifecycle.State, reason string,
	final bool) error {
	defer func() {
		for i := range c.order {
			c.order[i].Abandon()
		}
	}()
	if err := c.markAndWriteSieve(ctx, m, state, reason, final); err != nil {
		return err
	}
	return c.each(func(e *entry) error {
		if e.beforeFlush {
			return nil // it is written
		}
		return e.Write(m)
	})
}

// markAndWriteSieve marks the checkpoint, and writes what the next flush of the sieve would change before it lets one
// begin.
func (c *Checkpointer) markAndWriteSieve(ctx context.Context, m *manifest.Manifest, state lifecycle.State,
	reason string, final bool) error {
	select {
	case c.o.Flush <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-c.o.Flush }()
	if err := c.stopAndMark(m, state, reason, final); err != nil {
		return err
	}
	return c.each(func(e *entry) error {
		if !e.beforeFlush {
			return nil
		}
		return e.Write(m)
	})
}

// stopAndMark stops all steps for as long as it takes to mark the state of every component. It waits for the disk only
// for small writes to the page cache.
func (c *Checkpointer) stopAndMark(m *manifest.Manifest, state lifecycle.State, reason string, final bool) error {
	// A generation is never used twice, so the files of a failed checkpoint are never overwritten. None is left out,
	// since a resume reads the journals one after the other.
	j, err := journal.Create(c.c.FS, c.c.Dir, c.generation+1)
	if err != nil {
		return err
	}
	c.generation++
	j.Step = c.o.JournalStep
	l := c.o.Journal
	began := time.Now() // from here on no step begins, and those that have begun end
	l.Steps.Stop()
	defer l.Steps.Allow()
	defer func() { c.pauses.add(time.Since(began)) }()
	if err := c.o.Drain(); err != nil {
		return errors.Join(err, j.Close())
	}
	if err := j.Follow(l.Current()); err != nil {
		return errors.Join(err, j.Close())
	}
	m.Generation = c.generation
	m.State, m.Reason, m.Clean, m.Seeded = state, reason, final, c.o.Seeded()
	m.Written = time.Now()
	if c.o.Boot != nil {
		m.Boot, m.Up = c.o.Boot()
	}
	m.SetUsage(c.o.RunTime.Usage())
	m.Counters, m.Sums = l.Count.Load(), l.Count.Sums.Load()
	if err := c.each(func(e *entry) error { return e.MarkState(m) }); err != nil {
		return errors.Join(err, j.Close())
	}
	// Entries written from here on belong to this checkpoint. If its manifest is never written they follow the older
	// journal.
	where := l.Writer.Checkpoint()
	m.Archive = &where
	l.TurnTo(j)
	return nil
}

// sync makes durable everything that the manifest names.
func (c *Checkpointer) sync(m *manifest.Manifest) error {
	if err := c.o.Journal.Sync(); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	if err := c.each(func(e *entry) error { return e.Sync(m) }); err != nil {
		return err
	}
	if err := c.c.FS.SyncDir(c.c.Dir); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// reclaimStep is how many bytes a component moves in one go to free space.
const reclaimStep = 1 << 20

// reclaim frees disk space in small steps while the crawl runs, for a quarter of the period at most.
func (c *Checkpointer) reclaim(ctx context.Context) error {
	for end := time.Now().Add(c.period() / 4); time.Now().Before(end) && ctx.Err() == nil; {
		moved, err := c.c.reclaim(reclaimStep)
		if err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
		if moved == 0 {
			break
		}
	}
	return nil
}
