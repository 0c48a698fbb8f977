package faultfs_test

import (
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
)

func TestTheNthCallFailsAndTheNextWorks(t *testing.T) {
	script := faultfs.NewScript(
		faultfs.Rule{Op: faultfs.Write, Name: "*.log", From: 2, Count: 1, Err: syscall.EIO, Short: 3},
		faultfs.Rule{Op: faultfs.Sync, Err: syscall.EIO},
	)
	fsys := faultfs.New(vfs.NewMem(1), script)
	f, err := fsys.Create("a.log")
	if err != nil {
		t.Fatal(err)
	}
	other, err := fsys.Create("b.txt")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		n   int
		err error
	}{{5, nil}, {3, syscall.EIO}, {5, nil}} {
		if n, err := io.WriteString(f, "hello"); n != want.n || !errors.Is(err, want.err) {
			t.Errorf("write %d: %d, %v", i+1, n, err)
		}
		if n, err := io.WriteString(other, "hello"); n != 5 || err != nil {
			t.Errorf("another file: %d, %v", n, err)
		}
	}
	if err := f.Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("sync: %v", err)
	}
	if got, err := vfs.ReadFile(fsys, "a.log"); err != nil || string(got) != "hellohelhello" {
		t.Errorf("%q, %v", got, err)
	}
	if got := script.Calls(faultfs.Write); got != 6 {
		t.Errorf("%d writes counted", got)
	}
	script.Clear()
	if err := errors.Join(f.Sync(), f.Close(), other.Close()); err != nil {
		t.Error(err)
	}
}

func TestDelayRunsOnTheBubblesClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := faultfs.NewScript(faultfs.Rule{Op: faultfs.SyncDir, Delay: time.Hour})
		fsys := faultfs.New(vfs.NewMem(1), script)
		start := time.Now()
		if err := fsys.SyncDir("."); err != nil {
			t.Fatal(err)
		}
		if got := time.Since(start); got != time.Hour {
			t.Errorf("waited %v", got)
		}
	})
}

// Each kind of call can be made to fail, and says so with the script's error.
func TestEveryCallCanFail(t *testing.T) {
	mem := vfs.NewMem(1)
	script := faultfs.NewScript()
	fsys := faultfs.New(mem, script)
	f, err := fsys.Create("f")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Allocate(0, 4096); err != nil {
		t.Fatal(err)
	}
	m, err := f.Map(4096)
	if err != nil {
		t.Fatal(err)
	}
	script.Add(faultfs.Rule{Err: syscall.EIO})
	var errs []error
	note := func(_ any, err error) { errs = append(errs, err) }
	note(fsys.Create("x"))
	note(fsys.Open("f"))
	note(fsys.OpenRW("f"))
	note(fsys.List("."))
	note(fsys.Size("f"))
	note(fsys.Lock("l"))
	note(fsys.Free("."))
	note(f.Read(make([]byte, 1)))
	note(f.ReadAt(make([]byte, 1), 0))
	note(f.Write(make([]byte, 1)))
	note(f.WriteAt(make([]byte, 1), 0))
	note(f.Size())
	note(f.Map(1))
	errs = append(errs, fsys.Rename("f", "g"), fsys.Remove("f"), fsys.MkdirAll("d"), fsys.SyncDir("."),
		f.Truncate(1), f.Allocate(0, 9999), f.Sync(), m.Sync(), f.Close())
	for i, err := range errs {
		if !errors.Is(err, syscall.EIO) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if got, err := mem.List("."); err != nil || len(got) != 1 || got[0] != "f" {
		t.Errorf("a failed call happened: %v, %v", got, err)
	}
}

// A full disk fails whatever needs room, from some call on, and says that there is none; what needs none goes through.
func TestSpaceMeansEveryCallThatNeedsRoom(t *testing.T) {
	script := faultfs.NewScript(faultfs.Rule{Op: faultfs.Space, From: 3, Err: syscall.ENOSPC})
	script.SetFree(7)
	fsys := faultfs.New(vfs.NewMem(1), script)
	f, err := fsys.Create("f") // 1
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(f, "text"); err != nil { // 2
		t.Fatal(err)
	}
	_, writeErr := io.WriteString(f, "more")
	_, createErr := fsys.Create("g")
	for i, err := range []error{writeErr, createErr, fsys.MkdirAll("d"), fsys.Rename("f", "g"), f.Allocate(0, 9)} {
		if !vfs.IsFull(err) {
			t.Errorf("call %d: %v", i, err)
		}
	}
	if free, err := fsys.Free("."); free != 7 || err != nil {
		t.Errorf("%d bytes free: %v", free, err)
	}
	if got, err := vfs.ReadFile(fsys, "f"); string(got) != "text" || err != nil {
		t.Errorf("%q: %v", got, err)
	}
	if err := errors.Join(f.Sync(), f.Truncate(1), f.Close(), fsys.Remove("f")); err != nil {
		t.Error(err)
	}
	if n := script.Calls(faultfs.Space); n != 7 {
		t.Errorf("%d calls counted that need room", n)
	}
}

// A sync that found no room has lost what it was to keep: waiting for room does not bring it back.
func TestAFailedSyncIsNotAFullDisk(t *testing.T) {
	script := faultfs.NewScript(faultfs.Rule{Op: faultfs.Sync, Err: syscall.ENOSPC})
	fsys := faultfs.New(vfs.NewMem(1), script)
	f, err := fsys.Create("f")
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); vfs.IsFull(err) || !errors.Is(err, syscall.ENOSPC) {
		t.Error(err)
	}
	if err := vfs.WriteAtomic(fsys, "g", func(io.Writer) error { return nil }); !vfs.IsFull(err) {
		t.Errorf("the whole of it may be written again: %v", err)
	}
}

// A disk that has become read-only refuses the file and then its removal: that is one fault, and one line.
func TestWriteAtomicTellsAFaultOnce(t *testing.T) {
	script := faultfs.NewScript()
	for _, op := range []faultfs.Op{faultfs.Create, faultfs.Open, faultfs.Remove} {
		script.Add(faultfs.Rule{Op: op, Err: syscall.EROFS})
	}
	err := vfs.WriteAtomic(faultfs.New(vfs.NewMem(1), script), "name", func(io.Writer) error { return nil })
	if !errors.Is(err, syscall.EROFS) || strings.Contains(err.Error(), "\n") {
		t.Errorf("it says %v", err)
	}
}
