package sieve

import (
	"errors"
	"io/fs"
	"testing"

	"orbweaver/internal/vfs"
)

// A file that a checkpoint names stays until a later checkpoint is released. Another one is removed at once.
func TestAFileStaysWhileACheckpointNeedsIt(t *testing.T) {
	mem := vfs.NewMem(1)
	must(t, mem.MkdirAll("sieve"))
	s := fileSet{fsys: mem, dir: "sieve"}
	named, err := s.create(kindRun)
	must(t, err)
	unnamed, err := s.create(kindRun)
	must(t, err)
	generation, serial := s.checkpoint([]*storeFile{named})
	if generation != 1 || serial != 2 {
		t.Fatalf("generation %d, serial %d", generation, serial)
	}
	s.drop(unnamed)
	s.drop(named)
	missing := func(f *storeFile) bool {
		_, err := mem.Size(f.Name())
		return errors.Is(err, fs.ErrNotExist)
	}
	if !missing(unnamed) || missing(named) || s.obsoleteFiles() != 1 {
		t.Fatalf("%d obsolete files", s.obsoleteFiles())
	}
	must(t, s.release(1, false))
	if missing(named) {
		t.Fatal("a file of the released checkpoint was removed")
	}
	must(t, s.release(2, false))
	if !missing(named) || s.obsoleteFiles() != 0 {
		t.Fatalf("%d obsolete files", s.obsoleteFiles())
	}
}

// One pending file is kept to be overwritten, as long as it will be needed soon.
func TestASparePendingFileIsUsedAgain(t *testing.T) {
	mem := vfs.NewMem(1)
	must(t, mem.MkdirAll("sieve"))
	s := fileSet{fsys: mem, dir: "sieve"}
	first, err := s.createPending()
	must(t, err)
	s.dropPending(first, true)
	again, err := s.createPending()
	must(t, err)
	if again != first {
		t.Fatal("a spare file was not used")
	}
	s.dropPending(again, true)
	must(t, s.release(1, false))
	if names, err := mem.List("sieve"); err != nil || len(names) != 0 {
		t.Fatal(names, err)
	}
}
