package engine

import (
	"errors"
	"io"
	"net/netip"
	"testing"
	"time"

	"orbweaver/engine/fetch"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// newJournal makes generation 3 of a journal in the directory "frontier".
func newJournal(t *testing.T) (*vfs.Mem, *journal) {
	t.Helper()
	fsys := vfs.NewMem(1)
	if err := fsys.MkdirAll(FrontierDir); err != nil {
		t.Fatal(err)
	}
	j, err := createJournal(fsys, FrontierDir, 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.follow(nil); err != nil {
		t.Fatal(err)
	}
	return fsys, j
}

func appendAttempts(t *testing.T, j *journal, n int) {
	t.Helper()
	for range n {
		e := someEntry()
		if err := errors.Join(j.reserve(e.size()), j.append(&e)); err != nil {
			t.Fatal(err)
		}
	}
}

func countAttempts(t *testing.T, fsys vfs.FS, j *journal) (n, links int) {
	t.Helper()
	end, err := readJournal(fsys, journalName(FrontierDir, 3), func(e *journalEntry) error {
		n, links = n+1, max(links, len(e.Links))
		return nil
	})
	if err != nil || end != j.size {
		t.Errorf("the journal is read to %d of %d: %v", end, j.size, err)
	}
	return n, links
}

// What append takes, readJournal gives back; what readJournal would not give back, append refuses, and the journal stays as it was.
func TestJournal_theLargestEntryIsReadAndOneByteMoreIsRefused(t *testing.T) {
	fsys, j := newJournal(t)
	appendAttempts(t, j, 1)
	large := someEntry()
	large.Links = make([]byte, journalLinksMax+1)
	before := j.size
	if err := j.append(&large); !errors.Is(err, errJournalRange) || j.size != before {
		t.Errorf("an entry with %d bytes of links is written: %v", len(large.Links), err)
	}
	large.Links = large.Links[:journalLinksMax]
	if err := j.append(&large); err != nil {
		t.Fatal(err)
	}
	appendAttempts(t, j, 1)
	if n, links := countAttempts(t, fsys, j); n != 3 || links != journalLinksMax {
		t.Errorf("%d entries of 3 are read, the largest with %d bytes of links", n, links)
	}
}

func TestJournal_aFieldThatWouldComeBackAsAnotherIsRefused(t *testing.T) {
	for name, change := range map[string]func(e *journalEntry){
		"status":  func(e *journalEntry) { e.Status = 1 << 16 },
		"depth":   func(e *journalEntry) { e.Depth = 1 << 24 },
		"hops":    func(e *journalEntry) { e.Hops = journalIndex },
		"offset":  func(e *journalEntry) { e.Offset = 1 << 56 },
		"length":  func(e *journalEntry) { e.Length = 1 << 32 },
		"outcome": func(e *journalEntry) { e.Outcome = 255 },
		"kind":    func(e *journalEntry) { e.Kind = journalSynced + 1 },
	} {
		_, j := newJournal(t)
		e := someEntry()
		change(&e)
		if err := j.append(&e); !errors.Is(err, errJournalRange) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Versions without a limit in append wrote entries of more than 64 MiB (a revisit with 160 MB of links). The reader took them for torn:
// of 80 attempts it lost 70.
func TestJournal_anEntryOfAFormerVersionThatIsTooLargeCostsNoAttempt(t *testing.T) {
	fsys, j := newJournal(t)
	appendAttempts(t, j, 10)
	large := someEntry()
	large.Links = make([]byte, journalLinksMax+1)
	b := appendJournalEntry(nil, &large)
	if _, err := j.file.WriteAt(b, j.size); err != nil {
		t.Fatal(err)
	}
	at := j.size
	j.size += int64(len(b))
	appendAttempts(t, j, 69)
	if n, links := countAttempts(t, fsys, j); n != 80 || links != journalLinksMax+1 {
		t.Errorf("%d attempts of 80 are read", n)
	}
	// One wrong byte in it, and it counts no more.
	if _, err := j.file.WriteAt([]byte{1}, at+journalFixed+1000); err != nil {
		t.Fatal(err)
	}
	n := 0
	end, err := readJournal(fsys, journalName(FrontierDir, 3), func(*journalEntry) error { n++; return nil })
	if n != 10 || end != at || err != nil {
		t.Errorf("%d entries up to %d, want 10 up to %d: %v", n, end, at, err)
	}
}

// A power cut may lose an entry and keep the next, if neither was synced. What stands behind a sync mark tells that it was damage.
func TestJournal_onlyASyncMarkTellsDamageFromAPowerCut(t *testing.T) {
	for _, synced := range []bool{false, true} {
		fsys, j := newJournal(t)
		appendAttempts(t, j, 2)
		if synced {
			j.safe = journalEnd{3, j.size}
		}
		appendAttempts(t, j, 3)
		if n, _ := countAttempts(t, fsys, j); n != 5 {
			t.Fatalf("%d entries of 5: a sync mark is none", n)
		}
		i := &Inspection{fsys: fsys, dir: FrontierDir, Generation: 3}
		damage := int64(journalHeadSize) + 10
		if _, err := j.file.WriteAt([]byte{0xAA}, damage); err != nil {
			t.Fatal(err)
		}
		tails, err := i.Journal(func(JournalEntry) error { return io.ErrUnexpectedEOF })
		if err != nil || len(tails) != 1 {
			t.Fatalf("%+v, %v", tails, err)
		}
		if got := tails[0]; !got.Torn || got.Behind != 4 || got.Synced != synced || got.Offset != int64(journalHeadSize) {
			t.Errorf("synced %v: %+v", synced, got)
		}
		if _, err := j.file.WriteAt([]byte{0}, 0); err != nil { // the head
			t.Fatal(err)
		}
		tails, err = i.Journal(func(JournalEntry) error { return io.ErrUnexpectedEOF })
		if err != nil || len(tails) != 1 || tails[0].Synced != synced {
			t.Errorf("synced %v, without a head: %+v, %v", synced, tails, err)
		}
	}
}

// A power cut tears the first entry of a journal, behind a whole sync mark. That is no damage: the mark names nothing that is lost.
func TestJournal_aTornEntryBehindASyncMarkIsNoDamage(t *testing.T) {
	fsys, before := newJournal(t)
	appendAttempts(t, before, 1)
	j, err := createJournal(fsys, FrontierDir, 4)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.follow(before); err != nil {
		t.Fatal(err)
	}
	j.safe = journalEnd{4, j.size}
	appendAttempts(t, j, 1)
	if err := j.file.Truncate(j.size - 20); err != nil {
		t.Fatal(err)
	}
	i := &Inspection{fsys: fsys, dir: FrontierDir, Generation: 3}
	tails, err := i.Journal(func(JournalEntry) error { return nil })
	for _, tail := range tails {
		if err != nil || tail.Synced {
			t.Errorf("%+v, %v", tail, err)
		}
	}
}

// What appendItem writes, decodeItem reads: a chain of links may be longer than the depth that the form holds.
func TestItem_aDepthBeyondTheFormIsReadAsTheLargest(t *testing.T) {
	for depth, want := range map[int]int{depthMax: depthMax, depthMax + 1: depthMax, 1 << 40: depthMax} {
		if it, ok := decodeItem(appendItem(nil, &Item{Depth: depth, Rest: []byte("/")})); !ok || it.Depth != want {
			t.Errorf("depth %d comes back as %d, %v", depth, it.Depth, ok)
		}
	}
}

// A site with as many addresses as the snapshot's reader takes comes back with all; of more the site keeps no more.
func TestSite_asManyAddressesAsTheReaderTakes(t *testing.T) {
	addrs := make([]netip.Addr, siteAddrsMax+1)
	for i := range addrs {
		addrs[i] = netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
	}
	var s Site
	s.setAddrs(addrs, addrs[0], time.Time{})
	got, err := decodeSite(AppendSite(nil, &s), newRulesPool(0))
	if err != nil || got.addrCount() != siteAddrsMax {
		t.Errorf("%d addresses of %d: %v", got.addrCount(), len(addrs), err)
	}
}

// The longest response that any options let the fetcher keep fits into a record that every reader takes.
func TestArchive_theLongestResponseFitsIntoARecord(t *testing.T) {
	o := fetch.Options{BodyMax: 1 << 30, HeaderMax: 16 << 20, UserAgent: "x"}.WithDefaults()
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	if n := o.BufferMax(); n > warc.BlockMax {
		t.Errorf("a response of %d bytes, and a block has %d at most", n, warc.BlockMax)
	}
	if o.BodyMax++; o.Validate() == nil {
		t.Error("a larger body is allowed")
	}
}
