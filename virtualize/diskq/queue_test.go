package diskq

import (
	"encoding/binary"
	"errors"
	"io"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
)

func open(t *testing.T, fsys vfs.FS, cut *Checkpoint) *Queue {
	t.Helper()
	q, err := Open(fsys, smallOptions, cut)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func fill(t *testing.T, q *Queue, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if err := q.Append(binary.BigEndian.AppendUint64(nil, uint64(i))); err != nil {
			t.Fatal(err)
		}
	}
}

func TestShortQueueNeverTouchesTheDisk(t *testing.T) {
	disk := vfs.NewMem(1)
	q := open(t, disk, nil)
	for i := range 100000 {
		fill(t, q, i, i+3)
		for range 3 {
			if _, ok, err := q.Read(nil); !ok || err != nil {
				t.Fatal(ok, err)
			}
		}
	}
	if s := q.Stats(); s.BytesOut != 0 || s.Read != 300000 {
		t.Fatalf("%+v", s)
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
}

// Peek finds the items in memory, and no more than it is asked for. It finds none after Close.
func TestPeek(t *testing.T) {
	q := open(t, vfs.NewMem(1), nil)
	peek := func(most int) (n int) {
		q.Peek(most, func([]byte) { n++ })
		return n
	}
	fill(t, q, 0, 3)
	if n, all := peek(2), peek(9); n != 2 || all != 3 {
		t.Errorf("peeked at %d and %d items", n, all)
	}
	if err := q.Close(); err != nil || peek(9) != 0 {
		t.Errorf("%d items after Close, %v", peek(9), err)
	}
}

func TestFailedWriteSticks(t *testing.T) {
	script := faultfs.NewScript()
	q := open(t, faultfs.New(vfs.NewMem(1), script), nil)
	fill(t, q, 0, 100)
	script.Add(faultfs.Rule{Op: faultfs.Write, Count: 1, Err: syscall.EIO, Short: 5})
	if _, err := q.Checkpoint(); !errors.Is(err, syscall.EIO) {
		t.Fatal(err)
	}
	if _, err := q.Checkpoint(); !errors.Is(err, syscall.EIO) {
		t.Fatalf("the second time: %v", err)
	}
	if err := q.Append(nil); !errors.Is(err, syscall.EIO) {
		t.Fatalf("append: %v", err)
	}
	if err := q.Sync(); !errors.Is(err, syscall.EIO) {
		t.Fatalf("sync: %v", err)
	}
	if item, ok, err := q.Read(nil); !ok || err != nil || binary.BigEndian.Uint64(item) != 0 {
		t.Fatalf("what is in memory can be read: %v, %v", ok, err)
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFailedSyncSticks(t *testing.T) {
	script := faultfs.NewScript(faultfs.Rule{Op: faultfs.Sync, Count: 1, Err: syscall.ENOSPC})
	q := open(t, faultfs.New(vfs.NewMem(1), script), nil)
	fill(t, q, 0, 100)
	if _, err := q.Checkpoint(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := q.Sync(); err == nil || vfs.IsFull(err) {
			t.Fatalf("a failed sync is permanently: %v", err)
		}
	}
	if err := q.Append(nil); err == nil || vfs.IsFull(err) {
		t.Fatalf("append: %v", err)
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFailedReadCanBeRepeated(t *testing.T) {
	disk := vfs.NewMem(1)
	q := open(t, disk, nil)
	fill(t, q, 0, 50000)
	cut, err := q.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	script := faultfs.NewScript()
	q = open(t, faultfs.New(disk, script), &cut)
	failed := 0
	for i := range uint64(50000) {
		if i%5000 == 0 {
			script.Add(faultfs.Rule{Op: faultfs.Read, Count: 1, Err: syscall.EIO})
		}
		item, ok, err := q.Read(nil)
		for ; err != nil; item, ok, err = q.Read(nil) {
			failed++
		}
		if !ok || binary.BigEndian.Uint64(item) != i {
			t.Fatalf("item %d: %v %x", i, ok, item)
		}
	}
	if failed == 0 {
		t.Fatal("no read failed")
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
}

// A flipped bit anywhere in the unread blocks is found by Check, and by Read before it hands out a wrong item.
func TestHostile_S08_aFlippedBitOfAQueueIsFound(t *testing.T) {
	disk := vfs.NewMem(1)
	q := open(t, disk, nil)
	fill(t, q, 0, 50)
	cut, err := q.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	name := directory{dir: "q"}.name(0)
	good, err := vfs.ReadFile(disk, name)
	if err != nil {
		t.Fatal(err)
	}
	for bit := range len(good) * 8 {
		bad := append([]byte(nil), good...)
		bad[bit/8] ^= 1 << (bit % 8)
		write := func(w io.Writer) error { _, err := w.Write(bad); return err }
		if err := vfs.WriteAtomic(disk, name, write); err != nil {
			t.Fatal(err)
		}
		q, err := Open(disk, smallOptions, &cut)
		if err == nil {
			t.Fatalf("bit %d: opened, and the only block was wrong", bit)
		}
		if !errors.Is(err, ErrCorrupt) || q != nil {
			t.Fatalf("bit %d: %v", bit, err)
		}
	}
}

func TestImpossibleCutsAreRefused(t *testing.T) {
	disk := vfs.NewMem(1)
	q := open(t, disk, nil)
	fill(t, q, 0, 100)
	good, err := q.Checkpoint()
	if err != nil {
		t.Fatal(err)
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Checkpoint){
		"count":     func(c *Checkpoint) { c.Count = 50 },
		"skip":      func(c *Checkpoint) { c.HeadSkip = 100 },
		"huge skip": func(c *Checkpoint) { c.HeadSkip = ^uint64(0) - 10 },
		"offset":    func(c *Checkpoint) { c.HeadOffset += 3 },
		"tail":      func(c *Checkpoint) { c.TailOffset += 3 },
		"backwards": func(c *Checkpoint) { c.HeadSegment = 1 },
		"overflow":  func(c *Checkpoint) { c.TailOffset = 1 << 63 },
		"segment":   func(c *Checkpoint) { c.TailSegment = 9 },
		"empty":     func(c *Checkpoint) { c.Count = 0 },
	} {
		bad := good
		change(&bad)
		if q, err := Open(disk.KillClone(), smallOptions, &bad); err == nil {
			t.Errorf("%s: opened with %d items", name, q.Len())
		}
	}
	q = open(t, disk, &good)
	if q.Len() != 100 {
		t.Fatal(q.Len())
	}
	if err := q.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := q.Read(nil); !errors.Is(err, ErrClosed) {
		t.Fatal(err)
	}
}

// One goroutine writes, one reads and one makes checkpoints, on a disk with slow syncs. The order is kept, and no call
// waits for a sync.
func TestThreeGoroutines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const total = 60000
		script := faultfs.NewScript(faultfs.Rule{Op: faultfs.Sync, Delay: time.Second})
		q := open(t, faultfs.New(vfs.NewMem(1), script), nil)
		var workers, clerk sync.WaitGroup
		stop := make(chan struct{})
		workers.Go(func() {
			for from := 0; from < total; from += 100 {
				fill(t, q, from, from+100)
				<-time.After(time.Millisecond)
			}
		})
		workers.Go(func() {
			for i := uint64(0); i < total; {
				item, ok, err := q.Read(nil)
				if err != nil {
					t.Error(err)
					return
				}
				if !ok {
					<-time.After(5 * time.Millisecond)
					continue
				}
				if binary.BigEndian.Uint64(item) != i {
					t.Errorf("%x instead of %x", item, i)
					return
				}
				i++
			}
		})
		clerk.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(10 * time.Millisecond):
				}
				cut, err := q.Checkpoint()
				if err := errors.Join(err, q.Sync(), q.Release(cut)); err != nil {
					t.Error(err)
					return
				}
			}
		})
		start := time.Now()
		workers.Wait()
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("600 ms of work took %v: somebody waited for the disk", took)
		}
		close(stop)
		clerk.Wait()
		if err := q.Close(); err != nil {
			t.Error(err)
		}
	})
}
