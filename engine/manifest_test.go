package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"strings"
	"testing"

	"orbweaver/engine/cluster"
	"orbweaver/engine/journal"
	"orbweaver/engine/lifecycle"
	"orbweaver/engine/queued"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// FuzzAloft reads lists of URLs in flight that somebody made, with a checksum that holds: an error, or whole items.
func FuzzAloft(f *testing.F) {
	item := queued.Append(nil, &queued.URL{Depth: 1, Rest: []byte("/x")})
	list := journal.AppendLink(journal.AppendLink(nil, []byte("http://a.test")), item)
	good := append(binary.LittleEndian.AppendUint64(nil, uint64(len(list))), list...)
	f.Add(good)
	f.Add(append(bytes.Clone(good), make([]byte, 16)...)) // and one that is done already
	f.Add(append(bytes.Clone(good), 1, 2, 3))
	f.Add(binary.LittleEndian.AppendUint64(nil, 1<<63))
	f.Add(append(binary.LittleEndian.AppendUint64(nil, 2), 200, 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		whole := binary.LittleEndian.AppendUint32(bytes.Clone(b), crc32.Checksum(b, journal.Castagnoli()))
		total := 0
		err := readAloft(whole, func(key, item []byte) { total += len(key) + len(item) }, journal.NewFinishedURLs())
		if total > len(b) || err == nil && len(b) < 8 {
			t.Errorf("%d bytes of items in %d: %v", total, len(b), err)
		}
		whole[len(whole)-1] ^= 1
		item := func(_, _ []byte) { t.Error("an item under a wrong checksum") }
		if err := readAloft(whole, item, journal.NewFinishedURLs()); err == nil {
			t.Error("a wrong checksum is taken")
		}
	})
}

func FuzzManifest(f *testing.F) {
	fsys := vfs.NewMem(1)
	if err := fsys.MkdirAll("d"); err != nil {
		f.Fatal(err)
	}
	if err := writeManifest(fsys, "d", &manifest{Generation: 5, State: lifecycle.Running}); err != nil {
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

// All manifests have a number that versions without sync marks refuse: these read 4, 5 and 6, and take a mark for a
// torn entry. What these have written is read.
func TestManifest_hasANumberThatVersionsWithoutSyncMarksRefuse(t *testing.T) {
	fsys := vfs.NewMem(1)
	for _, m := range []*manifest{
		{Generation: 3}, {Generation: 4, Pass: 1, From: warc.Cut{Serial: 2, Length: 7}, Afresh: true}, {Generation: 5,
			Peers: &cluster.Checkpoint{Births: 3}},
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
			if err != nil || got.Generation != m.Generation || got.Pass != m.Pass || got.From != m.From ||
				got.Afresh != m.Afresh || (got.Peers == nil) != (m.Peers == nil) {
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
	if _, err := readManifest(fsys, "."); !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(),
		"orbweaver-manifest 1") {
		t.Errorf("%v", err)
	}
}
