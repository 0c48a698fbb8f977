package sieve

import (
	"context"
	"errors"
	"runtime"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/internal/invariants"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
)

var largeOptions = Options{Dir: "sieve", BucketBytes: 64 << 10}

// large returns a sieve with so many blocks that flushing the content of its memory is not worth the cost.
func large(t *testing.T, fsys vfs.FS) (s *Sieve, known uint64) {
	t.Helper()
	s = open(t, fsys, largeOptions, nil)
	for known = range uint64(40_000) {
		addAll(s, known)
	}
	known++
	<-s.Wake()
	flush(t, s)
	return s, known
}

// With its payloads in a file a bucket holds six times as many fingerprints. Memory stays bounded, and all URLs are
// emitted in order.
func TestABucketTakesSixTimesAsManyWithItsPayloadsInAFile(t *testing.T) {
	mem := vfs.NewMem(1)
	s, known := large(t, mem)
	for range 4 {
		var fresh []uint64
		for len(s.Wake()) == 0 {
			askRoom(t, s)
			i := known + uint64(len(fresh))
			addAll(s, i, i/2)
			fresh = append(fresh, i)
			if st := s.Stats(); st.PendingBytes > 32<<10 {
				t.Fatalf("%+v", st)
			}
		}
		<-s.Wake()
		if n := s.Pending(); n < 32<<10*3/4/(entryBytes+2) { // small slabs have large headers
			t.Fatalf("only %d were pending: %+v", n, s.Stats())
		}
		must(t, s.Check())
		want(t, flush(t, s), urls(fresh...))
		known += uint64(len(fresh))
		balanced(t, s)
		if names, _ := mem.List("sieve"); len(names) != s.Stats().Runs+1 {
			t.Fatalf("files %q", names)
		}
	}
	if st := s.Stats(); st.Spilled == 0 || st.SpillErrors != 0 {
		t.Fatalf("%+v", st)
	}
	durable(t, s)
	if names, _ := mem.List("sieve"); len(names) != s.Stats().Runs {
		t.Fatalf("with nothing pending there are %q", names)
	}
}

// If a payload cannot be written, the next Flush returns the error, once, and nothing is lost.
func TestAPayloadThatCannotBeWrittenStays(t *testing.T) {
	script := faultfs.NewScript()
	s, known := large(t, faultfs.New(vfs.NewMem(1), script))
	script.Add(faultfs.Rule{Op: faultfs.Write, From: 1, Count: 3, Err: syscall.ENOSPC, Short: 100})
	var fresh []uint64
	add := func() {
		askRoom(t, s)
		i := known + uint64(len(fresh))
		addAll(s, i)
		fresh = append(fresh, i)
	}
	for range 3 {
		for len(s.Wake()) == 0 {
			add()
		}
		<-s.Wake() // the flusher must learn it at once
		for range 10 {
			add() // no producer tries again before that
		}
		if st := s.Stats(); st.PendingBytes > 33<<10 {
			t.Fatalf("%+v", st)
		}
		if _, err := s.Flush(func([]byte) error { return errRefused }); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("Flush says %v", err)
		}
		balanced(t, s)
	}
	for len(s.Wake()) == 0 {
		add()
	}
	if st := s.Stats(); st.SpillErrors != 3 || st.Spilled == 0 {
		t.Fatalf("%+v", st)
	}
	want(t, flush(t, s), urls(fresh...))
}

// A checkpoint does not write payloads again that were written ahead. What was written after it is lost in a crash. It
// writes only what memory contains.
func TestAfterARestartPayloadsAreWhereTheyWere(t *testing.T) {
	mem := vfs.NewMem(1)
	s, known := large(t, mem)
	var fresh []uint64
	add := func(n int) {
		for range n {
			askRoom(t, s)
			i := known + uint64(len(fresh))
			addAll(s, i)
			fresh = append(fresh, i)
		}
	}
	add(1000)
	before := s.Stats().Spilled
	im, err := s.Snapshot()
	must(t, err)
	marked := len(fresh)
	add(20)
	c, err := im.Write()
	must(t, err)
	if wrote := s.Stats().Spilled - before; wrote > 32<<10 {
		t.Errorf("the cut wrote %d bytes", wrote)
	}
	must(t, s.Sync())
	add(300)
	again := open(t, mem.CrashClone(newRand(1)), largeOptions, &c)
	if again.Pending() != marked {
		t.Fatalf("%d pending, want %d", again.Pending(), marked)
	}
	must(t, again.Check())
	must(t, s.Release(c))
	want(t, flush(t, again), urls(fresh[:marked]...))
	want(t, flush(t, s), urls(fresh...))
}

// While a snapshot is written, no later payload is written, and producers wait for its end.
func TestWhoWaitsForAnImageGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, known := large(t, vfs.NewMem(1))
		im, err := s.Snapshot()
		must(t, err)
		for !s.Full() {
			addAll(s, known)
			known++
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.WaitRoom(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("a producer goes on: %v", err)
		}
		waited := make(chan error)
		go func() { waited <- s.WaitRoom(t.Context()) }()
		synctest.Wait()
		if c, err := im.Write(); err != nil || c.Filling != nil {
			t.Fatalf("%+v, %v", c, err)
		}
		must(t, <-waited)
		if s.Stats().Spilled == 0 {
			t.Fatal("nothing was written")
		}
	})
}

// When fingerprints replace payloads, the memory of the payloads is freed.
func TestMemoryOfBucketsIsGivenBack(t *testing.T) {
	if invariants.Race {
		t.Skip("the heap of the race detector is another one")
	}
	const bucket = 8 << 20
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	s, err := Open(vfs.Disk(), Options{Dir: t.TempDir(), BucketBytes: bucket}, nil)
	must(t, err)
	for i := uint64(0); s.Stats().Keys < 1_500_000; i++ {
		if i%64 == 0 {
			must(t, s.WaitRoom(t.Context()))
			if len(s.Wake()) > 0 {
				<-s.Wake()
				_, err := s.Flush(func([]byte) error { return nil })
				must(t, err)
			}
		}
		s.Add(spread(i), benchURL)
	}
	if s.Stats().Spilled == 0 {
		t.Fatal("no payload was written ahead")
	}
	if used := heap() - before; used > bucket+bucket/8 {
		t.Errorf("%d bytes of heap", used)
	}
	must(t, s.Close())
}
