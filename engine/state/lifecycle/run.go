package lifecycle

import (
	"context"
	"runtime/pprof"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Run is the state of one run of a crawl. It begins in the state Running. Finish asks for its end, and SetState notes
// how it ended. Safe for concurrent use.
type Run struct {
	stopping chan struct{}

	mu        sync.Mutex
	state     State
	reason    string
	finishing bool
	cancel    func()
	cause     error
}

// NewRun returns a Run in the state Running.
func NewRun() *Run { return &Run{stopping: make(chan struct{}), state: Running} }

// Finish begins the end of the run. Only the first reason counts.
func (r *Run) Finish(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.finishing {
		r.finishing, r.reason = true, reason
		close(r.stopping)
	}
}

// Stopping is closed by the first Finish.
func (r *Run) Stopping() <-chan struct{} { return r.stopping }

// IsStopping says whether Finish was called.
func (r *Run) IsStopping() bool {
	select {
	case <-r.stopping:
		return true
	default:
		return false
	}
}

// OnAbort sets what Abort calls.
func (r *Run) OnAbort(cancel func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cancel = cancel
}

// Abort is Finish without waiting for exchanges under way. cause is an error that made it necessary, or nil.
func (r *Run) Abort(reason string, cause error) {
	r.Finish(reason)
	r.mu.Lock()
	defer r.mu.Unlock()
	if cause != nil {
		r.cause = cause
	}
	if r.cancel != nil {
		r.cancel()
	}
}

// Cause is the last error that was given to Abort.
func (r *Run) Cause() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cause
}

// State returns the state and its reason.
func (r *Run) State() (State, string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state, r.reason
}

// SetState notes the state in which the run ended.
func (r *Run) SetState(s State, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state, r.reason = s, reason
}

// ReplaceReason changes the reason if it is old.
func (r *Run) ReplaceReason(old, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reason == old {
		r.reason = reason
	}
}

// Group starts the goroutines of loops. The first error of one aborts the run.
type Group struct {
	loops  errgroup.Group
	ctx    context.Context //nolint:containedctx // for the labels of profiles alone
	cancel context.CancelCauseFunc
}

// NewGroup returns a group whose first error calls cancel. Its goroutines have the labels of ctx in profiles.
func NewGroup(ctx context.Context, cancel context.CancelCauseFunc) *Group {
	return &Group{ctx: ctx, cancel: cancel}
}

// Go runs f, which profiles call a goroutine of loop.
func (g *Group) Go(loop string, f func() error) {
	g.loops.Go(func() error {
		pprof.SetGoroutineLabels(pprof.WithLabels(g.ctx, pprof.Labels("loop", loop)))
		err := f()
		if err != nil {
			g.cancel(err)
		}
		return err
	})
}

// Abort aborts the run for a reason.
func (g *Group) Abort(why error) { g.cancel(why) }

// Wait returns when all goroutines have ended, with the first error.
func (g *Group) Wait() error { return g.loops.Wait() }
