package journal

import (
	"errors"
	"io"
	"testing"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
)

// newJournal makes generation 3 of a journal in the directory "frontier".
func newJournal(t *testing.T) (*vfs.Mem, *File) {
	t.Helper()
	fsys := vfs.NewMem(1)
	if err := fsys.MkdirAll(layout.FrontierDir); err != nil {
		t.Fatal(err)
	}
	j, err := Create(fsys, layout.FrontierDir, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Follow(nil); err != nil {
		t.Fatal(err)
	}
	return fsys, j
}

func appendAttempts(t *testing.T, j *File, n int) {
	t.Helper()
	for range n {
		e := someEntry()
		if err := errors.Join(j.reserve(e.size()), j.append(&e)); err != nil {
			t.Fatal(err)
		}
	}
}

func countAttempts(t *testing.T, fsys vfs.FS, j *File) (n, links int) {
	t.Helper()
	end, err := Read(fsys, Name(layout.FrontierDir, 3), func(e *Entry) error {
		n, links = n+1, max(links, len(e.Links))
		return nil
	})
	if err != nil || end != j.size {
		t.Errorf("the journal is read to %d of %d: %v", end, j.size, err)
	}
	return n, links
}

// What append takes, Read gives back; what Read would not give back, append refuses, and the journal
// stays as it was.
func TestJournal_theLargestEntryIsReadAndOneByteMoreIsRefused(t *testing.T) {
	fsys, j := newJournal(t)
	appendAttempts(t, j, 1)
	large := someEntry()
	large.Links = make([]byte, JournalLinksMax+1)
	before := j.size
	if err := j.append(&large); !errors.Is(err, errJournalRange) || j.size != before {
		t.Errorf("an entry with %d bytes of links is written: %v", len(large.Links), err)
	}
	large.Links = large.Links[:JournalLinksMax]
	if err := j.append(&large); err != nil {
		t.Fatal(err)
	}
	appendAttempts(t, j, 1)
	if n, links := countAttempts(t, fsys, j); n != 3 || links != JournalLinksMax {
		t.Errorf("%d entries of 3 are read, the largest with %d bytes of links", n, links)
	}
}

func TestJournal_aFieldThatWouldComeBackAsAnotherIsRefused(t *testing.T) {
	for name, change := range map[string]func(e *Entry){
		"status":  func(e *Entry) { e.Status = 1 << 16 },
		"depth":   func(e *Entry) { e.Depth = 1 << 24 },
		"hops":    func(e *Entry) { e.Hops = journalSitemap },
		"offset":  func(e *Entry) { e.Offset = 1 << 41 },
		"length":  func(e *Entry) { e.Length = 1 << 47 },
		"outcome": func(e *Entry) { e.Outcome = 255 },
		"kind":    func(e *Entry) { e.Kind = kindSynced + 1 },
	} {
		_, j := newJournal(t)
		e := someEntry()
		change(&e)
		if err := j.append(&e); !errors.Is(err, errJournalRange) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Versions without a limit in append wrote entries of more than 64 MiB (a revisit with 160 MB of links). The reader
// took them for torn: of 80 attempts it lost 70.
func TestJournal_anEntryOfAFormerVersionThatIsTooLargeCostsNoAttempt(t *testing.T) {
	fsys, j := newJournal(t)
	appendAttempts(t, j, 10)
	large := someEntry()
	large.Links = make([]byte, JournalLinksMax+1)
	b := appendJournalEntry(nil, &large)
	if _, err := j.file.WriteAt(b, j.size); err != nil {
		t.Fatal(err)
	}
	at := j.size
	j.size += int64(len(b))
	appendAttempts(t, j, 69)
	if n, links := countAttempts(t, fsys, j); n != 80 || links != JournalLinksMax+1 {
		t.Errorf("%d attempts of 80 are read", n)
	}
	// One wrong byte in it, and it counts no more.
	if _, err := j.file.WriteAt([]byte{1}, at+journalFixed+1000); err != nil {
		t.Fatal(err)
	}
	n := 0
	end, err := Read(fsys, Name(layout.FrontierDir, 3), func(*Entry) error { n++; return nil })
	if n != 10 || end != at || err != nil {
		t.Errorf("%d entries up to %d, want 10 up to %d: %v", n, end, at, err)
	}
}

// A power cut may lose an entry and keep the next, if neither was synced. What stands behind a sync mark tells that it
// was damage.
func TestJournal_onlyASyncMarkTellsDamageFromAPowerCut(t *testing.T) {
	for _, synced := range []bool{false, true} {
		fsys, j := newJournal(t)
		appendAttempts(t, j, 2)
		if synced {
			j.safe = Position{3, j.size}
		}
		appendAttempts(t, j, 3)
		if n, _ := countAttempts(t, fsys, j); n != 5 {
			t.Fatalf("%d entries of 5: a sync mark is none", n)
		}
		damage := int64(journalHeadSize) + 10
		if _, err := j.file.WriteAt([]byte{0xAA}, damage); err != nil {
			t.Fatal(err)
		}
		tails, err := Examine(fsys, layout.FrontierDir, 3, func(Attempt) error { return io.ErrUnexpectedEOF })
		if err != nil || len(tails) != 1 {
			t.Fatalf("%+v, %v", tails, err)
		}
		if got := tails[0]; !got.Torn || got.Unread != 4 || got.Synced != synced ||
			got.Offset != int64(journalHeadSize) {
			t.Errorf("synced %v: %+v", synced, got)
		}
		if _, err := j.file.WriteAt([]byte{0}, 0); err != nil { // the head
			t.Fatal(err)
		}
		tails, err = Examine(fsys, layout.FrontierDir, 3, func(Attempt) error { return io.ErrUnexpectedEOF })
		if err != nil || len(tails) != 1 || tails[0].Synced != synced {
			t.Errorf("synced %v, without a head: %+v, %v", synced, tails, err)
		}
	}
}

// A power cut tears the first entry of a journal, behind a whole sync mark. That is no damage: the mark names nothing
// that is lost.
func TestJournal_aTornEntryBehindASyncMarkIsNoDamage(t *testing.T) {
	fsys, before := newJournal(t)
	appendAttempts(t, before, 1)
	j, err := Create(fsys, layout.FrontierDir, 4)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Follow(before); err != nil {
		t.Fatal(err)
	}
	j.safe = Position{4, j.size}
	appendAttempts(t, j, 1)
	if err := j.file.Truncate(j.size - 20); err != nil {
		t.Fatal(err)
	}
	tails, err := Examine(fsys, layout.FrontierDir, 3, func(Attempt) error { return nil })
	for _, tail := range tails {
		if err != nil || tail.Synced {
			t.Errorf("%+v, %v", tail, err)
		}
	}
}
