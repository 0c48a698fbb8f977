package visit

import (
	"context"
	"errors"
	"testing"
)

// A signal comes after a Visit is in the queue, and waiting takes none: a Visit is taken within a step alone.
func TestResultQueue_waitTakesNothing(t *testing.T) {
	q := NewResultQueue(4)
	q.Put(&Result{RequeueLast: true})
	q.Put(&Result{})
	if open, err := q.Wait(t.Context()); !open || err != nil {
		t.Fatalf("open: %v, %v", open, err)
	}
	if r, ok := q.TryTake(); !ok || !r.RequeueLast {
		t.Errorf("the first Visit: %v, %v", r, ok)
	}
	if _, ok := q.TryTake(); !ok {
		t.Error("the second Visit is gone")
	}
	if _, ok := q.TryTake(); ok {
		t.Error("a third Visit")
	}
}

// After Close there is no wait, and Visits that are left can be taken. A cancelled wait returns the error.
func TestResultQueue_afterCloseNothingWaits(t *testing.T) {
	q := NewResultQueue(4)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := q.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	q.Put(&Result{})
	q.Close()
	if open, err := q.Wait(t.Context()); !open || err != nil { // the signal of Put
		t.Errorf("before the end: %v, %v", open, err)
	}
	if open, err := q.Wait(t.Context()); open || err != nil {
		t.Errorf("at the end: %v, %v", open, err)
	}
	if _, ok := q.TryTake(); !ok {
		t.Error("the last Visit is gone")
	}
}

// A queue that is full has fewer places than there are Visits, which is a bug: Put never waits.
func TestResultQueue_putPanicsIfFull(t *testing.T) {
	q := NewResultQueue(2)
	for range q.Cap() {
		q.Put(&Result{})
	}
	defer func() {
		if recover() == nil {
			t.Error("a full queue took a Visit")
		}
	}()
	q.Put(&Result{})
}
