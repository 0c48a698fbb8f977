package engine

import (
	"context"
	"testing"
	"testing/synctest"
)

func TestGate_opensWhenTheLastReasonIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changes := 0
		g := newGate(func() { changes++ })
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

func TestSiteQueue_countsWhatIsWaitingAndWhatIsInHand(t *testing.T) {
	q := newSiteQueue()
	for range 5000 {
		q.Put(new(visitState))
	}
	for i := range 5000 {
		if _, err := q.Take(t.Context()); err != nil {
			t.Fatal(err)
		}
		if q.Len() != 5000-i {
			t.Fatalf("%d after %d", q.Len(), i)
		}
		q.Done()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := q.Take(ctx); err == nil {
		t.Error("took from an empty queue")
	}
}
