package sieve

import (
	"context"
	"errors"
	"math/bits"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/internal/invariants"
	"orbweaver/internal/vfs"

	"github.com/zeebo/xxh3"
)

func TestS1_EachFingerprintComesOutOnce(t *testing.T) {
	s := open(t, vfs.NewMem(1), small, nil)
	addAll(s, 1, 2, 1, 3, 2, 1)
	want(t, flush(t, s), urls(1, 2, 3))
	addAll(s, 3, 4, 1, 5)
	want(t, flush(t, s), urls(4, 5))
	want(t, flush(t, s), nil)
	st := s.Stats()
	if st.Duplicates != 3 || st.Known != 2 || st.Emitted != 5 || s.Len() != 5 {
		t.Fatalf("stats %+v", st)
	}
	balanced(t, s)
}

func TestS2_WhatWasAddedIsInTheStore(t *testing.T) {
	s := open(t, vfs.NewMem(1), small, nil)
	for i := range uint64(5000) {
		addAll(s, i)
		if s.Full() {
			flush(t, s)
		}
	}
	flush(t, s)
	for i := range uint64(5100) {
		in, err := s.Contains(fpOf(i))
		must(t, err)
		if in != (i < 5000) {
			t.Fatalf("Contains(%d) is %v", i, in)
		}
	}
}

func TestS3_TheStoreAscendsAndItsRunsAreFewAndDisjoint(t *testing.T) {
	s := open(t, vfs.NewMem(1), Options{Dir: "sieve", BucketBytes: 128 << 10}, nil)
	const n = 40_000
	for i := range uint64(n) {
		addAll(s, i, i/2)
		if s.Full() {
			flush(t, s)
			if st := s.Stats(); st.Runs > runsMaxDefault {
				t.Fatalf("%d runs", st.Runs)
			}
		}
	}
	must(t, s.Check())
	st := s.Stats()
	t.Logf("%d flushes, %d runs, %d keys, %d bytes, %d written", st.Flushes, st.Runs, st.Keys, st.StoreBytes,
		st.BytesWritten)
	// A key is written once, and again whenever its run has at least doubled. Ten bytes per key, because keys of small
	// runs are long.
	if most := int64(n) * 10 * int64(1+bits.Len64(st.Flushes)); st.BytesWritten > most {
		t.Errorf("%d bytes written for %d keys in %d flushes, more than %d", st.BytesWritten, n, st.Flushes, most)
	}

	for _, bad := range [][]uint64{{2, 2}, {3, 2}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Fatal("a run takes keys that do not ascend")
				}
			}()
			w := newRunWriter(nil, 2)
			_ = w.add(keys{hi: bad, lo: make([]uint8, 2)})
			_, _ = w.finish()
		}()
	}
}

func TestS4_OrderOfArrivalAndTheEarliestPayloadWins(t *testing.T) {
	s := open(t, vfs.NewMem(1), small, nil)
	s.Add(fpOf(9), []byte("first"))
	s.Add(fpOf(1), []byte("second"))
	s.Add(fpOf(9), []byte("later"))
	s.Add(fpOf(7), nil)
	s.Add(fpOf(5), make([]byte, 3<<20)) // longer than a chunk
	s.Add(fpOf(3), []byte("last"))
	got := flush(t, s)
	want(t, got[:3], []string{"first", "second", ""})
	if len(got) != 5 || len(got[3]) != 3<<20 || got[4] != "last" {
		t.Fatalf("%d payloads, the last is %q", len(got), got[len(got)-1])
	}
}

func TestS4_ARefusedPayloadComesFirstNextTime(t *testing.T) {
	s := open(t, vfs.NewMem(1), small, nil)
	addAll(s, 1, 2, 3, 2, 4)
	full := errors.New("disk full")
	var got []string
	emit := func(p []byte) error {
		if len(got) == 2 {
			return full
		}
		got = append(got, string(p))
		return nil
	}
	if _, err := s.Flush(emit); !errors.Is(err, full) {
		t.Fatalf("error %v", err)
	}
	want(t, got, urls(1, 2))
	balanced(t, s)
	if s.Pending() != 2 || s.Stats().FlushErrors != 1 {
		t.Fatalf("%d pending, stats %+v", s.Pending(), s.Stats())
	}
	addAll(s, 3, 5, 1) // 3 is already pending
	want(t, flush(t, s), urls(3, 4, 5))
	balanced(t, s)
	must(t, s.Check())
}

func TestWakeAndRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, vfs.NewMem(1), small, nil)
		must(t, s.WaitRoom(t.Context()))
		var i uint64
		fill := func() {
			for ; !s.Full(); i++ {
				addAll(s, i)
			}
		}
		stuck := func(why string) <-chan error {
			waited := make(chan error, 1)
			go func() { waited <- s.WaitRoom(t.Context()) }()
			synctest.Wait()
			select {
			case err := <-waited:
				t.Errorf("a producer goes on %s (%v)", why, err)
			default:
			}
			return waited
		}
		for len(s.Wake()) == 0 {
			addAll(s, i)
			i++
		}
		<-s.Wake()
		must(t, s.WaitRoom(t.Context())) // a flush is due, but the bucket still has room
		fill()
		before := stuck("with a full bucket and no flush under way")
		im, err := s.Snapshot()
		must(t, err)
		during := stuck("while an image is written")
		im.Abandon()
		var waited <-chan error
		first := true
		_, err = s.Flush(func([]byte) error {
			if !first {
				return nil
			}
			first = false
			must(t, <-before) // there is a second bucket
			must(t, <-during)
			fill()
			waited = stuck("with both buckets full")
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if err := s.WaitRoom(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("WaitRoom says %v when its context ends", err)
			}
			return nil
		})
		must(t, err)
		<-s.Wake() // from the second filling
		n := len(flush(t, s))
		must(t, <-waited)
		if uint64(n) >= i || s.Len() != i {
			t.Fatalf("second flush emitted %d, store has %d of %d", n, s.Len(), i)
		}
	})
}

func TestCloseLetsWaitersGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, vfs.NewMem(1), small, nil)
		var i uint64
		fill := func() {
			for ; !s.Full(); i++ {
				addAll(s, i)
			}
		}
		fill()
		if _, err := s.Flush(func([]byte) error { return errors.New("no") }); err == nil {
			t.Fatal("the error of emit is lost")
		}
		fill()
		waited := make(chan error, 1)
		go func() { waited <- s.WaitRoom(t.Context()) }()
		synctest.Wait()
		must(t, s.Close())
		if err := <-waited; !errors.Is(err, ErrClosed) {
			t.Fatalf("WaitRoom: %v", err)
		}
		if _, err := s.Flush(nil); !errors.Is(err, ErrClosed) {
			t.Fatalf("Flush: %v", err)
		}
		if _, err := cutNow(s); !errors.Is(err, ErrClosed) {
			t.Fatalf("Cut: %v", err)
		}
	})
}

// Every URL is emitted once, and those of each producer in its order.
func TestManyProducersOneFlusher(t *testing.T) {
	s := open(t, vfs.NewMem(1), small, nil)
	const producers, each = 4, 3000
	var out []string
	var wg, flusher sync.WaitGroup
	done := make(chan struct{})
	for p := range uint64(producers) {
		wg.Go(func() {
			for i := range uint64(each) {
				if i%10 == 0 {
					must(t, s.WaitRoom(t.Context()))
				}
				n := p*each + i
				addAll(s, n, n/2, n) // n/2 is a URL of another producer, or an earlier one
			}
		})
	}
	flusher.Go(func() {
		emit := func(p []byte) error { out = append(out, string(p)); return nil }
		for last := false; !last; {
			select {
			case <-s.Wake():
			case <-done:
				last = true
			}
			if _, err := s.Flush(emit); err != nil {
				t.Error(err)
				return
			}
			s.Stats()
		}
	})
	wg.Wait()
	close(done)
	flusher.Wait()
	if len(out) != producers*each || s.Len() != producers*each {
		t.Fatalf("%d URLs came out, %d are in the store, of %d", len(out), s.Len(), producers*each)
	}
	slices.Sort(out)
	if n := len(slices.Compact(out)); n != producers*each {
		t.Fatalf("only %d of them differ", n)
	}
	balanced(t, s)
	must(t, s.Check())
}

func TestAddAllocatesNothing(t *testing.T) {
	if invariants.Race {
		t.Skip("allocation counts mean nothing under the race detector")
	}
	s := open(t, vfs.NewMem(1), Options{Dir: "sieve", BucketBytes: 1 << 20}, nil)
	url := urlOf(1)
	var i uint64
	add := func() {
		i++
		s.Add(xxh3.Uint128{Hi: i * 0x9e3779b97f4a7c15, Lo: i}, url)
	}
	for range 2 { // both buckets have grown to their size
		for !s.Full() {
			add()
		}
		flush(t, s)
	}
	if n := testing.AllocsPerRun(1000, add); n != 0 {
		t.Fatalf("%v allocations per Add", n)
	}
}

func TestOptions(t *testing.T) {
	must(t, Options{Dir: "d"}.WithDefaults().Validate())
	err := Options{BucketBytes: 1, RunsMax: -1}.Validate()
	if err == nil || len(err.(interface{ Unwrap() []error }).Unwrap()) != 3 {
		t.Fatalf("want three faults, have %v", err)
	}
	if (Options{Dir: "d", BucketBytes: 1 << 40, RunsMax: 1}).Validate() == nil {
		t.Fatal("a bucket of a TiB is let through")
	}
	if _, err := Open(vfs.NewMem(1), Options{}, nil); err == nil {
		t.Fatal("opened without a directory")
	}
}

// An operator asks where a URL is, while others are added and flushed.
func TestFindTellsKnownFromPending(t *testing.T) {
	s := open(t, vfs.NewMem(1), Options{Dir: "sieve", BucketBytes: 1 << 20}, nil)
	const n = 3000
	expect := func(i uint64, want Place) {
		t.Helper()
		if got, err := s.Find(fpOf(i)); got != want || err != nil {
			t.Errorf("%d: %v, %v; want %v", i, got, err, want)
		}
	}
	for i := range uint64(n) {
		addAll(s, i)
		expect(i, Pending)
	}
	expect(0, Pending)
	expect(n, Unknown)
	_, err := s.Flush(func([]byte) error {
		expect(0, Known)
		expect(n, Merging)
		return nil
	})
	must(t, err)
	addAll(s, n)
	expect(0, Known)
	expect(n, Pending)
	expect(n+1, Unknown)
}
