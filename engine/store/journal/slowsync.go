package journal

import (
	"sync"
	"time"

	"orbweaver/internal/throttle"
)

// SlowSync watches how long the group commit takes, and how long it waits for writes. A disk that is slow to sync
// delays no fetch (pages are fetched and written meanwhile, and bounds hold what cannot be). But a power cut then costs
// what came since, and the operator should know.
type SlowSync struct {
	Warn func(msg string, args ...any)

	mu    sync.Mutex
	began time.Time // of the sync under way; zero if none
	ended time.Time // of the last slow one
	took  time.Duration
	waits struct { // the last slow wait for a write
		began, ended time.Time // began is zero if none is under way
		took         time.Duration
	}
	slowWarnings  throttle.Log
	stuckWarnings throttle.Log
}

const (
	syncSlow      = time.Second
	syncStuck     = 30 * time.Second
	syncRemembers = 10 * time.Second // a slow sync is worth mentioning for so long
)

// writeSlow is how long a group commit waits for the write under way before the disk counts as slow: a write goes to
// the memory of the system, and takes microseconds.
const writeSlow = 100 * time.Millisecond

// BeginWait notes that a group commit waits for the write under way.
func (d *SlowSync) BeginWait(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waits.began = now
}

// EndWait notes that the write has ended.
func (d *SlowSync) EndWait(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if took := now.Sub(d.waits.began); took >= writeSlow {
		d.waits.took, d.waits.ended = took, now
	}
	d.waits.began = time.Time{}
}

// WriteNow returns how long a write takes that is under way or has just ended, 0 if that is not long.
func (d *SlowSync) WriteNow(now time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if took := now.Sub(d.waits.began); !d.waits.began.IsZero() && took >= writeSlow {
		return took
	}
	if !d.waits.ended.IsZero() && now.Sub(d.waits.ended) < syncRemembers {
		return d.waits.took
	}
	return 0
}

// Begin notes that a sync begins.
func (d *SlowSync) Begin(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.began = now
}

// End notes that the sync has ended, and logs a slow one.
func (d *SlowSync) End(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	took := now.Sub(d.began)
	d.began = time.Time{}
	if took < syncSlow {
		return
	}
	d.ended, d.took = now, took
	if n, ok := d.slowWarnings.Allow(now); ok {
		d.Warn("the disk is slow: what is fetched is durable only after this long, and a power cut costs it",
			"sync_took", took.String(), "times", n)
	}
}

// Now says how long a sync takes that is under way or has just ended, 0 if that is not long. One that does not end at
// all is reported only here.
func (d *SlowSync) Now(now time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if took := now.Sub(d.began); !d.began.IsZero() && took >= syncSlow {
		if took >= syncStuck {
			if n, ok := d.stuckWarnings.Allow(now); ok {
				d.Warn("the disk does not answer: a sync is under way for long, and what was fetched since is not durable",
					"sync_takes", took.String(), "times", n)
			}
		}
		return took
	}
	if !d.ended.IsZero() && now.Sub(d.ended) < syncRemembers {
		return d.took
	}
	return 0
}
