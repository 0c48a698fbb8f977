package outage

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"orbweaver/internal/vfs"
)

// DiskGuard decides what a failed call of the disk means: a full disk pauses the crawl until there is room, and a want
// of file descriptors until connections have given some back; anything else ends it.
//
// It may be wrong about the room: a quota is used up while the disk has plenty, or the next write is larger than
// what is free. Then the next write fails at once, and so on for as long as it takes. So each pause that comes soon
// after the last is longer than that, and needs more room if the crawl can use more; the log says so once in a while.
type DiskGuard struct {
	Fs   vfs.FS
	Dir  string
	Gate *Gate
	Most func() int64 // bytes that the crawl might write at once
	Warn func(msg string, args ...any)

	mu       sync.Mutex
	paused   bool
	opened   time.Time     // when it last went on
	pause    time.Duration // between two looks
	look     time.Time     // when the next look is due
	reason   string        // of the pause at hand
	need     int64         // bytes that must be free before work goes on
	count    int64         // of pauses
	loggedAt time.Time     // when a pause was last written to the log
	unlogged int           // pauses since, including the current one
	first    bool          // the pause at hand did not come soon after another
}

// ErrFullAtStop says that the crawl was told to stop while a write waited for room on the disk. What waited counts as
// never begun; the journal has the rest.
var ErrFullAtStop = errors.New("outage: stopped while the disk was full: make room, and run it again")

// NoFilesReason is why exchanges wait for a file descriptor.
const NoFilesReason = "no file descriptors left"

// How a full disk is handled.
const (
	diskFullReason = "disk full"
	diskRecheck    = time.Second
	diskRecheckMax = time.Minute
	DiskNeed       = 64 << 20         // bytes that must be free before a paused crawl goes on
	diskPauseGap   = 2 * time.Minute  // a pause that comes later than this after the last is a new one
	diskSayEvery   = 10 * time.Minute // how often the log is told of pauses that follow each other
)

// Wait returns nil when the write that failed with err may be tried again, or the error that is to end the crawl; one
// that wraps ErrFullAtStop ends only the caller's work.
func (d *DiskGuard) Wait(ctx context.Context, err error) error {
	if !vfs.IsPassing(err) {
		return err
	}
	pause := d.enter(time.Now(), err)
	for {
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w: %w", ErrFullAtStop, err)
		}
		free, ferr := d.Fs.Free(d.Dir)
		if ferr != nil {
			free = 0
		}
		if pause = d.leave(time.Now(), free); pause == 0 {
			return nil
		}
	}
}

// Retry calls f until the disk has room for it. It returns the error that ends the crawl, as Wait does.
func (d *DiskGuard) Retry(ctx context.Context, f func() error) error {
	for {
		err := f()
		if err == nil {
			return nil
		}
		if err := d.Wait(ctx, err); err != nil {
			return err
		}
	}
}

// Every calls f once in a period until ctx ends. A full disk makes it wait; any other error of f ends it.
func (d *DiskGuard) Every(ctx context.Context, period time.Duration, f func() error) error {
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		if err := f(); err != nil {
			if err := d.Wait(ctx, err); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}

// enter begins a pause, or joins the one at hand, and says how long to wait before a look.
func (d *DiskGuard) enter(now time.Time, err error) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.paused {
		return max(d.look.Sub(now), time.Millisecond)
	}
	d.paused = true
	d.count++
	d.unlogged++
	if d.first = d.opened.IsZero() || now.Sub(d.opened) >= diskPauseGap; d.first {
		d.pause, d.need = diskRecheck, DiskNeed
	} else {
		d.pause = min(2*d.pause, diskRecheckMax)
		d.need = max(d.need, DiskNeed, min(2*d.need, d.Most()))
	}
	what := "disk full: the crawl is paused and goes on by itself when there is room"
	if d.reason = diskFullReason; !vfs.IsFull(err) {
		d.reason, d.need = NoFilesReason, 0
		what = "no file descriptors left: the crawl is paused until connections give some back"
	}
	d.look = now.Add(d.pause)
	d.Gate.Shut(d.reason)
	if d.first || now.Sub(d.loggedAt) >= diskSayEvery {
		d.Warn(what, "dir", d.Dir, "needs_bytes", d.need, "pauses", d.unlogged, "error", err)
		d.loggedAt, d.unlogged = now, 0
	}
	return d.pause
}

// leave ends the pause if its time is over and there is room; else it says how long to wait on.
func (d *DiskGuard) leave(now time.Time, free int64) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch early := d.look.Sub(now); {
	case !d.paused:
		return 0 // another goroutine has seen it
	case early > 0:
		return early // a pause that was begun since
	case free < d.need:
		d.look = now.Add(d.pause)
		return d.pause
	}
	d.paused, d.opened = false, now
	d.Gate.Open(d.reason)
	if d.first && d.reason == diskFullReason {
		d.Warn("there is room on the disk again", "dir", d.Dir, "free_bytes", free)
	}
	return 0
}

// Pauses says how many pauses there were, and what room the one at hand waits for, 0 if there is none.
func (d *DiskGuard) Pauses() (pauses, need int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.paused {
		need = d.need
	}
	return d.count, need
}
