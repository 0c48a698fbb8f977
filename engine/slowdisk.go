package engine

import (
	"sync"
	"time"
)

// slowDisk watches how long the group commit takes. A disk that is slow to sync holds nobody up (pages are fetched and written
// meanwhile, and bounds hold what cannot be), but a power cut then costs what came since, and the operator should know.
type slowDisk struct {
	say func(msg string, args ...any)

	mu     sync.Mutex
	began  time.Time // of the sync under way; zero if none
	ended  time.Time // of the last slow one
	took   time.Duration
	murmur murmur
	stuck  murmur
}

const (
	syncSlow      = time.Second
	syncStuck     = 30 * time.Second
	syncRemembers = 10 * time.Second // a slow sync is worth mentioning for so long
)

func (d *slowDisk) begin(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.began = now
}

func (d *slowDisk) end(now time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	took := now.Sub(d.began)
	d.began = time.Time{}
	if took < syncSlow {
		return
	}
	d.ended, d.took = now, took
	if n, ok := d.murmur.may(now); ok {
		d.say("the disk is slow: what is fetched is durable only after this long, and a power cut costs it", "sync_took", took.String(), "times", n)
	}
}

// now says how long a sync takes that is under way or has just ended, 0 if that is not long. One that does not end at all is told
// here: nobody else would.
func (d *slowDisk) now(now time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if took := now.Sub(d.began); !d.began.IsZero() && took >= syncSlow {
		if took >= syncStuck {
			if n, ok := d.stuck.may(now); ok {
				d.say("the disk does not answer: a sync is under way for long, and what was fetched since is not durable", "sync_takes", took.String(), "times", n)
			}
		}
		return took
	}
	if !d.ended.IsZero() && now.Sub(d.ended) < syncRemembers {
		return d.took
	}
	return 0
}
