package engine

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

// flusher carries what is new from the sieve to the ready queue, whenever a bucket is full or the distributor is
// hungry. Its turn is what the checkpointer takes to know that no flush is half done.
type flusher struct {
	ledger *journal.Store
	sieve  *sieve.Sieve
	ready  *diskq.Queue
	hungry <-chan struct{}
	turn   chan struct{} // capacity 1: holding the token means no flush is under way
	pace   *flushPace
	wake   func() // of the distributor
}

func (f *flusher) run(ctx context.Context) error {
	for {
		select {
		case <-f.sieve.Wake():
		case <-f.hungry:
		case <-ctx.Done():
			return nil
		}
		if err := f.flush(ctx); err != nil {
			return err
		}
	}
}

func (f *flusher) flush(ctx context.Context) error {
	for {
		err := f.once(ctx)
		if err == nil || ctx.Err() != nil {
			return nil //nolint:nilerr // at the end of the crawl what is pending goes into the cut
		}
		if err := f.ledger.Disk.Wait(ctx, err); errors.Is(err, outage.ErrFullAtStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func (f *flusher) once(ctx context.Context) error {
	select {
	case f.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-f.turn }()
	start := time.Now()
	stats, err := f.sieve.Flush(func(payload []byte) error {
		if err := f.ready.Append(payload); err != nil {
			return err
		}
		f.ledger.Count.Admitted.Add(1)
		return nil
	})
	f.ledger.Count.Known.Add(int64(stats.Known + stats.Duplicates))
	now := time.Now()
	f.pace.done(now, now.Sub(start))
	f.wake()
	return err
}

// flushPace keeps forced flushes to about a tenth of the time, and to ten a second: each writes a new file of the
// store, however little it brings, and a crawl whose sites all wait for their delays is hungry all the while.
type flushPace struct {
	mu   sync.Mutex
	next time.Time
}

const flushPause = 100 * time.Millisecond

func (p *flushPace) done(now time.Time, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.next = now.Add(max(flushPause, 9*took))
}

// until is how long to wait for the next.
func (p *flushPace) until(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.next.Sub(now)
}
