package journal

import (
	"bytes"
	"errors"
	"testing"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/counters"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
)

func someEntry() Entry {
	return Entry{
		Kind: KindPage, FP: xxh3.Uint128{Hi: 1 << 63, Lo: 7}, Outcome: outcome.OK, Status: 200, Depth: 70000, Hops: 3,
		Sitemap: true, Listed: true, Index: true,
		Serial: 9, Offset: 1<<40 + 5, Length: 4711, SiteDue: 1, IPDue: 2,
		Links: AppendLink(nil, parse.Anchor, []byte("http://a.test/")),
	}
}

func TestHostile_S05_aJournalTornAtAnyByteIsReadUpToThere(t *testing.T) {
	fsys := vfs.NewMem(1)
	if err := fsys.MkdirAll("d"); err != nil {
		t.Fatal(err)
	}
	j, err := Create(fsys, "d", 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Follow(nil); err != nil {
		t.Fatal(err)
	}
	want := someEntry()
	for range 3 {
		if err := j.reserve(want.size()); err != nil {
			t.Fatal(err)
		}
		if err := j.append(&want); err != nil {
			t.Fatal(err)
		}
	}
	read := func() (n int) {
		_, err := Read(fsys, Name("d", 3), func(e *Entry) error {
			n++
			if e.FP != want.FP || e.Depth != want.Depth || e.Offset != want.Offset || e.Serial != want.Serial ||
				e.Length != want.Length || e.Hops != 3 || !e.Listed || !e.Index || e.SiteDue != 1 || e.IPDue != 2 ||
				!bytes.Equal(e.Links, want.Links) {
				t.Errorf("read %+v, wrote %+v", e, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := read(); n != 3 {
		t.Fatalf("%d entries of 3; the reserved space behind them must not count", n)
	}
	f, err := fsys.OpenRW(Name("d", 3))
	if err != nil {
		t.Fatal(err)
	}
	last := make([]byte, want.size())
	begin := j.size - int64(len(last))
	if _, err := f.ReadAt(last, begin); err != nil {
		t.Fatal(err)
	}
	put := func(b []byte) {
		if _, err := f.WriteAt(b, begin); err != nil {
			t.Fatal(err)
		}
	}
	for k := range last {
		torn := make([]byte, len(last)) // the reserved space is zeros
		copy(torn, last[:k])
		put(torn)
		if n := read(); n != 2 {
			t.Errorf("%d entries, though the third ends at byte %d of %d", n, k, len(last))
		}
		wrong := bytes.Clone(last)
		wrong[k] ^= 0xff
		put(wrong)
		if n := read(); n != 2 {
			t.Errorf("%d entries, though byte %d of the third is wrong", n, k)
		}
	}
	put(last)
	if n := read(); n != 3 {
		t.Errorf("%d entries when all is right again", n)
	}
}

func TestJournal_anEntryIsAtMost64Bytes(t *testing.T) {
	e := someEntry()
	e.Links = nil
	if n := len(appendJournalEntry(nil, &e)); n > 64 {
		t.Errorf("%d bytes", n)
	}
}

func FuzzJournalEntry(f *testing.F) {
	e := someEntry()
	f.Add(appendJournalEntry(nil, &e))
	e.Sums = counters.AppendSum(nil, "pages", 1)
	f.Add(appendJournalEntry(nil, &e))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, n, err := decodeJournalEntry(b)
		if err != nil {
			return
		}
		if again := appendJournalEntry(nil, &e); !bytes.Equal(again, b[:n]) {
			t.Errorf("% x came back as % x", b[:n], again)
		}
	})
}

// A record of a long body has more than 32 bits of length, and comes back as it was. One beyond the format is refused.
func TestEntry_aRecordOfATerabyte(t *testing.T) {
	for _, length := range []int64{1, 1<<32 - 1, 1 << 32, 1<<40 + 1<<37, 1<<47 - 1} {
		e := someEntry()
		e.Offset, e.Length = 1<<41-1, length
		if err := e.check(); err != nil {
			t.Fatal(err)
		}
		got, _, err := decodeJournalEntry(appendJournalEntry(nil, &e))
		if err != nil || got.Length != length || got.Offset != e.Offset {
			t.Errorf("%d bytes at %d: read as %d at %d, %v", length, e.Offset, got.Length, got.Offset, err)
		}
	}
	for _, e := range []Entry{{Kind: KindPage, Offset: 1 << 41}, {Kind: KindPage, Length: 1 << 47}} {
		if err := e.check(); !errors.Is(err, errJournalRange) {
			t.Errorf("%d bytes at %d: %v", e.Length, e.Offset, err)
		}
	}
}
