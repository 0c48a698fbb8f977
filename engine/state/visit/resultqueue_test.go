package visit

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// numbered returns a Result that the tests know again.
func numbered(q *ResultQueue, n uint64) *Result { return q.New(&Visit{Lease: n}) }

// A signal comes after a Visit is in the queue, and waiting takes none: a Visit is taken within a step alone. Visits
// come out in the order in which they came, whenever the returner looks.
func TestResultQueue_waitTakesNothing(t *testing.T) {
	q := NewResultQueue()
	for n := range uint64(3) {
		q.Put(numbered(q, n))
	}
	if open, err := q.Wait(t.Context()); !open || err != nil {
		t.Fatalf("open: %v, %v", open, err)
	}
	for n := range uint64(5) {
		if r := q.TryTake(); r == nil || r.Visit.Lease != n {
			t.Fatalf("the Visit that came as number %d: %v", n, r)
		}
		if n < 2 {
			q.Put(numbered(q, 3+n)) // behind those that the queue has counted
		}
	}
	if q.TryTake() != nil {
		t.Error("a sixth Visit")
	}
}

// After Close there is no wait, and Visits that are left can be taken. A cancelled wait returns the error.
func TestResultQueue_afterCloseNothingWaits(t *testing.T) {
	q := NewResultQueue()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := q.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	q.Put(new(Result))
	q.Close()
	if open, err := q.Wait(t.Context()); !open || err != nil { // the signal of Put
		t.Errorf("before the end: %v, %v", open, err)
	}
	if open, err := q.Wait(t.Context()); open || err != nil {
		t.Errorf("at the end: %v, %v", open, err)
	}
	if q.TryTake() == nil {
		t.Error("the last Visit is gone")
	}
}

// Many workers put, one goroutine takes: every Visit comes once, and those of a worker in their order. Results are used
// again, and then carry nothing of the Visit before.
func TestResultQueue_manyWorkers(t *testing.T) {
	const workers, visits = 8, 20_000
	q, todo := NewResultQueue(), make(chan *Result, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for n := range uint64(visits) {
				r := <-todo
				r.Visit.Lease, r.Visit.More, r.RequeueLast = uint64(w), n, true
				q.Put(r)
			}
		})
	}
	var next [workers]uint64
	made := 0
	for out, taken := 0, 0; taken < workers*visits; {
		for ; out < workers && made < workers*visits; out++ {
			r := q.New(new(Visit))
			if r.RequeueLast || r.next != nil {
				t.Fatalf("a used Result: %+v", r)
			}
			todo <- r
			made++
		}
		if open, err := q.Wait(t.Context()); !open || err != nil {
			t.Fatalf("%v, %v", open, err)
		}
		for r := q.TryTake(); r != nil; r = q.TryTake() {
			if w := r.Visit.Lease; r.Visit.More != next[w] {
				t.Fatalf("worker %d: Visit %d, want %d", w, r.Visit.More, next[w])
			}
			next[r.Visit.Lease]++
			q.Recycle(r)
			out--
			taken++
		}
	}
	wg.Wait()
	if n := testing.AllocsPerRun(100, func() {
		q.Put(q.New(new(Visit)))
		q.Recycle(q.TryTake())
	}); n != 0 {
		t.Errorf("%v allocations for a Visit", n)
	}
}
