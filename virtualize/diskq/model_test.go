package diskq

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"orbweaver/internal/vfs"
)

// world is a queue with its expected list, and the last checkpoint with a durable manifest.
type world struct {
	t     *testing.T
	rng   *rand.Rand
	disk  *vfs.Mem
	q     *Queue
	list  []string
	next  int
	cut   *Checkpoint
	saved []string // the list at the checkpoint
}

var smallOptions = Options{Dir: "q", SegmentBytes: 4 << 10}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, rng: rand.New(rand.NewPCG(seed, 1)), disk: vfs.NewMem(seed)}
	w.open()
	return w
}

func (w *world) open() {
	w.t.Helper()
	q, err := Open(w.disk, smallOptions, w.cut)
	if err != nil {
		w.t.Fatal(err)
	}
	w.q, w.list = q, slices.Clone(w.saved)
	w.check()
}

func (w *world) check() {
	w.t.Helper()
	if err := w.q.Check(); err != nil {
		w.t.Fatal(err)
	}
	if got := w.q.Len(); got != uint64(len(w.list)) {
		w.t.Fatalf("%d items, want %d", got, len(w.list))
	}
}

// item returns items of all sizes: empty, like URLs, and sometimes larger than a segment.
func (w *world) item() string {
	w.next++
	head := fmt.Sprintf("%d:", w.next)
	switch w.rng.IntN(40) {
	case 0:
		return ""
	case 1:
		return head + string(bytes.Repeat([]byte{'x'}, w.rng.IntN(9000)))
	}
	return head + string(bytes.Repeat([]byte{'u'}, w.rng.IntN(120)))
}

func (w *world) append(n int) {
	w.t.Helper()
	for range n {
		item := w.item()
		if err := w.q.Append([]byte(item)); err != nil {
			w.t.Fatal(err)
		}
		w.list = append(w.list, item)
	}
}

func (w *world) read(n int) {
	w.t.Helper()
	for range n {
		peeked := 0
		w.q.Peek(3, func(item []byte) {
			if peeked >= len(w.list) || string(item) != w.list[peeked] {
				w.t.Fatalf("peek %.40q as number %d of %d items", item, peeked, len(w.list))
			}
			peeked++
		})
		got, ok, err := w.q.Read([]byte("before"))
		if err != nil {
			w.t.Fatal(err)
		}
		if ok != (len(w.list) > 0) {
			w.t.Fatalf("read: ok %v with %d items", ok, len(w.list))
		}
		if !ok {
			return
		}
		if string(got) != "before"+w.list[0] {
			w.t.Fatalf("read %.40q, want %.40q", got[6:], w.list[0])
		}
		w.list = w.list[1:]
	}
}

// checkpoint does what the engine does: checkpoint, sync, write the manifest, release.
func (w *world) checkpoint() {
	w.t.Helper()
	cut, err := w.q.Checkpoint()
	if err != nil {
		w.t.Fatal(err)
	}
	if err := w.q.Sync(); err != nil {
		w.t.Fatal(err)
	}
	w.cut, w.saved = &cut, slices.Clone(w.list)
	if err := w.q.Release(cut); err != nil {
		w.t.Fatal(err)
	}
}

// crash simulates a kill or a power failure and opens the checkpoint of the manifest.
func (w *world) crash(disk *vfs.Mem) {
	w.t.Helper()
	if err := w.q.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.disk = disk
	w.open()
}

// Q1, Q2 and Q3: under random calls, kills and power failures a queue equals the list.
func TestQ1_Model(t *testing.T) {
	for seed := range uint64(12) {
		w := newWorld(t, seed)
		big := 1 + w.rng.IntN(200)
		for range 150 {
			switch w.rng.IntN(16) {
			case 0, 1, 2, 3, 4:
				w.append(w.rng.IntN(big))
			case 5, 6, 7, 8, 9:
				w.read(w.rng.IntN(big))
			case 10:
				w.read(len(w.list) + 1)
			case 11:
				w.check()
			case 12:
				w.checkpoint()
			case 13:
				if _, err := w.q.Checkpoint(); err != nil { // a checkpoint without a durable manifest
					t.Fatal(err)
				}
			case 14:
				w.crash(w.disk.KillClone())
			case 15:
				w.crash(w.disk.CrashClone(w.rng))
			}
		}
		w.checkpoint()
		w.crash(w.disk.CrashClone(w.rng))
		w.read(len(w.list) + 1)
		if err := w.q.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestQ2_RollbackGivesBackWhatWasUnread(t *testing.T) {
	w := newWorld(t, 3)
	w.append(3000)
	w.read(777)
	w.checkpoint()
	w.read(1500)
	w.append(2000)
	w.read(1500)
	for range 20 {
		copied := &world{t: t, rng: w.rng, disk: w.disk.CrashClone(w.rng), cut: w.cut, saved: w.saved}
		copied.open()
		copied.read(len(copied.list) + 1)
		if err := copied.q.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.q.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestQ3_OnlyReleasedSegmentsGo(t *testing.T) {
	w := newWorld(t, 4)
	w.append(2000)
	w.checkpoint()
	before, err := w.disk.List("q")
	if err != nil {
		t.Fatal(err)
	}
	w.read(2000)
	w.append(100)
	if after, err := w.disk.List("q"); err != nil || len(after) < len(before) {
		t.Fatalf("%d files, then %d: %v", len(before), len(after), err)
	}
	w.checkpoint()
	w.read(50)
	if got := w.q.Stats().Segments; got > 5 {
		t.Fatalf("%d segments are kept for 100 items", got)
	}
	if after, err := w.disk.List("q"); err != nil || len(after) > 5 {
		t.Fatalf("%d files are kept for 100 items: %v", len(after), err)
	}
	w.crash(w.disk.KillClone())
	w.read(101)
}

// Appends fail while the disk is full, and reads work. When there is space again, no item is missing, repeated or out
// of order.
func TestQ4_FullDisk(t *testing.T) {
	for seed := range uint64(4) {
		w := newWorld(t, seed)
		w.append(500)
		w.checkpoint()
		refused := 0
		for range 100 {
			w.disk.SetLimit(w.disk.Used() + int64(w.rng.IntN(30000)))
			for range 100 {
				item := w.item()
				err := w.q.Append([]byte(item))
				switch {
				case err == nil:
					w.list = append(w.list, item)
				case errors.Is(err, syscall.ENOSPC) && vfs.IsFull(err):
					refused++
					w.read(w.rng.IntN(3))
				default:
					t.Fatal(err)
				}
			}
			if w.rng.IntN(10) == 0 {
				w.read(w.rng.IntN(5000))
			}
		}
		if refused == 0 || w.q.Stats().FullFailures == 0 {
			t.Fatal("the disk was never full")
		}
		w.disk.SetLimit(-1)
		w.append(100)
		w.check()
		w.checkpoint()
		w.crash(w.disk.CrashClone(w.rng))
		w.read(len(w.list) + 1)
	}
}

// What was written after the checkpoint does not appear again, even if the segment is full before it is overwritten.
func TestQ2_NothingBehindTheCutComesBack(t *testing.T) {
	w := newWorld(t, 5)
	big := string(bytes.Repeat([]byte{'b'}, 2500))
	put := func(items ...string) {
		for _, item := range items {
			if err := w.q.Append([]byte(item)); err != nil {
				t.Fatal(err)
			}
			w.list = append(w.list, item)
		}
		if _, err := w.q.Checkpoint(); err != nil {
			t.Fatal(err)
		}
	}
	put("before")
	w.checkpoint()
	put(big)
	put("behind the cut", "and more")
	w.crash(w.disk.KillClone())
	put("after")
	put(big + big)
	w.check()
	w.read(4)
	if err := w.q.Close(); err != nil {
		t.Fatal(err)
	}
}
