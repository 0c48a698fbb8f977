package sites

import (
	"context"
	"testing"
)

func TestUnresolvedQueue_countsWaitingAndTakenSites(t *testing.T) {
	q := NewUnresolvedQueue()
	for range 5000 {
		q.Put([]byte("http://a.test"))
	}
	for i := range 5000 {
		if _, err := q.TakeOldest(t.Context()); err != nil {
			t.Fatal(err)
		}
		if q.Len() != 5000-i {
			t.Fatalf("%d after %d", q.Len(), i)
		}
		q.Done()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := q.TakeOldest(ctx); err == nil {
		t.Error("took from an empty queue")
	}
}
