package workbench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/invariants"
)

// flag marks an item as urgent in its first byte; see IsUrgent.
const flag = 0x40

func urgentQueued(name string) []byte { return append([]byte{flag, 0}, name...) }

func plainQueued(name string) []byte { return append([]byte{0, 0}, name...) }

// Compares one class with a slice of slices, while its ring grows, wraps and shrinks.
func TestQueue_oneClassAgainstSlices(t *testing.T) {
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var q itemQueue
		var model [][]byte
		for step := range 20_000 {
			item := make([]byte, rng.IntN(1+rng.IntN(40)))
			if rng.IntN(200) == 0 {
				item = make([]byte, rng.IntN(40_000)) // the length takes three bytes
			}
			for i := range item {
				item[i] = byte(rng.Uint32())
			}
			bias, op := step/2000%2*40, rng.IntN(100)
			switch {
			case op < 20+bias/2:
				q.PushBack(item, false)
				model = append(model, item)
			case op < 35+bias:
				q.PushFront(item, false)
				model = slices.Insert(model, 0, item)
			case len(model) > 0:
				if got := q.PopFront(nil); !bytes.Equal(got, model[0]) {
					t.Fatalf("step %d: got %q, want %q", step, got, model[0])
				}
				q.Shrink()
				model = model[1:]
			}
			size := 0
			for _, m := range model {
				size += prefixLen(len(m)) + len(m)
			}
			if q.Count() != len(model) || q.Size() != size || q.Size() > q.Room() {
				t.Fatalf("step %d: %d items, %d bytes; want %d, %d", step, q.Count(), q.Size(), len(model), size)
			}
		}
	}
}

// Compares the queue with two lists, and with itself after a snapshot.
func TestQueue_twoClassesAgainstTwoLists(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	q := new(itemQueue)
	var urgent, others []string
	for step := range 20_000 {
		name := fmt.Sprint(step, strings.Repeat("x", rng.IntN(200)))
		switch op := rng.IntN(9); op {
		case 0, 1, 2, 3:
			list, item := &others, plainQueued(name)
			if op%2 == 0 {
				list, item = &urgent, urgentQueued(name)
			}
			if op < 2 {
				q.PushFront(item, op%2 == 0)
				*list = slices.Insert(*list, 0, name)
			} else {
				q.PushBack(item, op%2 == 0)
				*list = append(*list, name)
			}
		case 4:
			q = loadQueue(q.AppendRaw(nil), q.Count(), flag)
		default:
			list := &urgent
			if len(urgent) == 0 {
				list = &others
			}
			if len(*list) == 0 {
				continue
			}
			if got := string(q.PopFront(nil)[2:]); got != (*list)[0] {
				t.Fatalf("step %d: %.20s, want %.20s", step, got, (*list)[0])
			}
			*list = (*list)[1:]
			q.Shrink()
		}
		if q.UrgentCount() != len(urgent) || q.Count() != len(urgent)+len(others) {
			t.Fatalf("step %d: %d urgent of %d items", step, q.UrgentCount(), q.Count())
		}
	}
}

// A reader takes all items, and the queue keeps them.
func TestReader_leavesTheQueueAsItWas(t *testing.T) {
	var q itemQueue
	for _, name := range []string{"a", "b", "c"} {
		q.PushBack(plainQueued(name), false)
		q.PushBack(urgentQueued(name), true)
	}
	before := q.AppendRaw(nil)
	read := q.Reader()
	var got []string
	for read.Count() > 0 {
		got = append(got, string(read.PopFront(nil)[2:]))
	}
	if strings.Join(got, "") != "abcabc" || !bytes.Equal(q.AppendRaw(nil), before) || q.Count() != 6 {
		t.Errorf("read %q; the queue has %d items", got, q.Count())
	}
}

func TestQueue_releasesMemory(t *testing.T) {
	for _, urgent := range []bool{false, true} {
		var q itemQueue
		for range 10_000 {
			q.PushBack(make([]byte, 30), urgent)
		}
		for q.Count() > 10 {
			q.PopFront(nil)
			q.Shrink()
		}
		if q.Room() > 2000 {
			t.Errorf("%d bytes for ten items of 31", q.Room())
		}
	}
}

// A page with many images puts many urgent items before others. A queue that moved the urgent items for each new one
// took 30 seconds for half as many.
func TestPushBack_costsTheSameBehindManyUrgentItems(t *testing.T) {
	var q itemQueue
	q.PushBack(plainQueued("page"), false)
	item := urgentQueued(strings.Repeat("x", 60))
	begun := time.Now()
	for range 200_000 {
		q.PushBack(item, true)
	}
	if took := time.Since(begun); took > 5*time.Second && !invariants.Race {
		t.Errorf("200,000 items took %v", took)
	}
}

// A queue that another site takes over is empty, and needs no memory of its own for either class.
func TestClear_keepsTheMemoryForTheNextSite(t *testing.T) {
	var q itemQueue
	plain, urgent := plainQueued("page"), urgentQueued("image")
	allocs := testing.AllocsPerRun(100, func() {
		q.PushBack(plain, false)
		q.PushBack(urgent, true)
		q.Clear()
	})
	if allocs > 0 || q.Count() != 0 || q.UrgentCount() != 0 || q.Size() != 0 {
		t.Errorf("%v allocations; %d items, %d urgent, %d bytes", allocs, q.Count(), q.UrgentCount(), q.Size())
	}
}

func TestPrefixLen(t *testing.T) {
	for n, want := range map[int]int{0: 1, 1: 1, 127: 1, 128: 2, 16383: 2, 16384: 3, 1 << 21: 4} {
		if got := prefixLen(n); got != want {
			t.Errorf("%d: %d, want %d", n, got, want)
		}
	}
}

func BenchmarkPushPop(b *testing.B) {
	for _, urgent := range []bool{false, true} {
		b.Run(fmt.Sprintf("urgent=%t", urgent), func(b *testing.B) {
			var q itemQueue
			item, buf := plainQueued(strings.Repeat("x", 40)), []byte(nil)
			for range 100 {
				q.PushBack(item, urgent)
			}
			b.ReportAllocs()
			for b.Loop() {
				q.PushBack(item, urgent)
				buf = q.PopFront(buf[:0])
			}
		})
	}
}
