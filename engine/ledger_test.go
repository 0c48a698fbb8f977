package engine

import (
	"testing"

	"orbweaver/internal/vfs"
)

// entry is an attempt without records, and without a limit on pages.
func entry(e journalEntry) *posting {
	p := newPosting(nil)
	p.entry = e
	return p
}

// A long journal asks for a checkpoint once, and the entries come back when it is read.
func TestALongJournalAsksForACheckpoint(t *testing.T) {
	disk := vfs.NewMem(1)
	j, err := createJournal(disk, ".", 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.follow(nil); err != nil {
		t.Fatal(err)
	}
	l := &ledger{journal: j, long: make(chan struct{}, 1)}
	for n := range journalLong + 10 {
		if err := l.write(entry(journalEntry{Kind: journalPage, Depth: n % 1000, Links: make([]byte, n%3)})); err != nil {
			t.Fatal(err)
		}
		select {
		case <-l.long:
			if n != journalLong-1 {
				t.Errorf("asked after %d entries", n+1)
			}
		default:
			if n == journalLong-1 {
				t.Errorf("not asked after %d entries", n+1)
			}
		}
	}
	n := 0
	_, err = readJournal(disk, journalName(".", 1), func(e *journalEntry) error {
		if e.Depth != n%1000 || len(e.Links) != n%3 {
			t.Fatalf("entry %d: %+v", n, e)
		}
		n++
		return nil
	})
	if err != nil || n != journalLong+10 {
		t.Errorf("%d entries read: %v", n, err)
	}
	if err := l.close(); err != nil {
		t.Error(err)
	}
}
