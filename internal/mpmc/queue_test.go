//go:build !mpmc_channel

package mpmc

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// One goroutine, random operations, next to a slice.
func TestAgainstASlice(t *testing.T) {
	for _, capacity := range []int{1, 2, 3, 7, 8, 100} {
		rng := rand.New(rand.NewPCG(uint64(capacity), 1))
		q, model := New[int](capacity), []int(nil)
		if q.Cap() != capacity {
			t.Fatal(q.Cap())
		}
		for step := range 20_000 {
			if rng.IntN(100) < 50+10*(step/1000%3-1) {
				if ok := q.TryPut(step); ok != (len(model) < capacity) {
					t.Fatalf("capacity %d, %d in it: TryPut said %v", capacity, len(model), ok)
				} else if ok {
					model = append(model, step)
				}
			} else {
				v, ok := q.TryTake()
				if ok != (len(model) > 0) || (ok && v != model[0]) {
					t.Fatalf("capacity %d: TryTake gave %d, %v; want of %v", capacity, v, ok, model)
				}
				if ok {
					model = model[1:]
				}
			}
			if q.Len() != len(model) {
				t.Fatalf("Len is %d, should be %d", q.Len(), len(model))
			}
		}
	}
}

func TestClose(t *testing.T) {
	ctx := t.Context()
	q := New[int](3)
	for i := range 3 {
		if err := q.Put(ctx, i); err != nil {
			t.Fatal(err)
		}
	}
	q.Close()
	q.Close()
	if err := q.Put(ctx, 9); !errors.Is(err, ErrClosed) || q.TryPut(9) {
		t.Error("a closed queue took a value", err)
	}
	for i := range 3 {
		if v, err := q.TakeNext(ctx); v != i || err != nil {
			t.Error(v, err)
		}
	}
	if _, err := q.TakeNext(ctx); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, ok := q.TryTake(); ok || q.Len() != 0 {
		t.Error("something is left", q.Len())
	}
}

// Virtual time passes while takers and putters are parked, and each way to stop waiting works.
func TestWaitingInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New[int](1)
		begin := time.Now()
		short, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := q.TakeNext(short); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Minute {
			t.Error(err, time.Since(begin))
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			for want := range 3 {
				if v, err := q.TakeNext(context.Background()); v != want || err != nil {
					t.Error(v, err)
				}
			}
			if _, err := q.TakeNext(context.Background()); !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		})
		for i := range 3 {
			synctest.Wait()
			time.Sleep(time.Hour)
			if err := q.Put(t.Context(), i); err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		q.Close()
		wg.Wait()

		full := New[int](1)
		full.TryPut(1)
		short, cancel = context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := full.Put(short, 2); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		wg.Go(func() {
			if err := full.Put(context.Background(), 3); err != nil {
				t.Error(err)
			}
			if err := full.Put(t.Context(), 4); !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		})
		synctest.Wait()
		if v, err := full.TakeNext(t.Context()); v != 1 || err != nil {
			t.Error(v, err)
		}
		synctest.Wait()
		full.Close()
		wg.Wait()
		if v, err := full.TakeNext(t.Context()); v != 3 || err != nil {
			t.Error(v, err)
		}
	})
}

// item is the nth value of a producer.
type item struct{ from, n int }

// Thousands of goroutines, contexts that end at random, and a Close in the middle. Each value that Put accepted comes
// out once, and each consumer sees the values of a producer in order.
func TestStress(t *testing.T) {
	for _, c := range []struct{ producers, consumers, capacity, each int }{
		{1, 4000, 64, 20_000}, {2000, 1, 8, 10}, {1000, 1000, 1, 20}, {8, 8, 3, 3000}, {1, 1, 1, 20_000},
		{500, 3000, 1024, 20},
	} {
		q := New[item](c.capacity)
		var put, took sync.WaitGroup
		accepted := make([][]bool, c.producers)
		got := make([][]item, c.consumers)
		for p := range c.producers {
			accepted[p] = make([]bool, c.each)
			put.Go(func() { produce(q, p, accepted[p]) })
		}
		for k := range c.consumers {
			took.Go(func() { got[k] = consume(t, q, uint64(k)) })
		}
		if c.capacity == 3 { // close in the middle
			for q.Len() < 2 {
				runtime.Gosched()
			}
			q.Close()
		}
		put.Wait()
		q.Close()
		took.Wait()
		checkDelivery(t, accepted, got)
	}
}

func produce(q *Queue[item], p int, accepted []bool) {
	rng := rand.New(rand.NewPCG(uint64(p), 2))
	for n := range accepted {
		switch rng.IntN(4) {
		case 0:
			ctx, cancel := context.WithCancel(context.Background())
			stop := time.AfterFunc(time.Duration(rng.IntN(200))*time.Microsecond, cancel)
			accepted[n] = q.Put(ctx, item{p, n}) == nil
			stop.Stop()
			cancel()
		case 1:
			accepted[n] = q.TryPut(item{p, n})
		default:
			accepted[n] = q.Put(context.Background(), item{p, n}) == nil
		}
	}
}

func consume(t *testing.T, q *Queue[item], seed uint64) (got []item) {
	rng := rand.New(rand.NewPCG(seed, 3))
	for {
		ctx, cancel := context.Background(), context.CancelFunc(nil)
		if rng.IntN(4) == 0 {
			ctx, cancel = context.WithTimeout(ctx, time.Duration(rng.IntN(500))*time.Microsecond)
		}
		v, err := q.TakeNext(ctx)
		if cancel != nil {
			cancel()
		}
		switch {
		case err == nil:
			got = append(got, v)
		case errors.Is(err, ErrClosed):
			return got
		case !errors.Is(err, context.DeadlineExceeded):
			t.Error(err)
		}
	}
}

func checkDelivery(t *testing.T, accepted [][]bool, got [][]item) {
	t.Helper()
	came := make([]map[int]bool, len(accepted))
	for p := range came {
		came[p] = make(map[int]bool)
	}
	for _, values := range got {
		last := make(map[int]int)
		for _, v := range values {
			if before, ok := last[v.from]; ok && before >= v.n {
				t.Fatalf("value %d of producer %d came after %d", v.n, v.from, before)
			}
			last[v.from] = v.n
			if came[v.from][v.n] || !accepted[v.from][v.n] {
				t.Fatalf("value %d of producer %d came twice, or was refused", v.n, v.from)
			}
			came[v.from][v.n] = true
		}
	}
	for p, all := range accepted {
		for n, ok := range all {
			if ok && !came[p][n] {
				t.Fatalf("value %d of producer %d was accepted and never came", n, p)
			}
		}
	}
}

// With one putter, the space that Len and Cap show exists, even if takers are incomplete.
func TestRoomThatIsShownIsThere(t *testing.T) {
	q := New[int](5)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				if _, err := q.TakeNext(context.Background()); err != nil {
					return
				}
				for range 3 {
					q.TryTake()
				}
			}
		})
	}
	for range 20_000 {
		for room := q.Cap() - q.Len(); room > 0; room-- {
			if !q.TryPut(1) {
				t.Fatal("no room where there was some")
			}
		}
	}
	q.Close()
	wg.Wait()
}

// A taker that has claimed a slot and not emptied it does not make the queue look full. A putter that has not filled
// its slot does not make it look empty.
func TestHalfWayIsWaitedFor(t *testing.T) {
	q := New[int](2)
	q.TryPut(1)
	q.TryPut(2)
	q.ring.head.Add(1) // a taker claims the 1
	answer := make(chan bool)
	go func() { answer <- q.TryPut(3) }()
	if early(answer) {
		t.Fatal("TryPut did not wait for the slot")
	}
	q.ring.slots[0].turn.Store(2)
	if !<-answer {
		t.Error("no room, though there was")
	}

	q = New[int](2)
	q.ring.tail.Add(1) // a putter claims the first slot
	go func() {
		v, ok := q.TryTake()
		answer <- ok && v == 7
	}()
	if early(answer) {
		t.Fatal("TryTake did not wait for the value")
	}
	q.ring.slots[0].value = 7
	q.ring.slots[0].turn.Store(1)
	if !<-answer {
		t.Error("no value, though there was one")
	}
}

// early reports whether an answer arrives within a few rounds of the scheduler.
func early(answer chan bool) bool {
	for range 1000 {
		select {
		case <-answer:
			return true
		default:
			runtime.Gosched()
		}
	}
	return false
}

// Two goroutines wait for each other all the time. If one wake-up were lost, both would hang. Only the value itself
// wakes them.
func TestNoWakeUpIsLost(t *testing.T) {
	ctx := context.Background()
	there, back := New[int](1), New[int](1)
	const rounds = 100_000
	var wg sync.WaitGroup
	wg.Go(func() {
		for n := range rounds {
			if v, err := there.TakeNext(ctx); v != n || err != nil {
				t.Error(v, err)
			}
			if n%3 == 0 {
				runtime.Gosched()
			}
			if err := back.Put(ctx, n); err != nil {
				t.Error(err)
			}
		}
	})
	for n := range rounds {
		if n%2 == 0 {
			if err := there.Put(ctx, n); err != nil {
				t.Error(err)
			}
		} else if !there.TryPut(n) {
			t.Error("full")
		}
		if v, err := back.TakeNext(ctx); v != n || err != nil {
			t.Error(v, err)
		}
	}
	wg.Wait()
}

// The same for space: all goroutines put into a queue of capacity one, and takers never wait.
func TestNoRoomIsLost(t *testing.T) {
	const putters, each = 8, 5000
	q := New[int](1)
	var wg sync.WaitGroup
	for range putters {
		wg.Go(func() {
			for n := range each {
				if err := q.Put(context.Background(), n); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for got := 0; got < putters*each; {
		if _, ok := q.TryTake(); ok {
			got++
		} else {
			runtime.Gosched()
		}
	}
	wg.Wait()
}

func TestNoAllocations(t *testing.T) {
	q := New[[17]uint64](64)
	ctx := context.Background()
	if n := testing.AllocsPerRun(1000, func() {
		if q.Put(ctx, [17]uint64{}) != nil || !q.TryPut([17]uint64{}) {
			t.Error("no room")
		}
		q.TryTake()
		if _, err := q.TakeNext(ctx); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A slot does not keep a taken value alive.
func TestTakenValuesAreForgotten(t *testing.T) {
	q := New[*int](4)
	for i := range 10 {
		q.TryPut(&i)
		q.TryTake()
	}
	for i := range q.ring.slots {
		if q.ring.slots[i].value != nil {
			t.Error("slot", i, "still holds a value")
		}
	}
}
