package cold

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"orbweaver/internal/vfs"
)

func small() Options { return Options{Dir: "cold", Seed: 7, SegmentBytes: 1 << 10, BufferBytes: 300} }

// world is a store with its expected content.
type world struct {
	t     *testing.T
	rng   *rand.Rand
	disk  *vfs.Mem
	store *Store
	in    map[string]string
	cuts  []moment // the checkpoints that a resume may use: the last durable one and those after it
	next  int
}

type moment struct {
	cut Checkpoint
	in  map[string]string
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, rng: rand.New(rand.NewPCG(seed, 1)), disk: vfs.NewMem(seed), in: map[string]string{}}
	w.open(nil)
	w.checkpoint()
	return w
}

func (w *world) open(cut *Checkpoint) {
	w.t.Helper()
	var err error
	if w.store, err = Open(w.disk, small(), cut); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) put() {
	key := fmt.Sprintf("http://host%d.example", w.next)
	if w.next++; w.rng.IntN(3) == 0 && len(w.in) > 0 {
		key = w.some() // a known key: another one returns
		w.take(key)
	}
	form := make([]byte, w.rng.IntN(80))
	if w.rng.IntN(30) == 0 {
		form = make([]byte, w.rng.IntN(4000)) // longer than a file and than the first read
	}
	for i := range form {
		form[i] = byte(w.rng.Uint32())
	}
	w.store.Put([]byte(key), form)
	w.in[key] = string(form)
}

func (w *world) some() string {
	keys := slices.Sorted(maps.Keys(w.in))
	return keys[w.rng.IntN(len(keys))]
}

func (w *world) take(key string) {
	w.t.Helper()
	want, known := w.in[key]
	form, found, err := w.store.Take([]byte("before"), []byte(key))
	if err != nil || found != known || (found && string(form) != "before"+want) {
		w.t.Fatalf("%s: %v, %v; should be %v", key, found, err, known)
	}
	delete(w.in, key)
}

// checkpoint makes a checkpoint durable, as the engine does. Sometimes it stops before the manifest is written.
func (w *world) checkpoint() {
	w.t.Helper()
	cut := w.store.Checkpoint()
	w.cuts = append(w.cuts, moment{cut, maps.Clone(w.in)})
	for range w.rng.IntN(3) {
		w.put() // after the checkpoint
	}
	if err := w.store.Sync(); err != nil {
		w.t.Fatal(err)
	}
	if w.rng.IntN(4) == 0 {
		w.cuts = w.cuts[:len(w.cuts)-1]
		return
	}
	w.cuts = w.cuts[len(w.cuts)-1:]
	if w.rng.IntN(3) == 0 {
		if _, err := w.store.Collect(2000); err != nil {
			w.t.Fatal(err)
		}
	}
	if w.rng.IntN(4) > 0 {
		if err := w.store.Release(cut); err != nil {
			w.t.Fatal(err)
		}
	}
}

// crash reopens the store from the last checkpoint, on the disk as a kill or a power failure leaves it.
func (w *world) crash() {
	w.t.Helper()
	disk := w.disk.KillClone()
	if w.rng.IntN(2) == 0 {
		disk = w.disk.CrashClone(w.rng)
	}
	if err := w.store.Close(); err != nil {
		w.t.Fatal(err)
	}
	if _, _, err := w.store.Take(nil, []byte("http://nobody")); err != nil {
		w.t.Fatal("a host that is not in asks the disk:", err)
	}
	last := w.cuts[len(w.cuts)-1]
	w.disk, w.in = disk, maps.Clone(last.in)
	w.open(&last.cut)
	w.check()
}

func (w *world) check() {
	w.t.Helper()
	if err := w.store.Check(); err != nil {
		w.t.Fatal(err)
	}
	got := map[string]string{}
	err := w.store.Each(func(key, form []byte) bool { got[string(key)] = string(form); return true })
	if err != nil || !maps.Equal(got, w.in) || w.store.Len() != len(w.in) {
		w.t.Fatalf("%d hosts are in, should be %d: %v", len(got), len(w.in), err)
	}
}

// Compares the store with a map, through flushes, collections, failed checkpoints, kills and power failures.
func TestH2_model(t *testing.T) {
	for seed := range uint64(12) {
		w := newWorld(t, seed)
		for step := range 3000 {
			switch op := w.rng.IntN(100); {
			case op < 45-int(seed%3)*5:
				w.put()
			case op < 80 && len(w.in) > 0:
				w.take(w.some())
			case op < 86:
				w.take(fmt.Sprintf("http://nobody%d", step))
			case op < 90:
				if err := w.store.Flush(); err != nil {
					t.Fatal(err)
				}
			case op < 95:
				if _, err := w.store.Collect(int64(w.rng.IntN(2000))); err != nil {
					t.Fatal(err)
				}
			case op < 98:
				w.checkpoint()
			case op == 98:
				w.check()
			case step%3 == 0:
				w.crash()
			}
		}
		w.check()
		for len(w.in) > 0 {
			w.take(w.some())
		}
		if s := w.store.Stats(); s.Hosts != 0 || s.LiveBytes != 0 || w.store.hosts.sum != 0 {
			t.Fatalf("empty, and still %+v", s)
		}
	}
}

// The key on disk distinguishes two keys with the same hash.
func TestH1_theKeyOnDiskDecides(t *testing.T) {
	w := newWorld(t, 1)
	w.store.Put([]byte("http://a.example"), []byte("a"))
	twin := []byte("http://b.example")
	hash := w.store.hosts.hash(twin)
	w.store.hosts.table.add(hash, placeOf(w.store.log.tail)-uint64(sizeOf(17)/recordAlign)) // as if both had the same hash
	if form, found, err := w.store.Take(nil, twin); found || err != nil {
		t.Errorf("another host's form: %q, %v", form, err)
	}
	w.store.hosts.table.remove(hash, placeOf(w.store.log.tail)-uint64(sizeOf(17)/recordAlign))
	if form, found, err := w.store.Take(nil, []byte("http://a.example")); !found || err != nil || string(form) != "a" {
		t.Errorf("its own form: %q, %v, %v", form, found, err)
	}
}

// Garbage is bounded whenever Collect has nothing to do, and released files are removed from the disk.
func TestH4_theLogIsBounded(t *testing.T) {
	w := newWorld(t, 3)
	for range 40 {
		for range 100 {
			w.put()
		}
		for len(w.in) > 60 {
			w.take(w.some())
		}
		for done := int64(1); done > 0; {
			var err error
			if done, err = w.store.Collect(500); err != nil {
				t.Fatal(err)
			}
		}
		cut := w.store.Checkpoint()
		if err := errors.Join(w.store.Sync(), w.store.Release(cut)); err != nil {
			t.Fatal(err)
		}
		s, o := w.store.Stats(), small()
		if s.LogBytes > 2*s.LiveBytes+3*o.SegmentBytes {
			t.Fatalf("%d bytes of log for %d that are in", s.LogBytes, s.LiveBytes)
		}
		// One file more before the head, heads of files, and one record that is longer than its file at each end.
		if used := w.disk.Used(); used > 2*s.LiveBytes+4*o.SegmentBytes+8<<10+int64(len(w.store.segments.files))*segmentHead {
			t.Fatalf("%d bytes on disk for %d that are in", used, s.LiveBytes)
		}
	}
	w.check()
}

// A complete record at another position than that of its writing is invalid.
func TestH3_aRecordHasItsPlace(t *testing.T) {
	b := appendRecord(nil, Position{1, segmentHead}, kindHost, []byte("key"), []byte("form"))
	if _, fault := parseRecord(b, Position{1, segmentHead}); fault != "" {
		t.Error(fault)
	}
	for _, p := range []Position{{2, segmentHead}, {1, segmentHead + 8}} {
		if _, fault := parseRecord(b, p); fault == "" {
			t.Errorf("it is taken at %+v", p)
		}
	}
}

// Checksums cover every byte that matters.
func TestH3_damageIsFound(t *testing.T) {
	w := newWorld(t, 5)
	for range 30 {
		w.put()
	}
	for range 10 {
		w.take(w.some())
	}
	cut := w.store.Checkpoint()
	if err := errors.Join(w.store.Sync(), w.store.Close()); err != nil {
		t.Fatal(err)
	}
	names, err := w.disk.List("cold")
	if err != nil || len(names) < 2 {
		t.Fatal(names, err)
	}
	for _, base := range names {
		name := "cold/" + base
		content, err := vfs.ReadFile(w.disk, name)
		if err != nil {
			t.Fatal(err)
		}
		for at := range content {
			disk := w.disk.KillClone()
			damaged := bytes.Clone(content)
			damaged[at] ^= 0x41
			overwrite(t, disk, name, damaged)
			var corrupt *vfs.CorruptError
			if _, err := Open(disk, small(), &cut); !errors.As(err, &corrupt) || !errors.Is(err, vfs.ErrCorrupt) {
				t.Fatalf("byte %d of %s changed: %v", at, name, err)
			}
			if at%16 == 0 {
				overwrite(t, disk, name, content[:at])
				if _, err := Open(disk, small(), &cut); !errors.Is(err, vfs.ErrCorrupt) {
					t.Fatalf("%s cut at %d: %v", name, at, err)
				}
			}
		}
		disk := w.disk.KillClone()
		if err := disk.Remove(name); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(disk, small(), &cut); !errors.Is(err, vfs.ErrCorrupt) {
			t.Fatalf("%s is missing: %v", name, err)
		}
	}
	for _, wrong := range []Checkpoint{
		{},
		{Head: cut.Tail, Tail: cut.Head},
		{Head: cut.Head, Tail: cut.Tail, Hosts: cut.Hosts + 1, Sum: cut.Sum},
		{Head: cut.Head, Tail: cut.Tail, Hosts: cut.Hosts, Sum: cut.Sum + 1},
		{Head: cut.Head, Tail: Position{cut.Tail.Segment, 12}},
	} {
		if _, err := Open(w.disk.KillClone(), small(), &wrong); !errors.Is(err, vfs.ErrCorrupt) {
			t.Errorf("cut %+v: %v", wrong, err)
		}
	}
}

func overwrite(t *testing.T, disk *vfs.Mem, name string, content []byte) {
	t.Helper()
	f, err := disk.Create(name)
	if err == nil {
		_, err = f.Write(content)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}
