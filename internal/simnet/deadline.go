package simnet

import (
	"sync"
	"time"
)

// deadline is the time after which one direction of a connection fails. It may be moved while others wait for it.
type deadline struct {
	mu    sync.Mutex // held for a few instructions only
	at    time.Time
	moved chan struct{} // closed and replaced when the deadline is set
}

func newDeadline() *deadline { return &deadline{moved: make(chan struct{})} }

func (d *deadline) set(at time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.at = at
	close(d.moved)
	d.moved = make(chan struct{})
}

func (d *deadline) passed(now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.at.IsZero() && !now.Before(d.at)
}

// wait returns when change is closed, when the deadline passes or is moved, or after most, if that is not zero.
func (d *deadline) wait(change <-chan struct{}, most time.Duration) {
	d.mu.Lock()
	moved := d.moved
	if !d.at.IsZero() {
		left := max(time.Until(d.at), 1)
		if most == 0 || left < most {
			most = left
		}
	}
	d.mu.Unlock()
	if most == 0 {
		select {
		case <-change:
		case <-moved:
		}
		return
	}
	t := time.NewTimer(most)
	defer t.Stop()
	select {
	case <-change:
	case <-moved:
	case <-t.C:
	}
}
