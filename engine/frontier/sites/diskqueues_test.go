package sites

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"orbweaver/engine/frontier/order"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize"
	"orbweaver/workbench"
)

// The items of a site keep their order in memory, on disk, and when they are spilled and read back.
func TestDiskQueues_keepTheOrderOfASite(t *testing.T) {
	virt, err := virtualize.Open(vfs.NewMem(1), virtualize.Options{Dir: "queues", SegmentBytes: 1 << 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := virt.Close(); err != nil {
			t.Error(err)
		}
	}()
	s, vs := NewDiskQueues(virt), newVisitState(t)
	rng := rand.New(rand.NewPCG(1, 2))
	var memory []uint64
	came, left, spilled := uint64(0), uint64(0), 0
	check := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for left < 20_000 {
		switch rng.IntN(6) {
		case 0, 1: // a new item: to memory as long as nothing is on disk
			for range 1 + rng.IntN(30) {
				if onDisk(s, vs) == 0 && len(memory) < 64 {
					memory = append(memory, came)
				} else {
					check(s.Append(vs, binary.BigEndian.AppendUint64(nil, came)))
				}
				came++
			}
		case 2: // memory is short
			if len(memory) > 2 && s.CanSpill(vs) {
				check(s.Spill(vs, func(yield func([]byte) bool) {
					for _, n := range memory[2:] {
						if !yield(binary.BigEndian.AppendUint64(nil, n)) {
							return
						}
					}
				}))
				memory = memory[:2]
				spilled++
			}
		case 3: // it ran low
			if len(memory) < 2 {
				_, err := s.Take(vs, 1+rng.IntN(20), func(item []byte) {
					memory = append(memory, binary.BigEndian.Uint64(item))
				})
				check(err)
			}
		default: // visits
			for range min(len(memory), rng.IntN(10)) {
				if memory[0] != left {
					t.Fatalf("item %d left, and %d is the oldest", memory[0], left)
				}
				memory = memory[1:]
				left++
			}
		}
		if held := uint64(len(memory)) + onDisk(s, vs); held != came-left {
			t.Fatalf("%d items are held, %d came and %d left", held, came, left)
		}
	}
	if spilled < 100 {
		t.Errorf("only %d spills", spilled)
	}
}

// Urgent items leave before all others, whether they were spilled or found no room. Each class is a queue.
func TestDiskQueues_urgentItemsLeaveFirst(t *testing.T) {
	virt, err := virtualize.Open(vfs.NewMem(1), virtualize.Options{Dir: "q", SegmentBytes: 1 << 16}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := virt.Close(); err != nil {
			t.Error(err)
		}
	})
	s, vs := NewDiskQueues(virt), newVisitState(t)
	item := func(embeds int, path string) []byte {
		return queued.Append(nil, &queued.URL{Embeds: embeds, Rest: []byte(path)})
	}
	add := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	add(s.Append(vs, item(0, "/c")))
	add(s.Append(vs, item(1, "/2.png")))
	add(s.AppendDelayed(vs, item(0, "/late")))
	add(s.Spill(vs, func(yield func([]byte) bool) { _ = yield(item(2, "/1.png")) && yield(item(0, "/b")) }))
	if n, urgent := s.Len(vs); n != 5 || urgent != 2 || s.CanSpill(vs) {
		t.Errorf("%d items on disk, %d of them urgent, can spill: %v", n, urgent, s.CanSpill(vs))
	}
	var got []string
	for range 3 { // in parts
		_, err := s.Take(vs, 2, func(b []byte) { got = append(got, string(queued.MustDecode(b).Rest)) })
		add(err)
	}
	if want := "[/1.png /2.png /b /c /late]"; fmt.Sprint(got) != want {
		t.Errorf("%v, want %s", got, want)
	}
}

func onDisk(s DiskQueues, vs *visit.State) uint64 {
	n, _ := s.Len(vs)
	return n
}

func newVisitState(t *testing.T) *visit.State {
	t.Helper()
	vs, _ := workbench.New[site.State](workbench.Options{}).GetOrAdd([]byte("http://a.test"))
	return vs
}

// Ready URLs in queues of an order are counted together, and leave their queue in the order in which they came.
func TestDiskQueues_ofAnOrder(t *testing.T) {
	virt, err := virtualize.Open(vfs.NewMem(1), virtualize.Options{Dir: "queues"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := NewDiskQueues(virt)
	for i, queue := range []int{0, order.Queues - 1, 0} {
		if err := s.AppendOrdered(queue, []byte{byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if s.AllOrdered() != 3 || s.Ordered(0) != 2 || s.DelayedSites() != 0 {
		t.Errorf("%d URLs, %d of queue 0", s.AllOrdered(), s.Ordered(0))
	}
	for _, want := range []byte{0, 2} {
		n, err := s.TakeOrdered(0, func(item []byte) {
			if item[0] != want {
				t.Errorf("URL %d, want %d", item[0], want)
			}
		})
		if n != 1 || err != nil {
			t.Error(n, err)
		}
	}
	if err := virt.Close(); err != nil {
		t.Error(err)
	}
}
