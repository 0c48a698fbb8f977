package lookup

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/zipnum"
)

// Closed files without an index of their own have their lines from the cluster beside them, others from their own.
func TestScanReadsAClusterBesideFiles(t *testing.T) {
	fsys := vfs.NewMem(1)
	s := newStored(t, fsys, warc.Options{Dir: "w", SizeMax: 4_000})
	for i := range 40 {
		s.store(warc.Record{
			Type: warc.Response, TargetURI: fmt.Appendf(nil, "http://a.test/%d", i%7),
			Index: &warc.IndexInfo{Status: 200, MIME: []byte("text/html")},
		}, "HTTP/1.1 200 OK\r\n\r\n"+strings.Repeat(fmt.Sprint(i), 30))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	scan := func() (lines []string) {
		t.Helper()
		f := NewFiles(Options{FS: fsys, Dirs: []string{"w"}})
		err := f.Scan(t.Context(), Exact([]byte("test,a)/3")), func(line []byte) error {
			lines = append(lines, string(line))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return lines
	}
	want := scan()
	names, err := fsys.List("w")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	var indexes []string
	for _, name := range names {
		if strings.HasSuffix(name, ".cdxj") {
			text, err := vfs.ReadFile(fsys, "w/"+name)
			if err != nil {
				t.Fatal(err)
			}
			indexes = append(indexes, name)
			all = append(all, slices.Collect(strings.Lines(string(text)))...)
		}
	}
	slices.Sort(all)
	_, err = zipnum.Write(fsys, "w", zipnum.Options{BlockLines: 4}, func(add func([]byte) error) error {
		for _, line := range all {
			if err := add([]byte(strings.TrimSuffix(line, "\n"))); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(indexes) < 3 || len(want) < 5 {
		t.Fatal(indexes, len(want), err)
	}
	for _, name := range indexes {
		if err := fsys.Remove("w/" + name); err != nil {
			t.Fatal(err)
		}
		if got := scan(); !slices.Equal(got, want) {
			t.Fatalf("without %s: %d lines, want %d", name, len(got), len(want))
		}
	}
	// Now the WARC files are not read: a damaged one has its lines.
	f, err := fsys.OpenRW("w/" + strings.TrimSuffix(indexes[0], ".cdxj") + ".warc.gz")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(bytes.Repeat([]byte{0}, 100), 0); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if got := scan(); !slices.Equal(got, want) {
		t.Errorf("%d lines, want %d", len(got), len(want))
	}
}
