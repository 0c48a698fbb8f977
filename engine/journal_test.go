package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/outcome"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

func someEntry() journalEntry {
	return journalEntry{
		Kind: journalPage, FP: xxh3.Uint128{Hi: 1 << 63, Lo: 7}, Outcome: outcome.OK, Status: 200, Depth: 70000, Hops: 3, Listed: true, Index: true,
		Serial: 9, Offset: 1<<40 + 5, Length: 4711, SiteDue: 1, IPDue: 2, Links: appendLink(nil, []byte("http://a.test/")),
	}
}

func TestHostile_S05_aJournalTornAtAnyByteIsReadUpToThere(t *testing.T) {
	fsys := vfs.NewMem(1)
	if err := fsys.MkdirAll("d"); err != nil {
		t.Fatal(err)
	}
	j, err := createJournal(fsys, "d", 3)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.follow(nil); err != nil {
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
		_, err := readJournal(fsys, journalName("d", 3), func(e *journalEntry) error {
			n++
			if e.FP != want.FP || e.Depth != want.Depth || e.Offset != want.Offset || e.Serial != want.Serial ||
				e.Length != want.Length || e.Hops != 3 || !e.Listed || !e.Index || e.SiteDue != 1 || e.IPDue != 2 || !bytes.Equal(e.Links, want.Links) {
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
	f, err := fsys.OpenRW(journalName("d", 3))
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

func FuzzItem(f *testing.F) {
	f.Add(appendItem(nil, &Item{Listed: true, Depth: 1, Rest: []byte("/sitemap.xml")}))
	f.Add(appendItem(nil, &Item{Seed: true, Depth: 3, Hops: 2, Try: 1, Rest: []byte("/x")}))
	f.Add(appendItem(nil, &Item{RobotsOf: []byte("http://a.test"), Hops: 1, Rest: []byte("/robots.txt")}))
	f.Fuzz(func(t *testing.T, b []byte) {
		it, ok := decodeItem(b)
		if !ok {
			return
		}
		again, ok := decodeItem(appendItem(nil, &it))
		if !ok || again.Depth != it.Depth || again.Hops != it.Hops || again.Try != it.Try || again.Seed != it.Seed ||
			!bytes.Equal(again.Rest, it.Rest) || !bytes.Equal(again.RobotsOf, it.RobotsOf) {
			t.Errorf("%+v came back as %+v", it, again)
		}
	})
}

// FuzzAloft reads lists of URLs in flight that somebody made, with a checksum that holds: an error, or whole items.
func FuzzAloft(f *testing.F) {
	item := appendItem(nil, &Item{Depth: 1, Rest: []byte("/x")})
	list := appendLink(appendLink(nil, []byte("http://a.test")), item)
	good := append(binary.LittleEndian.AppendUint64(nil, uint64(len(list))), list...)
	f.Add(good)
	f.Add(append(bytes.Clone(good), make([]byte, 16)...)) // and one that is done already
	f.Add(append(bytes.Clone(good), 1, 2, 3))
	f.Add(binary.LittleEndian.AppendUint64(nil, 1<<63))
	f.Add(append(binary.LittleEndian.AppendUint64(nil, 2), 200, 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		whole := binary.LittleEndian.AppendUint32(bytes.Clone(b), crc32.Checksum(b, castagnoli()))
		total := 0
		err := readAloft(whole, func(key, item []byte) { total += len(key) + len(item) }, newRedone())
		if total > len(b) || err == nil && len(b) < 8 {
			t.Errorf("%d bytes of items in %d: %v", total, len(b), err)
		}
		whole[len(whole)-1] ^= 1
		if err := readAloft(whole, func(_, _ []byte) { t.Error("an item under a wrong checksum") }, newRedone()); err == nil {
			t.Error("a wrong checksum is taken")
		}
	})
}

func FuzzManifest(f *testing.F) {
	fsys := vfs.NewMem(1)
	if err := fsys.MkdirAll("d"); err != nil {
		f.Fatal(err)
	}
	if err := writeManifest(fsys, "d", &manifest{Generation: 5, State: StateRunning}); err != nil {
		f.Fatal(err)
	}
	b, err := vfs.ReadFile(fsys, manifestName("d"))
	if err != nil {
		f.Fatal(err)
	}
	if m, err := parseManifest(b); err != nil || m.Generation != 5 {
		f.Fatalf("%+v %v", m, err)
	}
	f.Add(b)
	f.Add([]byte("orbweaver-manifest 9 00000000\n{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := parseManifest(b); err == nil && m == nil {
			t.Error("neither a manifest nor an error")
		}
	})
}

func FuzzSite(f *testing.F) {
	pool := newRulesPool(0)
	f.Add(AppendSite(nil, &Site{Stored: 4, Denied: true}))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := decodeSite(b, pool)
		if err != nil {
			return
		}
		if _, err := decodeSite(AppendSite(nil, &s), pool); err != nil {
			t.Error(err)
		}
	})
}

// All manifests have a number that versions without sync marks refuse: these read 4, 5 and 6, and take a mark for a torn entry. What these have written is
// read.
func TestManifest_hasANumberThatVersionsWithoutSyncMarksRefuse(t *testing.T) {
	fsys := vfs.NewMem(1)
	for _, m := range []*manifest{
		{Generation: 3}, {Generation: 4, Pass: 1, From: warc.Cut{Serial: 2, Length: 7}, Afresh: true}, {Generation: 5, Peers: &peersCut{Births: 3}},
	} {
		if err := writeManifest(fsys, ".", m); err != nil {
			t.Fatal(err)
		}
		b, err := vfs.ReadFile(fsys, manifestName("."))
		if err != nil || !strings.HasPrefix(string(b), "orbweaver-manifest 7 ") {
			t.Fatalf("%.40s, %v", b, err)
		}
		for _, magic := range append(formerManifests(), manifestMagic) {
			former := strings.Replace(string(b), "orbweaver-manifest 7", magic, 1)
			got, err := parseManifest([]byte(former))
			if err != nil || got.Generation != m.Generation || got.Pass != m.Pass || got.From != m.From || got.Afresh != m.Afresh || (got.Peers == nil) != (m.Peers == nil) {
				t.Errorf("%s: %+v, %v", magic, got, err)
			}
		}
	}
}

func TestHostile_S10_aManifestOfAnotherVersionIsRefused(t *testing.T) {
	fsys := vfs.NewMem(1)
	if err := vfs.WriteAtomic(fsys, manifestName("."), func(w io.Writer) error {
		_, err := io.WriteString(w, "orbweaver-manifest 1 00000000\n{}")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := readManifest(fsys, "."); !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "orbweaver-manifest 1") {
		t.Errorf("%v", err)
	}
}
