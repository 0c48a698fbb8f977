package journal

import (
	"fmt"
	"slices"
	"testing"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
)

// journalled begins a journal of a generation that follows another, and writes entries of those depths.
func journalled(t *testing.T, fsys vfs.FS, generation uint64, before *File, depths ...int) *File {
	t.Helper()
	j, err := Create(fsys, ".", generation)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Follow(before); err != nil {
		t.Fatal(err)
	}
	for _, d := range depths {
		if err := j.append(&Entry{Kind: KindPage, Depth: d}); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

// depths reads all that counts from a generation on.
func depths(t *testing.T, fsys vfs.FS, from uint64) (got []int, stray string) {
	t.Helper()
	stray, err := Each(fsys, ".", from, func(name string) (int64, error) {
		return Read(fsys, name, func(e *Entry) error {
			got = append(got, e.Depth)
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, stray
}

// A power cut keeps the younger journal, which was not synced, and loses the end of the older one: what is in the
// younger one does not count, since records without an entry would lie before its own.
func TestJournals_nothingCountsBehindAGap(t *testing.T) {
	disk := vfs.NewMem(1)
	older := journalled(t, disk, 7, nil, 1, 2)
	if err := older.sync(); err != nil {
		t.Fatal(err)
	}
	if err := older.append(&Entry{Kind: KindPage, Depth: 3}); err != nil {
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

// Checkpoints that failed leave journals that were never used. The one in use goes on, and the next that is used
// follows it.
func TestJournals_thoseOfFailedCutsArePassedOver(t *testing.T) {
	disk := vfs.NewMem(1)
	used := journalled(t, disk, 7, nil, 1)
	journalled(t, disk, 8, used)
	if err := used.append(&Entry{Kind: KindPage, Depth: 2}); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(disk, ".", 9); err != nil { // and failed before its head was written
		t.Fatal(err)
	}
	journalled(t, disk, 10, used, 3)
	if got, stray := depths(t, disk, 7); !slices.Equal(got, []int{1, 2, 3}) || stray != "" {
		t.Errorf("%v, stray %q", got, stray)
	}
	if g, err := layout.Youngest(disk, "."); g != 10 || err != nil {
		t.Errorf("the youngest is %d, %v", g, err)
	}
}

// A group commit that began before a cut and ends behind it syncs the journal of that time once.
func TestLedger_aCutDuringAGroupCommit(t *testing.T) {
	disk := vfs.NewMem(1)
	l := &Store{syncing: make(chan struct{}, 1), Long: make(chan struct{}, 1)}
	first := journalled(t, disk, 1, nil)
	l.TurnTo(first)
	for depth := range 3 {
		if err := l.Write(entry(Entry{Kind: KindPage, Depth: depth})); err != nil {
			t.Fatal(err)
		}
	}
	l.TurnTo(journalled(t, disk, 2, first, 3))
	if err := l.syncJournals(first); err != nil {
		t.Fatal(err)
	}
	if err := l.syncJournals(l.Current()); err != nil {
		t.Fatal(err)
	}
	if got, stray := depths(t, disk.LostClone(0), 1); fmt.Sprint(got) != "[0 1 2 3]" || stray != "" {
		t.Errorf("%v, stray %q", got, stray)
	}
	if err := l.Close(); err != nil {
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
