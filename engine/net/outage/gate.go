package outage

import (
	"context"
	"sync"
)

// Gate holds goroutines back: Wait blocks while a reason keeps it shut. Several reasons can keep it shut at once
// (the operator's pause, a full disk); it opens when the last is gone.
type Gate struct {
	mu      sync.Mutex
	reasons map[string]struct{}
	opened  chan struct{} // closed and replaced when the gate opens; nil while it is open
	changed func()        // called after every change, without the lock
}

// NewGate returns an open gate. changed is called after every change, without a lock held.
func NewGate(changed func()) *Gate {
	return &Gate{reasons: make(map[string]struct{}), changed: changed}
}

// Shut adds a reason; it reports whether the reason is new.
func (g *Gate) Shut(reason string) bool {
	g.mu.Lock()
	_, had := g.reasons[reason]
	g.reasons[reason] = struct{}{}
	if g.opened == nil {
		g.opened = make(chan struct{})
	}
	g.mu.Unlock()
	g.changed()
	return !had
}

// Open takes a reason away; it reports whether it was there.
func (g *Gate) Open(reason string) bool {
	g.mu.Lock()
	_, had := g.reasons[reason]
	delete(g.reasons, reason)
	if len(g.reasons) == 0 && g.opened != nil {
		close(g.opened)
		g.opened = nil
	}
	g.mu.Unlock()
	g.changed()
	return had
}

// Reason returns one reason why the gate is shut, "" when it is open.
func (g *Gate) Reason() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	first := ""
	for r := range g.reasons {
		if first == "" || r < first {
			first = r
		}
	}
	return first
}

// IsOpen reports whether no reason keeps the gate shut.
func (g *Gate) IsOpen() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened == nil
}

// Wait returns when the gate is open, or with ctx's error.
func (g *Gate) Wait(ctx context.Context) error { return g.WaitUnless(ctx, nil) }

// WaitUnless returns when the gate is open or done is closed, or with ctx's error.
func (g *Gate) WaitUnless(ctx context.Context, done <-chan struct{}) error {
	for {
		g.mu.Lock()
		opened := g.opened
		g.mu.Unlock()
		if opened == nil {
			return nil
		}
		select {
		case <-opened:
		case <-done:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
