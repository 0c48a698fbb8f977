package lookup

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
	"orbweaver/warc/openindex"
)

// countingFS counts the bytes that are read from WARC files.
type countingFS struct {
	vfs.FS
	count int
}

func (c *countingFS) Open(name string) (vfs.File, error) {
	f, err := c.FS.Open(name)
	if _, _, ok := warc.CutName(name); ok && err == nil {
		return &countingFile{f, &c.count}, nil
	}
	return f, err
}

type countingFile struct {
	vfs.File
	count *int
}

func (c *countingFile) ReadAt(b []byte, offset int64) (int, error) {
	n, err := c.File.ReadAt(b, offset)
	*c.count += n
	return n, err
}

// killedArchive is an archive of n pages whose Writer was killed.
func killedArchive(t *testing.T, n int) *vfs.Mem {
	t.Helper()
	fsys := vfs.NewMem(1)
	s := newStored(t, fsys, warc.Options{Dir: "w", SizeMax: 1 << 22})
	for i := range n {
		s.page(numbered(i), fmt.Sprint(i))
		if err := s.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	return fsys.KillClone()
}

// After a kill a URL is found without reading the open file, except its end and the record.
func TestScan_afterAKillReadsTheEndOfTheOpenFile(t *testing.T) {
	const pages = 3000
	fsys := killedArchive(t, pages)
	size, err := fsys.Size(archiveName(t, fsys, "w", ".warc.gz.open"))
	if err != nil {
		t.Fatal(err)
	}
	disk := &countingFS{FS: fsys}
	a := New(NewFiles(Options{FS: disk, Dirs: []string{"w"}}))
	for _, n := range []int{3, pages / 2, pages - 1} {
		if _, payload, err := read(t, a, numbered(n), time.Time{}); err != nil || payload != fmt.Sprint(n) {
			t.Errorf("page %d: %q, %v", n, payload, err)
		}
	}
	most := int(size) / 2
	if disk.count > most {
		t.Errorf("%d of %d bytes were read", disk.count, size)
	}
	got := urls(t, a, everything())
	if err := fsys.Remove(archiveName(t, fsys, "w", ".cdxj.open")); err != nil {
		t.Fatal(err)
	}
	disk.count = 0
	want := urls(t, NewFiles(Options{FS: disk, Dirs: []string{"w"}}), everything())
	if !slices.Equal(got, want) || len(want) != pages {
		t.Errorf("%d lines, and %d without the file", len(got), len(want))
	}
	if disk.count < int(size) {
		t.Errorf("without the file %d of %d bytes were read", disk.count, size)
	}
}

// Lines that do not agree with their records are not used, whatever checksum they have.
func TestScan_doesNotTrustTheLinesOfAnOpenFile(t *testing.T) {
	for _, first := range []int{10, 0} {
		fsys := killedArchive(t, 20)
		name := archiveName(t, fsys, "w", ".warc.gz.open")
		file, err := fsys.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		size, err := file.Size()
		if err != nil {
			t.Fatal(err)
		}
		var offsets []int64
		before := NewFiles(Options{FS: fsys, Dirs: []string{"w"}})
		if err := before.Scan(t.Context(), everything(), func(line []byte) error {
			offsets = append(offsets, cdxj.Offset(line))
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		slices.Sort(offsets)
		var lines cdxj.Lines // of other URLs at the places of these records
		for i, offset := range offsets {
			e := cdxj.Entry{URI: []byte(numbered(i)), Date: began.Add(time.Duration(i) * time.Second)}
			if i >= first {
				e.URI = []byte("http://false.test/")
			}
			lines.Add(e.Append(nil), offset, 1)
		}
		f := openindex.File{FS: fsys, Name: warc.IndexName(name) + openindex.Suffix}
		if err := f.Mark(openindex.Mark{
			Archive: file, End: size, Lines: &lines, Count: lines.Len(), Records: map[string]uint64{},
		}); err != nil {
			t.Fatal(err)
		}
		a := New(NewFiles(Options{FS: fsys, Dirs: []string{"w"}}))
		if _, payload, err := read(t, a, numbered(3), time.Time{}); first > 3 && (err != nil || payload != "3") {
			t.Errorf("%q, %v", payload, err)
		}
		if _, payload, err := read(t, a, "http://false.test/", time.Time{}); !errors.Is(err, ErrNoCapture) {
			t.Errorf("%q, %v", payload, err)
		}
		for _, n := range []int{3, 15} {
			if _, payload, err := read(t, a, numbered(n), time.Time{}); err != nil || payload != fmt.Sprint(n) {
				t.Errorf("page %d: %q, %v", n, payload, err)
			}
		}
	}
}

// One look-up after a kill, in an open file of 64 MiB: with the lines beside it, and without.
func BenchmarkScan_afterAKill(b *testing.B) {
	disk, dir := vfs.Disk(), b.TempDir()
	w, err := warc.OpenWriter(disk, warc.Options{Dir: dir}, nil)
	if err != nil {
		b.Fatal(err)
	}
	s := stored{Writer: w, t: b, encod: newEncoder(b), clock: began}
	body, random := make([]byte, 6<<10), rand.NewChaCha8([32]byte{})
	for i := 0; w.Checkpoint().Length < 64<<20; i++ {
		_, _ = random.Read(body) // never fails
		s.page(numbered(i), hex.EncodeToString(body))
		if i%64 > 0 {
			continue
		}
		if err := w.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Abandon(); err != nil {
		b.Fatal(err)
	}
	key, _, err := KeyOf([]byte(numbered(1000)))
	if err != nil {
		b.Fatal(err)
	}
	find := func(b *testing.B) {
		for b.Loop() {
			found := 0
			files := NewFiles(Options{FS: disk, Dirs: []string{dir}})
			err := files.Scan(b.Context(), Exact(key), func([]byte) error { found++; return nil })
			if err != nil || found != 1 {
				b.Fatal(found, err)
			}
		}
	}
	b.Run("lines", find)
	names, err := disk.List(dir)
	if err != nil {
		b.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, openindex.Suffix) && strings.Contains(name, ".cdxj") {
			if err := disk.Remove(dir + "/" + name); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("no lines", find)
}
