package engine

import (
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// The checkpointer may turn the page between the moment at which a group commit looks which page is open and the moment at
// which it comes to sync it.
func TestLedger_aPageTurnedDuringAGroupCommitIsSyncedOnce(t *testing.T) {
	fsys := vfs.NewMem(1)
	w, err := warc.OpenWriter(fsys, warc.Options{Dir: "warc"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := fsys.MkdirAll("frontier"); err != nil {
		t.Fatal(err)
	}
	var pages [3]*journal
	for i := range pages {
		if pages[i], err = createJournal(fsys, "frontier", uint64(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	l := &ledger{writer: w, journal: pages[0], syncing: make(chan struct{}, 1)}
	l.turnPage(pages[1])
	l.turnPage(pages[2])
	if err := l.syncInOrder(pages[1]); err != nil {
		t.Errorf("the page that was open when the commit began: %v", err)
	}
	if len(l.turned) != 0 {
		t.Errorf("%d pages are left", len(l.turned))
	}
	if err := l.sync(); err != nil {
		t.Errorf("the next commit: %v", err)
	}
	if err := l.close(); err != nil {
		t.Error(err)
	}
}
