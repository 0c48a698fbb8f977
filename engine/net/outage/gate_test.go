package outage

import (
	"context"
	"testing"
	"testing/synctest"
)

func TestGate_opensWhenTheLastReasonIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changes := 0
		g := NewGate(func() { changes++ })
		g.Shut("a")
		g.Shut("b")
		passed := make(chan error, 1)
		go func() { passed <- g.Wait(t.Context()) }()
		synctest.Wait()
		g.Open("a")
		synctest.Wait()
		if len(passed) > 0 || g.Reason() != "b" {
			t.Fatal("open with a reason left")
		}
		g.Open("b")
		if err := <-passed; err != nil || changes != 4 {
			t.Errorf("%v after %d changes", err, changes)
		}
		g.Shut("c")
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if g.Wait(ctx) == nil {
			t.Error("passed a shut gate")
		}
	})
}
