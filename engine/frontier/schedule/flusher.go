package schedule

import (
	"context"
	"errors"
	"sync"
	"time"

	"orbweaver/engine/net/outage"
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/queued"
	"orbweaver/internal/notify"
	"orbweaver/sieve"
)

// Flusher flushes the sieve: new URLs go to the ready queue. It does so when a bucket is full, when a flush is
// requested, and soon after an urgent URL was added. Its methods are safe for concurrent use.
type Flusher struct {
	// UrgentAdded takes a signal when an urgent URL has been added to the sieve; capacity 1.
	UrgentAdded chan struct{}

	counters        *counters.Live
	disk            *outage.DiskGuard
	sieve           *sieve.Sieve
	ready           *queued.ReadyQueue
	wakeDistributor func()
	requested       chan struct{}
	turn            chan struct{} // capacity 1: a token in it means that a flush is half done

	mu          sync.Mutex
	nextRequest time.Time // a flush should not be requested before this time
}

// flushPause is the least time between the end of a flush and the next request.
const flushPause = 100 * time.Millisecond

// urgentPause is how long an urgent URL waits in the sieve for others, so a single flush serves many pages. It is much
// less than the delay of a site.
const urgentPause = time.Second

// flushShare is the time between the end of a flush and the next request, in durations of the flush. Each flush writes
// a new file, however few URLs it brings, and a crawl whose sites all wait for their delays requests one all the time.
const flushShare = 9

// NewFlusher returns the flusher of a sieve.
func NewFlusher(
	count *counters.Live, disk *outage.DiskGuard, filter *sieve.Sieve, ready *queued.ReadyQueue, wakeDistributor func(),
) *Flusher {
	return &Flusher{
		counters: count, disk: disk, sieve: filter, ready: ready, wakeDistributor: wakeDistributor,
		requested: make(chan struct{}, 1), turn: make(chan struct{}, 1), UrgentAdded: make(chan struct{}, 1),
	}
}

// FlushSieve flushes until ctx ends.
func (f *Flusher) FlushSieve(ctx context.Context) error {
	var urgentDue <-chan time.Time // nil if no urgent URL waits
	if f.Pending() > 0 {           // of an earlier run, and some may be urgent
		notify.Send(f.UrgentAdded)
	}
	for {
		select {
		case <-f.sieve.Wake():
		case <-f.requested:
		case <-urgentDue:
		case <-f.UrgentAdded:
			if urgentDue == nil {
				urgentDue = time.After(max(urgentPause, f.RequestIn(time.Now())))
			}
			continue
		case <-ctx.Done():
			return nil
		}
		urgentDue = nil
		if err := f.flush(ctx); err != nil {
			return err
		}
	}
}

// Turn is held while a flush is half done: a checkpoint puts a token in to hold it.
func (f *Flusher) Turn() chan struct{} { return f.turn }

// Pending returns the number of URLs in the buckets of the sieve.
func (f *Flusher) Pending() int { return f.sieve.Pending() }

// Request asks FlushSieve for a flush.
func (f *Flusher) Request() { notify.Send(f.requested) }

// RequestIn returns how long to wait before the next Request; negative if it may come now.
func (f *Flusher) RequestIn(now time.Time) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.nextRequest.Sub(now)
}

// flush flushes, and waits while the disk is full.
func (f *Flusher) flush(ctx context.Context) error {
	for {
		err := f.FlushOnce(ctx)
		if err == nil || ctx.Err() != nil {
			return nil //nolint:nilerr // at the end of the crawl pending URLs go into the checkpoint
		}
		if err := f.disk.Wait(ctx, err); errors.Is(err, outage.ErrFullAtStop) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// FlushOnce flushes the sieve, when no other flush and no checkpoint is under way.
func (f *Flusher) FlushOnce(ctx context.Context) error {
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
		f.counters.URLsAdmitted.Add(1)
		return nil
	})
	f.counters.Known.Add(int64(stats.Known + stats.Duplicates))
	f.notePause(start)
	f.wakeDistributor()
	return err
}

// notePause sets the time of the next request after a flush that began at start.
func (f *Flusher) notePause(start time.Time) {
	now := time.Now()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.nextRequest = now.Add(max(flushPause, flushShare*now.Sub(start)))
}
