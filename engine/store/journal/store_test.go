package journal

import (
	"testing"

	"orbweaver/internal/vfs"
)

// entry is an attempt without records, and without a limit on pages.
func entry(e Entry) *Pending {
	p := NewPending(nil)
	p.Entry = e
	return p
}

// A long journal asks for a checkpoint once, and the entries come back when it is read.
func TestALongJournalAsksForACheckpoint(t *testing.T) {
	disk := vfs.NewMem(1)
	j, err := Create(disk, ".", 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Follow(nil); err != nil {
		t.Fatal(err)
	}
	l := &Store{Journal: j, Long: make(chan struct{}, 1)}
	for n := range journalLong + 10 {
		if err := l.Write(entry(Entry{Kind: KindPage, Depth: n % 1000, Links: make([]byte, n%3)})); err != nil {
			t.Fatal(err)
		}
		select {
		case <-l.Long:
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
	_, err = Read(disk, Name(".", 1), func(e *Entry) error {
		if e.Depth != n%1000 || len(e.Links) != n%3 {
			t.Fatalf("entry %d: %+v", n, e)
		}
		n++
		return nil
	})
	if err != nil || n != journalLong+10 {
		t.Errorf("%d entries read: %v", n, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
