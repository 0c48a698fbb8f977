package cold

import (
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
)

func key(i int) []byte { return fmt.Appendf(nil, "http://host%d.example", i) }

// Only Flush and Sync report a full disk. What they could not write stays in memory and is written later.
func TestFullDiskLosesNothing(t *testing.T) {
	disk := vfs.NewMem(1)
	s, err := Open(disk, small(), nil)
	if err != nil {
		t.Fatal(err)
	}
	disk.SetLimit(1500)
	for i := range 100 {
		s.Put(key(i), []byte("known"))
	}
	for range 3 {
		if err := s.Flush(); !vfs.IsFull(err) {
			t.Fatal(err)
		}
		if err := s.Sync(); !vfs.IsFull(err) {
			t.Fatal(err)
		}
	}
	for i := range 10 {
		if form, found, err := s.Take(nil, key(i)); string(form) != "known" || !found || err != nil {
			t.Fatalf("host %d: %q, %v", i, form, err)
		}
	}
	cut := s.Checkpoint()
	disk.SetLimit(-1)
	if err := errors.Join(s.Sync(), s.Release(cut), s.Check(), s.Close()); err != nil {
		t.Fatal(err)
	}
	again, err := Open(disk, small(), &cut)
	if err != nil || again.Len() != 90 {
		t.Fatal(again.Len(), err)
	}
}

// After a failed sync the store does not report anything as durable.
func TestFailedSyncSticks(t *testing.T) {
	script := faultfs.NewScript(faultfs.Rule{Op: faultfs.Sync, Count: 1, Err: syscall.EIO})
	s, err := Open(faultfs.New(vfs.NewMem(1), script), small(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Put(key(1), nil)
	for range 2 {
		if err := s.Sync(); err == nil {
			t.Fatal("a failed sync is permanently")
		}
	}
}

// A host stays in the store after a failed read.
func TestFailedReadCanBeRepeated(t *testing.T) {
	script := faultfs.NewScript()
	s, err := Open(faultfs.New(vfs.NewMem(1), script), small(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Put(key(1), []byte("known"))
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	script.Add(faultfs.Rule{Op: faultfs.Read, Count: 1, Err: syscall.EIO})
	if _, found, err := s.Take(nil, key(1)); !errors.Is(err, syscall.EIO) || found {
		t.Fatal(found, err)
	}
	if form, found, err := s.Take(nil, key(1)); !found || err != nil || string(form) != "known" {
		t.Fatal(found, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Flush(); !errors.Is(err, ErrClosed) {
		t.Error("after Close:", err)
	}
	if err := s.Sync(); !errors.Is(err, ErrClosed) {
		t.Error("after Close:", err)
	}
}

// Hosts are put and taken while the log is flushed, synced, collected and released.
func TestH2_manyAtOnce(t *testing.T) {
	s, err := Open(vfs.NewMem(1), small(), nil)
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var movers, tenders sync.WaitGroup
	tenders.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			_, err := s.Collect(1 << 10)
			cut := s.Checkpoint()
			if err := errors.Join(err, s.Sync(), s.Release(cut)); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for m := range 3 {
		movers.Go(func() {
			for round := range 300 {
				for i := range 20 {
					s.Put(key(100*m+i), fmt.Appendf(nil, "%d in round %d", i, round))
				}
				for i := range 20 {
					form, found, err := s.Take(nil, key(100*m+i))
					if want := fmt.Sprintf("%d in round %d", i, round); !found || err != nil || string(form) != want {
						t.Errorf("%q, %v, %v; should be %q", form, found, err, want)
						return
					}
				}
			}
		})
	}
	movers.Wait()
	close(stop)
	tenders.Wait()
	if err := s.Check(); err != nil || s.Len() != 0 {
		t.Error(s.Len(), err)
	}
}

func TestOptionsSayAllThatIsWrong(t *testing.T) {
	if _, err := Open(vfs.NewMem(1), Options{SegmentBytes: 1, BufferBytes: -1}, nil); err == nil {
		t.Error("bad options are taken")
	} else if many, ok := err.(interface{ Unwrap() []error }); !ok || len(many.Unwrap()) != 3 { //nolint:errorlint // join
		t.Error(err)
	}
}
