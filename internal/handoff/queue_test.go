package handoff

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// numbers returns pointers to n values from first on.
func numbers(first, n int) (values []*int) {
	for i := range n {
		v := first + i
		values = append(values, &v)
	}
	return values
}

// One goroutine, random operations, next to a slice.
func TestAgainstASlice(t *testing.T) {
	for _, capacity := range []int{1, 2, 3, 7, 8, 100} {
		rng := rand.New(rand.NewPCG(uint64(capacity), 1))
		q, model := New[int](capacity), []int(nil)
		taker := q.NewTaker()
		for step := range 20_000 {
			switch n := rng.IntN(q.Room() + 1); {
			case rng.IntN(100) < 30+20*(step/1000%3):
				q.Put(numbers(step, n))
				for i := range n {
					model = append(model, step+i)
				}
			case len(model) == 0:
				if v := q.TakeBack(); v != nil {
					t.Fatalf("capacity %d: %d came out of an empty queue", capacity, *v)
				}
			default:
				v, ok := q.TakeBack(), true
				if rng.IntN(2) == 0 && len(model) > 1 {
					model = model[1:]
					v, ok = taker.Next()
				}
				if !ok || *v != model[0] {
					t.Fatalf("capacity %d: got %d, %v, want %d", capacity, *v, ok, model[0])
				}
				model = model[1:]
			}
			if q.Len() != len(model) || q.Room() != capacity-len(model) {
				t.Fatalf("Len is %d, Room %d, with %d values of %d", q.Len(), q.Room(), len(model), capacity)
			}
		}
	}
}

// Of takers that wait, the last to come gets the next value, and a value that none waits for stays. Close wakes all
// others, and what is in the queue still comes out.
func TestTheLastToWaitIsServedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q, served := New[int](4), []int(nil)
		var wg sync.WaitGroup
		var mu sync.Mutex
		for id := range 5 {
			taker := q.NewTaker()
			wg.Go(func() {
				if v, ok := taker.Next(); ok {
					mu.Lock()
					served = append(served, 10*id+*v)
					mu.Unlock()
				}
			})
			synctest.Wait()
		}
		time.Sleep(time.Hour) // passes only if all takers wait, and none looks again and again
		q.Put(numbers(1, 1))
		synctest.Wait()
		q.Put(numbers(2, 2))
		synctest.Wait()
		slices.Sort(served)
		if !slices.Equal(served, []int{23, 32, 41}) {
			t.Errorf("takers and values: %v", served)
		}
		q.Put(numbers(5, 4))
		synctest.Wait()
		if q.Len() != 2 {
			t.Errorf("%d values wait for a taker, want 2", q.Len())
		}
		q.Close()
		q.Close()
		wg.Wait()
		late := q.NewTaker()
		for _, want := range []int{7, 8} {
			if v, ok := late.Next(); !ok || *v != want {
				t.Errorf("after Close: %v", ok)
			}
		}
		if _, ok := late.Next(); ok {
			t.Error("a value came out of a closed, empty queue")
		}
	})
}

func TestPutPanics(t *testing.T) {
	for name, q := range map[string]*Queue[int]{"full": New[int](2), "closed": New[int](3)} {
		t.Run(name, func(t *testing.T) {
			if name == "closed" {
				q.Close()
			}
			defer func() {
				if recover() == nil {
					t.Error("it took the values")
				}
			}()
			q.Put(numbers(0, 3))
		})
	}
}

// Thousands of takers, a putter that takes values back at times, and a Close: each value comes out once. A taker that
// lost a wake-up would hang.
func TestStress(t *testing.T) {
	for _, c := range []struct{ takers, capacity, values int }{
		{4000, 64, 100_000}, {8, 3, 100_000}, {1, 1, 20_000}, {3000, 1024, 100_000}, {64, 8, 100_000},
	} {
		q := New[int](c.capacity)
		var wg sync.WaitGroup
		got := make([][]int, c.takers+1)
		for k := range c.takers {
			taker := q.NewTaker()
			wg.Go(func() {
				for v, ok := taker.Next(); ok; v, ok = taker.Next() {
					got[k] = append(got[k], *v)
					if *v%3 == 0 {
						runtime.Gosched()
					}
				}
			})
		}
		rng := rand.New(rand.NewPCG(uint64(c.takers), 3))
		for n := 0; n < c.values; {
			batch := min(q.Room(), 1+rng.IntN(16), c.values-n)
			q.Put(numbers(n, batch))
			n += batch
			if rng.IntN(8) == 0 {
				if v := q.TakeBack(); v != nil {
					got[c.takers] = append(got[c.takers], *v)
				}
			}
			if batch == 0 {
				runtime.Gosched()
			}
		}
		q.Close()
		wg.Wait()
		all := slices.Concat(got...)
		slices.Sort(all)
		if len(all) != c.values || all[0] != 0 || all[len(all)-1] != c.values-1 || len(slices.Compact(all)) != c.values {
			t.Errorf("%d takers: %d values of %d came", c.takers, len(all), c.values)
		}
		for k, values := range got {
			if !slices.IsSorted(values) {
				t.Errorf("taker %d got %v", k, values)
			}
		}
	}
}

// Two goroutines wait for each other all the time. If one wake-up were lost, both would hang.
func TestNoWakeUpIsLost(t *testing.T) {
	there, back := New[int](1), New[int](1)
	const rounds = 100_000
	var wg sync.WaitGroup
	wg.Go(func() {
		for taker, n := there.NewTaker(), 0; n < rounds; n++ {
			v, ok := taker.Next()
			if !ok || *v != n {
				t.Error(n, ok)
			}
			if n%3 == 0 {
				runtime.Gosched()
			}
			back.Put([]*int{v})
		}
	})
	taker := back.NewTaker()
	for n := range rounds {
		there.Put([]*int{&n})
		if v, ok := taker.Next(); !ok || *v != n {
			t.Error(n, ok)
		}
	}
	wg.Wait()
}

func TestNoAllocations(t *testing.T) {
	q := New[[17]uint64](64)
	taker, values := q.NewTaker(), []*[17]uint64{new([17]uint64), new([17]uint64)}
	if n := testing.AllocsPerRun(1000, func() {
		q.Put(values)
		q.TakeBack()
		taker.Next()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
