package bodyfile

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
)

func open(t *testing.T, fsys vfs.FS, most Most) *Store {
	t.Helper()
	s, err := Open(Options{
		FS: fsys, Dir: "bodies", Most: most, Warn: func(msg string, args ...any) { t.Error(msg, args) },
		Wait: func(_ context.Context, err error) error { return err },
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inAnHour is a limit that no test reaches, unless it wants to.
func inAnHour() time.Time { return time.Now().Add(time.Hour) }

// add reserves and writes n bytes.
func add(ctx context.Context, f *File, n int) error {
	if _, err := f.Reserve(ctx, inAnHour(), n); err != nil {
		return err
	}
	_, err := f.Write(ctx, inAnHour(), make([]byte, n))
	return err
}

// Files that a killed run has left are removed, and nothing else.
func TestOpen_removesWhatAKilledRunHasLeft(t *testing.T) {
	disk := vfs.NewMem(1)
	first := open(t, disk, Most{Bytes: 1 << 30, Files: 4})
	for range 3 {
		f, err := first.NewFile(t.Context(), inAnHour())
		if err == nil {
			err = add(t.Context(), f, 100)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := vfs.WriteAtomic(disk, "bodies/note", func(w io.Writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	open(t, disk, Most{Bytes: 1 << 30, Files: 4})
	if names, err := disk.List("bodies"); err != nil || strings.Join(names, " ") != "note" {
		t.Errorf("left: %v %v", names, err)
	}
}

// When the room is used up, the file that was begun first goes on, and the others wait until it is removed. So all are
// complete in the end, and the sum is at most the limit and one body.
func TestReserve_theFirstFileGoesOnAndTheOthersWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const body = 5 * reserveStep
		s := open(t, vfs.NewMem(1), Most{Bytes: 2 * reserveStep, Files: 8})
		done, sealed := make(chan error), make(chan *File)
		for range 4 {
			go func() {
				f, err := s.NewFile(t.Context(), inAnHour())
				for n := 0; n < body && err == nil; n += reserveStep / 2 {
					err = add(t.Context(), f, reserveStep/2)
				}
				if err == nil {
					f.Seal()
					sealed <- f
				}
				done <- err
			}()
		}
		go func() {
			for f := range sealed {
				if n := s.Stats().Bytes; n > 2*reserveStep+body {
					t.Errorf("%d bytes are reserved", n)
				}
				f.Remove()
			}
		}()
		for range 4 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		close(sealed)
		synctest.Wait() // the last file is removed
		if n := s.Stats(); n.Files != 0 || n.Bytes != 0 || n.Waits == 0 {
			t.Errorf("%+v", n)
		}
	})
}

// A file beyond the number waits for a place, until its exchange must end or is aborted.
func TestNewFile_waitsForAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, vfs.NewMem(1), Most{Bytes: 1 << 30, Files: 1})
		f, err := s.NewFile(t.Context(), inAnHour())
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := s.NewFile(t.Context(), began.Add(time.Minute)); !errors.Is(err, ErrNoRoom) ||
			time.Since(began) != time.Minute {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		aborted, abort := context.WithCancel(t.Context())
		abort()
		if _, err := s.NewFile(aborted, inAnHour()); !errors.Is(err, context.Canceled) {
			t.Errorf("aborted: %v", err)
		}
		time.AfterFunc(time.Minute, f.Remove)
		if _, err := s.NewFile(t.Context(), inAnHour()); err != nil {
			t.Error(err)
		}
	})
}

// The files take a third of the free disk at most, and go on when there is more.
func TestReserve_leavesTwoThirdsOfTheDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := faultfs.NewScript()
		script.SetFree(3*reserveStep - 3)
		s := open(t, faultfs.New(vfs.NewMem(1), script), Most{Bytes: 1 << 30, Files: 1})
		f, err := s.NewFile(t.Context(), inAnHour())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Reserve(t.Context(), time.Now().Add(time.Minute), 1); !errors.Is(err, ErrNoRoom) {
			t.Errorf("less than a third: %v", err)
		}
		time.AfterFunc(time.Minute, func() { script.SetFree(3 * reserveStep) })
		if waited, err := f.Reserve(t.Context(), inAnHour(), 1); err != nil || !waited {
			t.Errorf("%v, waited %v", err, waited)
		}
	})
}

// Other bytes on the disk than were written are found when all are read in order.
func TestReadAt_findsOtherBytes(t *testing.T) {
	disk := vfs.NewMem(1)
	s := open(t, disk, Most{Bytes: 1 << 30, Files: 1})
	f, err := s.NewFile(t.Context(), inAnHour())
	if err == nil {
		err = add(t.Context(), f, 1000)
	}
	if err != nil {
		t.Fatal(err)
	}
	read := func() error {
		_, err := io.Copy(io.Discard, io.NewSectionReader(f, 0, f.Size()))
		return err
	}
	if err := read(); err != nil {
		t.Error(err)
	}
	if _, err := f.f.WriteAt([]byte{1}, 500); err != nil {
		t.Fatal(err)
	}
	if err := read(); !errors.Is(err, vfs.ErrCorrupt) {
		t.Errorf("a changed byte: %v", err)
	}
}
