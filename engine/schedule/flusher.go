package schedule

import (
	"context"
	"errors"
	"sync"
	"time"

	"orbweaver/engine/journal"
	"orbweaver/engine/outage"
	"orbweaver/sieve"
	"orbweaver/virtualize/diskq"
)

// Flusher carries what is new from the sieve to the ready queue, whenever a bucket is full or the distributor is
// hungry. Its turn is what the checkpointer takes to know that no flush is half done.
type Flusher struct {
	Journal         *journal.Store
	Sieve           *sieve.Sieve
	Ready           *diskq.Queue
	Wanted          <-chan struct{}
	Turn            chan struct{} // capacity 1: holding the token means no flush is under way
	Pace            *FlushPace
	WakeDistributor func() // of the distributor
}

// Run flushes until ctx ends.
func (f *Flusher) Run(ctx context.Context) error {
	for {
		select {
		case <-f.Sieve.Wake():
		case <-f.Wanted:
		case <-ctx.Done():
			return nil
		}
		if err := f.flush(ctx); err != nil {
			return err
		}
	}
}

func (f *Flusher) flush(ctx context.Context) error {
	for {
		err := f.FlushOnce(ctx)
		if err == nil || ctx.Err() != nil {
			return nil //nolint:nilerr // at the end of the crawl what is pending goes into the cut
		}
		if err := f.Journal.Disk.Wait(ctx, err); errors.Is(err, outage.ErrFullAtStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// FlushOnce flushes the sieve, when no other flush and no checkpoint is under way.
func (f *Flusher) FlushOnce(ctx context.Context) error {
	select {
	case f.Turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-f.Turn }()
	start := time.Now()
	stats, err := f.Sieve.Flush(func(payload []byte) error {
		if err := f.Ready.Append(payload); err != nil {
			return err
		}
		f.Journal.Count.Admitted.Add(1)
		return nil
	})
	f.Journal.Count.Known.Add(int64(stats.Known + stats.Duplicates))
	now := time.Now()
	f.Pace.done(now, now.Sub(start))
	f.WakeDistributor()
	return err
}

// FlushPace keeps forced flushes to about a tenth of the time, and to ten a second: each writes a new file of the
// store, however little it brings, and a crawl whose sites all wait for their delays is hungry all the while.
type FlushPace struct {
	mu   sync.Mutex
	next time.Time
}

const flushPause = 100 * time.Millisecond

func (p *FlushPace) done(now time.Time, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = now.Add(max(flushPause, 9*took))
}

// until is how long to wait for the next.
func (p *FlushPace) until(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.next.Sub(now)
}
