package virtualize

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"orbweaver/internal/vfs"
)

// world is a Virtualizer with its expected lists, and the last checkpoint with a durable manifest.
type world struct {
	t     *testing.T
	rng   *rand.Rand
	opts  Options
	disk  *vfs.Mem
	v     *Virtualizer
	lists map[uint64][]string
	next  int
	keys  uint64
	cut   *Checkpoint
	saved map[uint64][]string

	image  *Snapshot // taken and not yet written
	marked map[uint64][]string
	writes int  // calls during the writing of a snapshot
	calm   bool // no calls happen during writes
}

// busyDisk calls a function before each write to an index file.
type busyDisk struct {
	vfs.FS
	during func()
}

func (d busyDisk) Create(name string) (vfs.File, error) { return d.busy(name, d.FS.Create) }
func (d busyDisk) OpenRW(name string) (vfs.File, error) { return d.busy(name, d.FS.OpenRW) }

func (d busyDisk) busy(name string, open func(string) (vfs.File, error)) (vfs.File, error) {
	f, err := open(name)
	if err != nil || !strings.Contains(name, "idx-") {
		return f, err
	}
	return busyFile{f, d.during}, nil
}

type busyFile struct {
	vfs.File
	during func()
}

func (f busyFile) WriteAt(p []byte, at int64) (int, error) {
	f.during()
	return f.File.WriteAt(p, at)
}

func newWorld(t *testing.T, seed uint64) *world {
	rng := rand.New(rand.NewPCG(seed, 1))
	w := &world{t: t, rng: rng, disk: vfs.NewMem(seed), keys: 1 + rng.Uint64N(300), lists: map[uint64][]string{}}
	w.opts = Options{
		Dir: "v", SegmentBytes: 8192 << rng.IntN(3), BufferBytes: 4096 << rng.IntN(3), LiveRatioMin: 0.3 + rng.Float64()*0.7,
	}
	w.open()
	return w
}

func (w *world) open() {
	w.t.Helper()
	v, err := Open(busyDisk{w.disk, w.meanwhile}, w.opts, w.cut)
	if err != nil {
		w.t.Fatal(err)
	}
	v.portion = 1 + w.rng.IntN(200)
	w.v, w.image = v, nil
	w.check()
	if files := segmentFiles(w.t, w.disk); int64(len(files)) != v.Stats().Segments {
		w.t.Fatalf("%d segments, and these files: %v", v.Stats().Segments, files)
	}
}

func (w *world) check() {
	w.t.Helper()
	if err := w.v.Check(); err != nil {
		w.t.Fatal(err)
	}
	total := 0
	for _, list := range w.lists {
		total += len(list)
	}
	stats := w.v.Stats()
	if w.v.Total() != uint64(total) || stats.Items != int64(total) || stats.Queues != int64(len(w.lists)) {
		w.t.Fatalf("%d items, want %d in %d queues: %+v", w.v.Total(), total, len(w.lists), stats)
	}
}

// key prefers small keys, so that some queues are long.
func (w *world) key() uint64 { return w.rng.Uint64N(1 + w.rng.Uint64N(w.keys)) }

func (w *world) item() string {
	w.next++
	size := w.rng.IntN(60)
	switch w.rng.IntN(60) {
	case 0:
		return ""
	case 1:
		size = w.rng.IntN(1000)
	}
	return fmt.Sprintf("%d:", w.next) + string(bytes.Repeat([]byte{'u'}, size))
}

func (w *world) append(key uint64, n int) {
	w.t.Helper()
	for range n {
		item := w.item()
		if err := w.v.Append(key, []byte(item)); err != nil {
			w.t.Fatal(err)
		}
		w.lists[key] = append(w.lists[key], item)
	}
}

func (w *world) take(key uint64, n int) {
	w.t.Helper()
	want := w.lists[key][:min(n, len(w.lists[key]))]
	var got []string
	took, err := w.v.Take(key, n, func(item []byte) { got = append(got, string(item)) })
	if err != nil {
		w.t.Fatal(err)
	}
	if took != len(got) || !slices.Equal(got, want) {
		w.t.Fatalf("queue %d: took %d, want %d; first %.30q", key, took, len(want), got)
	}
	w.lists[key] = w.lists[key][len(want):]
	w.tidy(key)
}

func (w *world) tidy(key uint64) {
	if len(w.lists[key]) == 0 {
		delete(w.lists, key)
	}
}

func (w *world) look(key uint64) {
	w.t.Helper()
	stop := w.rng.IntN(100)
	var got []string
	err := w.v.Each(key, func(item []byte) bool { got = append(got, string(item)); return len(got) <= stop })
	if err != nil {
		w.t.Fatal(err)
	}
	want := w.lists[key]
	if w.v.Len(key) != uint64(len(want)) || !slices.Equal(got, want[:min(len(want), stop+1)]) {
		w.t.Fatalf("queue %d has %d items, want %d", key, w.v.Len(key), len(want))
	}
}

func (w *world) drop(key uint64) {
	w.t.Helper()
	n, err := w.v.Drop(key)
	if err != nil || n != uint64(len(w.lists[key])) {
		w.t.Fatalf("dropped %d, want %d: %v", n, len(w.lists[key]), err)
	}
	delete(w.lists, key)
}

func (w *world) collect(budget int64) {
	w.t.Helper()
	if _, err := w.v.Collect(budget); err != nil {
		w.t.Fatal(err)
	}
}

// mark takes a snapshot if none is open.
func (w *world) mark() {
	w.t.Helper()
	image, err := w.v.Snapshot()
	if w.image != nil {
		if !errors.Is(err, ErrSnapshotOpen) {
			w.t.Fatalf("a second image at a time: %v", err)
		}
		return
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.image, w.marked = image, maps.Clone(w.lists)
}

// write writes the open snapshot while other calls happen.
func (w *world) write() Checkpoint {
	w.t.Helper()
	w.mark()
	cut, err := w.image.Write()
	if err != nil {
		w.t.Fatal(err)
	}
	w.image.Abandon() // has no effect
	w.image = nil
	return cut
}

// meanwhile makes random calls while a snapshot is written.
func (w *world) meanwhile() {
	if w.calm {
		return
	}
	w.writes++
	for range w.rng.IntN(6) {
		switch w.rng.IntN(8) {
		case 0:
			w.drop(w.key())
		case 1:
			w.collect(w.rng.Int64N(8192))
		case 2, 3:
			w.take(w.key(), w.rng.IntN(30))
		default:
			w.append(w.key(), w.rng.IntN(20))
		}
	}
}

func (w *world) checkpoint() {
	w.t.Helper()
	cut := w.write()
	if err := w.v.Sync(); err != nil {
		w.t.Fatal(err)
	}
	w.cut, w.saved = &cut, w.marked
	if w.rng.IntN(4) > 0 { // otherwise: killed before Release, or Release is late
		if err := w.v.Release(cut); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) crash(disk *vfs.Mem) {
	w.t.Helper()
	if err := w.v.Close(); err != nil {
		w.t.Fatal(err)
	}
	w.disk, w.lists = disk, maps.Clone(w.saved)
	if w.lists == nil {
		w.lists = map[uint64][]string{}
	}
	w.open()
}

func (w *world) takeAll() {
	w.t.Helper()
	for _, key := range slices.Sorted(maps.Keys(w.lists)) {
		w.take(key, 1<<30)
	}
	w.check()
}

// step is one random call.
func (w *world) step(big int) {
	w.t.Helper()
	switch w.rng.IntN(40) {
	case 0:
		w.check()
	case 1, 2:
		w.drop(w.key())
	case 3:
		w.checkpoint()
	case 4:
		w.write() // a checkpoint without a durable manifest
	case 36, 37:
		w.mark()
	case 38:
		if w.image != nil {
			w.image.Abandon()
			w.image = nil
		}
	case 5:
		w.crash(w.disk.KillClone())
	case 6:
		w.crash(w.disk.CrashClone(w.rng))
	case 7, 8, 9, 10, 11:
		w.collect(w.rng.Int64N(8192))
	case 12, 13:
		w.look(w.key())
	case 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24:
		w.take(w.key(), w.rng.IntN(2*big))
	default:
		w.append(w.key(), w.rng.IntN(big))
	}
}

// Under random calls, kills and power failures the queues equal the lists.
func TestV1_Model(t *testing.T) {
	var sum Stats
	writes := 0
	for seed := range uint64(24) {
		w := newWorld(t, seed)
		big := 1 + w.rng.IntN(60)
		for range 400 {
			w.step(big)
			s := w.v.Stats()
			sum.Collected += s.Collected
			sum.SegmentsDeleted += s.SegmentsDeleted
			sum.Moved += s.Moved
		}
		w.checkpoint()
		w.crash(w.disk.CrashClone(w.rng))
		w.takeAll()
		if err := w.v.Close(); err != nil {
			t.Fatal(err)
		}
		writes += w.writes
	}
	if sum.Collected == 0 || sum.SegmentsDeleted == 0 || sum.Moved == 0 || writes < 500 {
		t.Fatalf("the walk was too tame: %+v", sum)
	}
}
