package journal

import (
	"errors"
	"syscall"
	"testing"

	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
	"orbweaver/warc"
)

// The checkpointer may turn the page between the moment at which a group commit looks which page is open and the moment
// at which it comes to sync it.
func TestLedger_aPageTurnedDuringAGroupCommitIsSyncedOnce(t *testing.T) {
	fsys := vfs.NewMem(1)
	w, err := warc.OpenWriter(fsys, warc.Options{Dir: "warc"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := fsys.MkdirAll("frontier"); err != nil {
		t.Fatal(err)
	}
	var pages [3]*File
	for i := range pages {
		if pages[i], err = Create(fsys, "frontier", uint64(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	l := &Store{Writer: w, Journal: pages[0], syncing: make(chan struct{}, 1)}
	l.TurnTo(pages[1])
	l.TurnTo(pages[2])
	if err := l.syncInOrder(pages[1]); err != nil {
		t.Errorf("the page that was open when the commit began: %v", err)
	}
	if len(l.turned) != 0 {
		t.Errorf("%d pages are left", len(l.turned))
	}
	if err := l.Sync(); err != nil {
		t.Errorf("the next commit: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// A sync fails: at once, and not only when the crawl has come to its end, the journal holds what was synced before and
// no more, and nothing can be added to it.
func TestLedger_aFailedSyncTakesBackWhatMayBeLost(t *testing.T) {
	script := faultfs.NewScript()
	mem := vfs.NewMem(1)
	fsys := faultfs.New(mem, script)
	w, err := warc.OpenWriter(fsys, warc.Options{Dir: "warc"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := fsys.MkdirAll("frontier"); err != nil {
		t.Fatal(err)
	}
	open := func(generation uint64, after *File) *File {
		j, err := Create(fsys, "frontier", generation)
		if err == nil {
			err = j.Follow(after)
		}
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	l := &Store{Writer: w, Journal: open(1, nil), syncing: make(chan struct{}, 1), Long: make(chan struct{}, 1)}
	add := func() error {
		return l.Write(entry(Entry{Kind: KindPage, Outcome: outcome.OK, Links: []byte{}}))
	}
	entries := func(generation uint64) (n int) {
		_, err := Read(mem, Name("frontier", generation), func(*Entry) error { n++; return nil })
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for range 3 {
		if err := add(); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Sync(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := add(); err != nil {
			t.Fatal(err)
		}
	}
	next := open(2, l.Journal)
	l.TurnTo(next)
	if err := add(); err != nil {
		t.Fatal(err)
	}
	if n, m := entries(1), entries(2); n != 5 || m != 1 {
		t.Fatalf("%d and %d entries before the fault", n, m)
	}
	script.Add(faultfs.Rule{Op: faultfs.Sync, Name: "journal-*", From: 1, Count: 1, Err: syscall.EIO})
	if err := l.Sync(); !errors.Is(err, syscall.EIO) {
		t.Fatalf("the sync said %v", err)
	}
	if n := entries(1); n != 3 {
		t.Errorf("%d entries are left, three were synced", n)
	}
	if size, err := next.file.Size(); err != nil || size != 0 {
		t.Errorf("the next journal has %d bytes (%v)", size, err)
	}
	for _, try := range []func() error{add, l.Sync} {
		if err := try(); !errors.Is(err, syscall.EIO) {
			t.Errorf("after it: %v", err)
		}
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
