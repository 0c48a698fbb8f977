package engine

import (
	"fmt"
	"slices"
	"testing"

	"orbweaver/internal/vfs"
)

// journalled begins a journal of a generation that follows another, and writes entries of those depths.
func journalled(t *testing.T, fsys vfs.FS, generation uint64, before *journal, depths ...int) *journal {
	t.Helper()
	j, err := createJournal(fsys, ".", generation)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.follow(before); err != nil {
		t.Fatal(err)
	}
	for _, d := range depths {
		if err := j.append(&journalEntry{Kind: journalPage, Depth: d}); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

// depths reads all that counts from a generation on.
func depths(t *testing.T, fsys vfs.FS, from uint64) (got []int, stray string) {
	t.Helper()
	stray, err := eachJournal(fsys, ".", from, func(name string) (int64, error) {
		return readJournal(fsys, name, func(e *journalEntry) error {
			got = append(got, e.Depth)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, stray
}

// A power cut keeps the younger journal, which was not synced, and loses the end of the older one: what is in the younger
// one does not count, since records without an entry would lie before its own.
func TestJournals_nothingCountsBehindAGap(t *testing.T) {
	disk := vfs.NewMem(1)
	older := journalled(t, disk, 7, nil, 1, 2)
	if err := older.sync(); err != nil {
		t.Fatal(err)
	}
	if err := older.append(&journalEntry{Kind: journalPage, Depth: 3}); err != nil {
		t.Fatal(err)
	}
	younger := journalled(t, disk, 8, older, 4, 5)
	if got, stray := depths(t, disk, 7); !slices.Equal(got, []int{1, 2, 3, 4, 5}) || stray != "" {
		t.Errorf("killed: %v, stray %q", got, stray)
	}
	if err := younger.sync(); err != nil {
		t.Fatal(err)
	}
	if got, stray := depths(t, disk.LostClone(0), 7); !slices.Equal(got, []int{1, 2}) || stray != "./journal-00000008" {
		t.Errorf("power cut: %v, stray %q", got, stray)
	}
}

// Cuts that failed leave journals that were never used. The one in use goes on, and the next that is used follows it.
func TestJournals_thoseOfFailedCutsArePassedOver(t *testing.T) {
	disk := vfs.NewMem(1)
	used := journalled(t, disk, 7, nil, 1)
	journalled(t, disk, 8, used)
	if err := used.append(&journalEntry{Kind: journalPage, Depth: 2}); err != nil {
		t.Fatal(err)
	}
	if _, err := createJournal(disk, ".", 9); err != nil { // and failed before its head was written
		t.Fatal(err)
	}
	journalled(t, disk, 10, used, 3)
	if got, stray := depths(t, disk, 7); !slices.Equal(got, []int{1, 2, 3}) || stray != "" {
		t.Errorf("%v, stray %q", got, stray)
	}
	if g, err := youngest(disk, "."); g != 10 || err != nil {
		t.Errorf("the youngest is %d, %v", g, err)
	}
}

// A group commit that began before a cut and ends behind it syncs the journal of that time once.
func TestLedger_aCutDuringAGroupCommit(t *testing.T) {
	disk := vfs.NewMem(1)
	l := &ledger{syncing: make(chan struct{}, 1), long: make(chan struct{}, 1)}
	first := journalled(t, disk, 1, nil)
	l.turnPage(first)
	for depth := range 3 {
		if err := l.write(entry(journalEntry{Kind: journalPage, Depth: depth})); err != nil {
			t.Fatal(err)
		}
	}
	l.turnPage(journalled(t, disk, 2, first, 3))
	if err := l.syncJournals(first); err != nil {
		t.Fatal(err)
	}
	if err := l.syncJournals(l.page()); err != nil {
		t.Fatal(err)
	}
	if got, stray := depths(t, disk.LostClone(0), 1); fmt.Sprint(got) != "[0 1 2 3]" || stray != "" {
		t.Errorf("%v, stray %q", got, stray)
	}
	if err := l.close(); err != nil {
		t.Fatal(err)
	}
}

func FuzzJournalHead(f *testing.F) {
	f.Add(journalHead{generation: 7, length: 91}.append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, ok := decodeJournalHead(b)
		if ok && string(h.append(nil)) != string(b[:journalHeadSize]) {
			t.Errorf("% x came back as %+v", b, h)
		}
	})
}
