package lifecycle

import (
	"context"
	"runtime/pprof"

	"golang.org/x/sync/errgroup"
)

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
