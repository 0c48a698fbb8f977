package virtualize

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
)

var small = Options{Dir: "v", SegmentBytes: 8192, BufferBytes: 4096}

func open(t *testing.T, fsys vfs.FS, cut *Checkpoint) *Virtualizer {
	t.Helper()
	v, err := Open(fsys, small, cut)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func number(i int) []byte { return binary.BigEndian.AppendUint64(make([]byte, 0, 50), uint64(i))[:50] }

// fill appends the numbers to queues 0 to keys-1 in turn.
func fill(t *testing.T, v *Virtualizer, keys, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := v.Append(uint64(i%keys), number(i)); err != nil {
			t.Fatal(err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// cutNow takes a snapshot and writes it.
func cutNow(v *Virtualizer) (Checkpoint, error) {
	image, err := v.Snapshot()
	if err != nil {
		return Checkpoint{}, err
	}
	return image.Write()
}

func mustCut(t *testing.T, v *Virtualizer) Checkpoint {
	t.Helper()
	cut, err := cutNow(v)
	must(t, err)
	must(t, v.Sync())
	return cut
}

// settle calls Collect until it returns 0.
func settle(t *testing.T, v *Virtualizer) {
	t.Helper()
	for {
		moved, err := v.Collect(1 << 20)
		must(t, err)
		if moved == 0 {
			return
		}
	}
}

// Until its release a checkpoint can be opened, whatever is taken, dropped and moved after it.
func TestV1_EveryCutCanBeGoneBackTo(t *testing.T) {
	w := newWorld(t, 5)
	w.opts.LiveRatioMin = 1
	for range 60 {
		w.append(w.key(), 30)
	}
	cut := w.write()
	must(t, w.v.Sync())
	w.cut, w.saved = &cut, w.marked
	for range 300 {
		w.append(w.key(), w.rng.IntN(20))
		w.take(w.key(), w.rng.IntN(40))
		w.drop(w.key())
		w.collect(w.rng.Int64N(20000))
		if w.rng.IntN(10) == 0 {
			mustCut(t, w.v)
		}
	}
	for range 5 {
		again := *w
		again.disk, again.lists = w.disk.CrashClone(w.rng), maps.Clone(w.saved)
		again.open()
		again.takeAll()
		must(t, again.v.Close())
	}
	must(t, w.v.Close())
}

// The relocations at the moment of the snapshot are valid, even if blocks move while it is written.
func TestV1_BlocksMoveWhileAnImageIsWritten(t *testing.T) {
	for seed := range uint64(3) {
		w := newWorld(t, seed)
		w.opts = Options{Dir: "v", SegmentBytes: 8192, BufferBytes: 4096, LiveRatioMin: 1}
		w.crash(w.disk)
		w.keys = 6
		for key := range w.keys {
			w.append(key, 600)
		}
		for round := range 10 {
			w.take(w.key(), 40)
			w.append(w.key(), 40)
			w.collect(3000)
			w.mark()
			w.collect(int64(round%3) * 3000)
			w.checkpoint()
			again := *w
			again.disk, again.lists = w.disk.KillClone(), maps.Clone(w.saved)
			again.open()
			must(t, again.v.Close())
			for key := range w.keys {
				w.append(key, max(0, 500-len(w.lists[key])))
			}
		}
		if w.v.Stats().Moved == 0 {
			t.Error("nothing was moved")
		}
		must(t, w.v.Close())
	}
}

// Taking a snapshot uses no file. Writing it costs what has changed, and sometimes everything, so that all snapshots
// together write a few times what changed.
func TestCutMarksAndWritesWhatChanged(t *testing.T) {
	const queues = 10000
	script := faultfs.NewScript()
	v, err := Open(faultfs.New(vfs.NewMem(1), script), Options{Dir: "v", SegmentBytes: 1 << 20, BufferBytes: 1 << 16},
		nil)
	must(t, err)
	fill(t, v, queues, 0, 2*queues)
	calls := func() (n int) {
		for op := faultfs.Open; op <= faultfs.Free; op++ {
			n += script.Calls(op)
		}
		return n
	}
	base := mustCut(t, v)
	last, written, bases := base, int64(0), 0
	for i := range 600 {
		for k := range 20 {
			if _, err := v.Take(uint64(i*20+k)%queues, 1, func([]byte) {}); err != nil {
				t.Fatal(err)
			}
			must(t, v.Append(uint64(i*20+k)%queues, number(k)))
		}
		before := calls()
		image, err := v.Snapshot()
		must(t, err)
		if after := calls(); after != before {
			t.Fatalf("marking a cut made %d calls of the file system", after-before)
		}
		cut, err := image.Write()
		must(t, err)
		must(t, v.Release(cut))
		if cut.Base != last.Base {
			bases++
			written += int64(cut.Length)
		} else {
			written += int64(cut.Length - last.Length)
		}
		last = cut
	}
	if each := written / 600 / 20; each > 150 || bases == 0 || bases > 5 {
		t.Errorf("%d bytes written for a changed queue, and %d new bases of %d bytes", each, bases, base.Length)
	}
	must(t, v.Check())
	must(t, v.Close())
}

// After bits of segment files are flipped, a returned item is an original one at its position, and everything else is
// an error.
func TestV2_FlippedBitIsNeverReadAsAnItem(t *testing.T) {
	disk := vfs.NewMem(1)
	v := open(t, disk, nil)
	fill(t, v, 7, 0, 700)
	cut := mustCut(t, v)
	must(t, v.Close())
	names, err := disk.List("v")
	must(t, err)
	rng := rand.New(rand.NewPCG(1, 1))
	found := 0
	for range 300 {
		bad := disk.KillClone()
		name := "v/" + names[1+rng.IntN(len(names)-1)] // names[0] is the index
		f, err := bad.OpenRW(name)
		must(t, err)
		at, one := rng.Int64N(small.SegmentBytes), []byte{0}
		_, err = f.ReadAt(one, at)
		must(t, err)
		one[0] ^= 1 << rng.IntN(8)
		_, err = f.WriteAt(one, at)
		must(t, errors.Join(err, f.Close()))
		v, err := Open(bad, small, &cut)
		if err != nil {
			found++
			continue
		}
		checked := v.Check()
		for key := range uint64(7) {
			i := int(key)
			_, err := v.Take(key, 1000, func(item []byte) {
				if !bytes.Equal(item, number(i)) {
					t.Fatalf("%s: bit at %d: item %x instead of %d", name, at, item, i)
				}
				i += 7
			})
			if (err == nil) != (i == 700+int(key)) || (err != nil && (checked == nil || !errors.Is(err, ErrCorrupt))) {
				t.Fatalf("%s: bit at %d: queue %d ended at %d: %v; check: %v", name, at, key, i, err, checked)
			}
		}
		if checked != nil {
			found++
		}
		must(t, v.Close())
	}
	if found < 75 {
		t.Fatalf("only %d of 300 flipped bits were found", found)
	}
}

func TestV2_TornTailIsCutAtOpen(t *testing.T) {
	disk := vfs.NewMem(1)
	v := open(t, disk, nil)
	fill(t, v, 7, 0, 300)
	cut := mustCut(t, v)
	fill(t, v, 7, 300, 900)
	if _, err := cutNow(v); err != nil { // written, not synced
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		v := open(t, disk.CrashClone(rng), &cut)
		must(t, v.Check())
		fill(t, v, 7, 300, 400)
		must(t, v.Check())
		must(t, v.Close())
	}
	must(t, v.Close())
}

func segmentFiles(t *testing.T, disk *vfs.Mem) (segments []string) {
	t.Helper()
	names, err := disk.List("v")
	must(t, err)
	for _, name := range names {
		if _, ok := parseName(name, "seg-", 8); ok {
			segments = append(segments, name)
		}
	}
	return segments
}

// Emptied segments stay while a checkpoint needs them, and are deleted at its release.
func TestV3_SpaceComesBackWhenNobodyNeedsIt(t *testing.T) {
	disk := vfs.NewMem(1)
	v := open(t, disk, nil)
	fill(t, v, 50, 0, 3000)
	first := mustCut(t, v)
	must(t, v.Release(first))
	full := len(segmentFiles(t, disk))
	for key := range uint64(49) {
		if _, err := v.Drop(key); err != nil {
			t.Fatal(err)
		}
	}
	settle(t, v)
	if got := len(segmentFiles(t, disk)); got < full {
		t.Fatalf("%d segments of %d are left, and the released cut needs all", got, full)
	}
	second := mustCut(t, v)
	settle(t, v)
	if got := len(segmentFiles(t, disk)); got < full {
		t.Fatalf("%d segments of %d are left, and the first cut may still be gone back to", got, full)
	}
	must(t, v.Release(second))
	if got := len(segmentFiles(t, disk)); got > 3 {
		t.Fatalf("%d segments for 60 items: %v", got, segmentFiles(t, disk))
	}
	must(t, v.Check())
	i := 49
	n, err := v.Take(49, 100, func(item []byte) {
		if !bytes.Equal(item, number(i)) {
			t.Errorf("%x instead of %d", item, i)
		}
		i += 50
	})
	if n != 60 || err != nil {
		t.Fatal(n, err)
	}
	must(t, v.Close())
}

// With Collect, the files are at most a little larger than the live bytes, for any number of steps.
func TestV3_SpaceIsBounded(t *testing.T) {
	disk := vfs.NewMem(1)
	v := open(t, disk, nil)
	rng := rand.New(rand.NewPCG(1, 1))
	fill(t, v, 40, 0, 2000)
	for i := range 6000 {
		must(t, v.Append(rng.Uint64N(40)*rng.Uint64N(2), number(i)))
		for v.Total() > 2000 {
			if _, err := v.Take(rng.Uint64N(40), 3, func([]byte) {}); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := v.Collect(400); err != nil {
			t.Fatal(err)
		}
		if i%1000 == 0 {
			must(t, v.Release(mustCut(t, v)))
			settle(t, v)
			must(t, v.Release(mustCut(t, v)))
			s := v.Stats()
			if bound := 2*s.Live + 3*small.SegmentBytes; s.Disk > bound {
				t.Fatalf("round %d: %d bytes on disk, %d live", i, s.Disk, s.Live)
			}
		}
	}
	must(t, v.Check())
	must(t, v.Close())
}

// A full disk refuses appends and snapshots, Take returns all items, and all works again when there is space.
func TestFullDiskLosesNothing(t *testing.T) {
	for seed := range uint64(2) {
		w := newWorld(t, seed)
		w.calm = true
		w.append(1, 100)
		w.checkpoint()
		refused := 0
		for range 30 {
			w.disk.SetLimit(w.disk.Used() + w.rng.Int64N(3*w.opts.SegmentBytes/2))
			for range 100 {
				key, item := w.key(), w.item()
				switch err := w.v.Append(key, []byte(item)); {
				case err == nil:
					w.lists[key] = append(w.lists[key], item)
				case errors.Is(err, syscall.ENOSPC) && vfs.IsFull(err):
					refused++
				default:
					t.Fatal(err)
				}
			}
			if _, err := w.v.Collect(5000); err != nil && !vfs.IsFull(err) {
				t.Fatal(err)
			}
			if _, err := cutNow(w.v); err != nil && !vfs.IsFull(err) {
				t.Fatal(err)
			}
			w.take(w.key(), 10)
			w.check()
		}
		if refused == 0 || w.v.Stats().FullFailures == 0 {
			t.Fatal("the disk was never full")
		}
		w.disk.SetLimit(-1)
		w.checkpoint()
		w.crash(w.disk.CrashClone(w.rng))
		w.takeAll()
		must(t, w.v.Close())
	}
}

func TestFailedSyncSticks(t *testing.T) {
	for _, op := range []faultfs.Op{faultfs.Sync, faultfs.MapSync, faultfs.SyncDir} {
		script := faultfs.NewScript(faultfs.Rule{Op: op, Count: 1, Err: syscall.ENOSPC})
		v := open(t, faultfs.New(vfs.NewMem(1), script), nil)
		fill(t, v, 3, 0, 100)
		_, err := cutNow(v)
		must(t, err)
		_, cutErr := error(nil), v.Sync()
		_, again := cutNow(v)
		for i, err := range []error{cutErr, v.Sync(), again, v.Append(1, nil)} {
			if err == nil || vfs.IsFull(err) {
				t.Errorf("op %d, call %d: %v", op, i, err)
			}
		}
		if n, err := v.Take(0, 1, func([]byte) {}); n != 1 || err != nil {
			t.Errorf("what is there can be taken: %d, %v", n, err)
		}
		must(t, v.Close())
	}
}

// Single calls of every kind fail. A later attempt, or a new Open, finds all items.
func TestFaultsAnywhere(t *testing.T) {
	for op := faultfs.Open; op <= faultfs.Free; op++ {
		for nth := range 3 {
			t.Run(fmt.Sprintf("op %d call %d", op, nth+1), func(t *testing.T) {
				disk := vfs.NewMem(1)
				v := open(t, disk, nil)
				fill(t, v, 20, 0, 1000)
				cut := mustCut(t, v)
				must(t, v.Close())
				script := faultfs.NewScript(faultfs.Rule{Op: op, From: nth + 1, Count: 1, Err: syscall.EIO})
				fsys := faultfs.New(disk, script)
				v, err := Open(fsys, small, &cut)
				if err != nil {
					return // It could not be opened; opening again would be the first step of the next test.
				}
				for key := range uint64(15) {
					if _, err := v.Drop(key); err != nil {
						t.Fatal(err)
					}
				}
				for range 3 {
					_, collectErr := v.Collect(1 << 20)
					next, cutErr := cutNow(v)
					syncErr := v.Sync()
					if cutErr == nil && syncErr == nil {
						releaseErr := v.Release(next)
						cut = next
						if releaseErr != nil && !errors.Is(releaseErr, syscall.EIO) {
							t.Fatal(releaseErr)
						}
					}
					for _, err := range []error{collectErr, cutErr, syncErr} {
						if err != nil && !errors.Is(err, syscall.EIO) {
							t.Fatal(err)
						}
					}
				}
				must(t, v.Check())
				if err := v.Close(); err != nil && !errors.Is(err, syscall.EIO) {
					t.Fatal(err)
				}
				v = open(t, disk.CrashClone(nil), &cut)
				must(t, v.Check())
				var got []int
				emit := func(item []byte) { got = append(got, int(binary.BigEndian.Uint64(item))) }
				if _, err := v.Take(19, 100, emit); err != nil {
					t.Fatal(err)
				}
				if len(got) != 50 || got[0] != 19 || !slices.IsSorted(got) {
					t.Fatal(got)
				}
				must(t, v.Close())
			})
		}
	}
}
