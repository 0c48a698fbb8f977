package virtualize

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"orbweaver/internal/vfs"
)

// Compares the index with a map, with keys that collide.
func TestIndex(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		x, model := newIndex(0), map[uint64]uint32{}
		spread := uint64(1) << (4 * rng.UintN(8))
		for range 5000 {
			key := rng.Uint64N(2000) * spread
			id, ok := x.find(key)
			want, known := model[key]
			if ok != known || (ok && (id != want || x.at(id).key != key)) {
				t.Fatalf("key %x: %d, %v; want %d, %v", key, id, ok, want, known)
			}
			switch {
			case !ok:
				model[key] = x.insert(key)
				x.at(model[key]).disk = 1 // otherwise the entry counts as free
			case rng.IntN(2) == 0:
				x.remove(id)
				delete(model, key)
			}
		}
		n := 0
		if err := x.each(func(id uint32, e *entry) error {
			n++
			if model[e.key] != id {
				return errors.New("a strange entry")
			}
			return nil
		}); err != nil || n != len(model) || x.count != n {
			t.Fatalf("%d entries, count %d, want %d: %v", n, x.count, len(model), err)
		}
	}
}

func TestOptions(t *testing.T) {
	o := Options{Dir: "d"}.WithDefaults()
	if err := o.Validate(); err != nil || o.SegmentBytes != 64<<20 || o.LiveRatioMin != 0.6 {
		t.Fatal(o, err)
	}
	err := Options{SegmentBytes: 100, LiveRatioMin: 2, BufferBytes: 1}.Validate()
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok || len(joined.Unwrap()) != 4 {
		t.Fatalf("not all faults: %v", err)
	}
	if _, err := Open(vfs.NewMem(1), Options{}, nil); err == nil {
		t.Fatal("opened nowhere")
	}
}

func TestTooLargeAndClosed(t *testing.T) {
	v := open(t, vfs.NewMem(1), nil)
	most := small.WithDefaults().MaxItem()
	if err := v.Append(1, make([]byte, most+1)); !errors.Is(err, ErrTooLarge) {
		t.Fatal(err)
	}
	for range 20 {
		must(t, v.Append(1, make([]byte, most)))
	}
	if n, err := v.Take(1, 100, func(item []byte) {}); n != 20 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := v.Take(2, 100, nil); n != 0 || err != nil {
		t.Fatal("a queue that is not there:", n, err)
	}
	must(t, v.Close())
	_, takeErr := v.Take(1, 1, nil)
	_, dropErr := v.Drop(1)
	_, cutErr := v.Snapshot()
	_, collectErr := v.Collect(1)
	for i, err := range []error{
		takeErr, dropErr, cutErr, collectErr, v.Append(1, nil), v.Each(1, nil), v.Check(), v.Release(Checkpoint{}), v.Close(),
	} {
		if !errors.Is(err, ErrClosed) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestCutSurvivesJSON(t *testing.T) {
	disk := vfs.NewMem(1)
	v := open(t, disk, nil)
	fill(t, v, 3, 0, 100)
	text, err := json.Marshal(mustCut(t, v))
	must(t, err)
	must(t, v.Close())
	var cut Checkpoint
	must(t, json.Unmarshal(text, &cut))
	v = open(t, disk, &cut)
	if v.Total() != 100 {
		t.Fatal(v.Total())
	}
	must(t, v.Close())
}

// One goroutine uses the queues while others take snapshots, sync, collect and read the counters. The last checkpoint
// contains what existed at its snapshot.
func TestManyAtOnce(t *testing.T) {
	disk := vfs.NewMem(1)
	v := open(t, disk, nil)
	v.portion = 100
	var others sync.WaitGroup
	stop := make(chan struct{})
	beside := func(f func() error) {
		others.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if err := f(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	images := make(chan *Snapshot)
	var last Checkpoint
	others.Go(func() {
		for image := range images {
			cut, err := image.Write()
			if err = errors.Join(err, v.Sync(), v.Release(cut)); err != nil {
				t.Error(err)
			}
			last = cut
		}
	})
	beside(v.Sync)
	beside(func() error { _, err := v.Collect(500); return err })
	beside(func() error {
		if s := v.Stats(); s.Items < 0 || s.ItemsTaken > s.Appended {
			t.Errorf("%+v", s)
		}
		return nil
	})
	var want []uint64
	for i := range 6000 {
		must(t, v.Append(uint64(i%20), number(i)))
		if i%3 == 0 {
			if _, err := v.Take(uint64(i%17), 4, func([]byte) {}); err != nil {
				t.Fatal(err)
			}
		}
		if i%500 == 0 {
			image, err := v.Snapshot()
			if errors.Is(err, ErrSnapshotOpen) {
				continue
			}
			must(t, err)
			want = want[:0]
			for key := range uint64(20) {
				want = append(want, v.Len(key))
			}
			images <- image
		}
	}
	close(stop)
	close(images)
	others.Wait()
	must(t, v.Check())
	must(t, v.Close())
	v = open(t, disk.CrashClone(nil), &last)
	must(t, v.Check())
	for key, n := range want {
		if got := v.Len(uint64(key)); got != n {
			t.Errorf("queue %d has %d items, want %d", key, got, n)
		}
	}
	must(t, v.Close())
}

// Blocks that are lost when a damaged queue is dropped do not count as live forever.
func TestCollectHealsAfterDamage(t *testing.T) {
	v := open(t, vfs.NewMem(1), nil)
	fill(t, v, 2, 0, 600)
	must(t, v.queues.flush())
	id, _ := v.queues.idx.find(0)
	s, i := v.queues.log.segments.locate(v.queues.idx.at(id).head)
	s.setNext(i, makeAddress(9999, 1))
	if n, err := v.Drop(0); n != 300 || !errors.Is(err, ErrCorrupt) {
		t.Fatal(n, err)
	}
	must(t, v.Check())
	if n, err := v.Take(1, 300, func([]byte) {}); n != 300 || err != nil {
		t.Fatal(n, err)
	}
	v.collector.liveRatioMin = 1
	settle(t, v)
	if s := v.Stats(); s.Segments > 1 {
		t.Fatalf("%d segments for nothing", s.Segments)
	}
	must(t, v.Close())
}

func TestNoAllocations(t *testing.T) {
	v, err := Open(vfs.NewMem(1), Options{Dir: "v", SegmentBytes: 1 << 20}, nil)
	must(t, err)
	item := number(1)
	for key := range uint64(2) {
		for range 10 {
			must(t, v.Append(key, item))
		}
	}
	n := 0
	emit := func([]byte) { n++ }
	got := testing.AllocsPerRun(2000, func() {
		if err := v.Append(1, item); err != nil {
			t.Fatal(err)
		}
		if err := v.queues.flush(); err != nil {
			t.Fatal(err)
		}
		if _, err := v.Take(1, 1, emit); err != nil {
			t.Fatal(err)
		}
	})
	// A new segment allocates; all fits into one here.
	if got > 0 || n == 0 {
		t.Errorf("%v allocations for an item", got)
	}
	must(t, v.Close())
}

// A long queue is read in slices, from disk and from the buffer, while its oldest items are taken.
func TestPeek_readsAQueueInSlices(t *testing.T) {
	v := open(t, vfs.NewMem(1), nil)
	defer v.Close()
	const items = 5000
	for n := range items {
		for _, key := range []uint64{1, 2, 3} {
			if err := v.Append(key, fmt.Appendf(nil, "/%d/%d", key, n)); err != nil {
				t.Fatal(err)
			}
		}
		if n == items-10 {
			if err := v.queues.flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	taken := 0
	for from, seen := uint64(0), 0; seen < items; {
		next, err := v.Peek(2, from, 700, func(item []byte) {
			if want := fmt.Sprintf("/2/%d", seen); string(item) != want {
				t.Fatalf("%q, want %q", item, want)
			}
			seen++
		})
		if err != nil || next == from {
			t.Fatal(next, err)
		}
		from = next
		n, err := v.Take(2, 50, func([]byte) {})
		if taken += n; err != nil {
			t.Fatal(err)
		}
	}
	if v.Len(2) != uint64(items-taken) {
		t.Errorf("%d items are left, and %d were taken", v.Len(2), taken)
	}
	if next, err := v.Peek(9, 0, 10, func([]byte) { t.Error("an item of no queue") }); next != 0 || err != nil {
		t.Error(next, err)
	}
}
