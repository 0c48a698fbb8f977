package lifecycle

import (
	"context"
	"errors"
	"testing"
)

// The first error of a loop aborts the others, and Wait returns it.
func TestGroup_theFirstErrorAbortsTheOthers(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	g := NewGroup(t.Context(), cancel)
	broken := errors.New("broken")
	g.Go("waits", func() error { <-ctx.Done(); return nil })
	g.Go("fails", func() error { return broken })
	if err := g.Wait(); !errors.Is(err, broken) || !errors.Is(context.Cause(ctx), broken) {
		t.Errorf("%v, cause %v", err, context.Cause(ctx))
	}
}
