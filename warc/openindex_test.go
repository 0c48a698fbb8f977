package warc

import (
	"slices"
	"strings"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/warc/cdxj"
	"orbweaver/warc/fixity"
	"orbweaver/warc/openindex"
)

// countingFS counts the bytes that are read from WARC files.
type countingFS struct {
	vfs.FS
	count int64
}

func (c *countingFS) OpenRW(name string) (vfs.File, error) {
	f, err := c.FS.OpenRW(name)
	return &countingFile{f, &c.count}, err
}

func (c *countingFS) Open(name string) (vfs.File, error) {
	f, err := c.FS.Open(name)
	if _, _, ok := CutName(name); ok && err == nil {
		f = &countingFile{f, &c.count}
	}
	return f, err
}

type countingFile struct {
	vfs.File
	count *int64
}

func (c *countingFile) ReadAt(b []byte, offset int64) (int, error) {
	n, err := c.File.ReadAt(b, offset)
	*c.count += int64(n)
	return n, err
}

// killedArchive is an archive with one open file, whose Writer was killed.
type killedArchive struct {
	disk *vfs.Mem
	o    Options
	ends []Checkpoint // of its groups
}

// killArchive stores pages with many group commits, and kills the Writer.
func killArchive(t *testing.T, c Compression, later bool) *killedArchive {
	t.Helper()
	k := &killedArchive{disk: vfs.NewMem(1), o: Options{Dir: "warc", Compression: c, SizeMax: 1 << 22, FinishLater: later}}
	k.run(t, nil, 300)
	return k
}

// run stores n pages behind a Checkpoint, and kills the Writer.
func (k *killedArchive) run(t *testing.T, from *Checkpoint, n int) {
	t.Helper()
	w, err := OpenWriter(k.disk, k.o, from)
	if err != nil {
		t.Fatal(err)
	}
	k.store(t, w, n)
	k.disk = k.disk.KillClone()
}

// store stores n pages, each with a group commit of its own.
func (k *killedArchive) store(t *testing.T, w *Writer, n int) {
	t.Helper()
	e := newTestEncoder(t, k.o.Compression)
	for i := range n {
		e.Reset()
		page(t, e, len(k.ends)+i, 400)
		pos, err := w.Append(e.Group())
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Sync(); err != nil {
			t.Fatal(err)
		}
		k.ends = append(k.ends, pos.End())
	}
}

// sideFile is the name of the file with the lines of the open file.
func (k *killedArchive) sideFile(t *testing.T) string {
	t.Helper()
	names, err := k.disk.List("warc")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(names, func(n string) bool { return strings.HasSuffix(n, indexSuffix+openindex.Suffix) })
	if i < 0 {
		t.Fatalf("no lines of the open file in %q", names)
	}
	return "warc/" + names[i]
}

// finish resumes the archive at a Checkpoint, stores some pages and closes it. It returns how many bytes were read. The
// index and what a Listener is told are those of the whole file, and no other file is left.
func (k *killedArchive) finish(t *testing.T, from Checkpoint) int64 {
	t.Helper()
	disk, told := &countingFS{FS: k.disk}, newAnnounced()
	k.o.Listeners = []fixity.Listener{told}
	w, err := OpenWriter(disk, k.o, &from)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Finish(); err != nil {
		t.Fatal(err)
	}
	read := disk.count
	k.store(t, w, 40)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	verifyDir(t, k.disk)
	checkIndexes(t, k.disk)
	told.checkAgainst(t, k.disk)
	if names, _ := k.disk.List("warc"); len(names) != 2 {
		t.Errorf("%q", names)
	}
	return read
}

// After a kill, the lines in the file beside the open WARC file count, and only the end of the WARC file is read. Its
// digest must be computed from all bytes here, since the killed run had no Listener.
func TestResume_readsTheEndOfTheOpenFile(t *testing.T) {
	for c := Gzip; c <= None; c++ {
		for _, later := range []bool{true, false} {
			k := killArchive(t, c, later)
			last, most := k.ends[len(k.ends)-1], int64(150<<10)
			if read := k.finish(t, last); read < last.Length || read > last.Length+most {
				t.Errorf("%s: %d bytes were read for a digest of %d", c, read, last.Length)
			}
			k = &killedArchive{disk: vfs.NewMem(1), o: Options{
				Dir: "warc", Compression: c, SizeMax: 1 << 22, FinishLater: later, Listeners: []fixity.Listener{newAnnounced()},
			}}
			k.run(t, nil, 300)
			last = k.ends[len(k.ends)-1]
			if read := k.finish(t, last); read > most {
				t.Errorf("%s: %d of %d bytes were read", c, read, last.Length)
			}
		}
	}
}

// The lines beside the open file are a hint: without them, with a part of them, or with those of records that were cut
// off and replaced, the index is that of the records.
func TestResume_doesNotTrustTheLinesBesideTheOpenFile(t *testing.T) {
	for c := Gzip; c <= None; c++ {
		for name, harm := range map[string]func(k *killedArchive){
			"none": func(k *killedArchive) {
				if err := k.disk.Remove(k.sideFile(t)); err != nil {
					t.Fatal(err)
				}
			},
			"torn": func(k *killedArchive) {
				f, err := k.disk.OpenRW(k.sideFile(t))
				if err == nil {
					err = f.Truncate(5000)
				}
				if err != nil {
					t.Fatal(err)
				}
			},
			"of other records": func(k *killedArchive) {
				side := k.sideFile(t)
				old := mustRead(t, k.disk, side)
				if err := k.disk.Remove(side); err != nil {
					t.Fatal(err)
				}
				k.run(t, &k.ends[150], 200) // as a version does that does not know the file
				k.ends = k.ends[len(k.ends)-200:]
				f, err := k.disk.Create(side)
				if err == nil {
					_, err = f.Write(old)
				}
				if err != nil {
					t.Fatal(err)
				}
			},
		} {
			t.Run(c.String()+" "+name, func(t *testing.T) {
				k := killArchive(t, c, true)
				harm(k)
				k.finish(t, k.ends[len(k.ends)-1])
			})
		}
	}
}

// What a kill has left beside a WARC file that was closed, or whose name was lost, is removed by the next run.
func TestResume_removesTheLinesOfFilesThatAreNotOpen(t *testing.T) {
	k := killArchive(t, Gzip, true)
	side := k.sideFile(t)
	k.finish(t, k.ends[len(k.ends)-1])
	for _, name := range []string{side, strings.Replace(side, "-00000-", "-00007-", 1)} {
		f, err := k.disk.Create(name)
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w, err := OpenWriter(k.disk, k.o, &k.ends[len(k.ends)-1])
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if names, _ := k.disk.List("warc"); len(names) != 2 {
		t.Errorf("%q", names)
	}
}

// While the file of a killed run is read again, pages are stored and synced. Their lines follow those of that run.
func TestWriterConcurrent_readsTheKilledFileAgain(t *testing.T) {
	k := killArchive(t, Gzip, true)
	w, err := OpenWriter(k.disk, k.o, &k.ends[len(k.ends)-1])
	if err != nil {
		t.Fatal(err)
	}
	finished := make(chan error)
	go func() { finished <- w.Finish() }()
	k.store(t, w, 100)
	if err := <-finished; err != nil {
		t.Fatal(err)
	}
	k.store(t, w, 100)
	k.disk = k.disk.KillClone()
	k.finish(t, k.ends[len(k.ends)-1])
}

// The index of a part of an open file is made without reading the file, except the end of the part.
func TestScanIndex_readsTheEndOfTheOpenFile(t *testing.T) {
	k := killArchive(t, Gzip, true)
	files, err := Files(k.disk, "warc")
	if err != nil {
		t.Fatal(err)
	}
	for _, groups := range []int{len(k.ends), 150} {
		disk, lines := &countingFS{FS: k.disk}, 0
		end := k.ends[groups-1].Length
		err := ScanIndex(disk, "warc", files[0], end, func(_ []byte, said *cdxj.Line) error {
			if lines++; said.Offset >= end {
				t.Errorf("%s at %d, and the part ends at %d", said.URL, said.Offset, end)
			}
			return nil
		})
		if err != nil || lines != groups {
			t.Errorf("%d lines of %d pages, %v", lines, groups, err)
		}
		if disk.count > end/2 {
			t.Errorf("%d of %d bytes were read", disk.count, end)
		}
	}
}
