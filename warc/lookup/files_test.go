package lookup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
	"orbweaver/internal/vfs/vfstest"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
)

// Whatever file has the lines, and whatever its form, a scan gives those of a range, sorted: closed files with an index
// and without, files that a killed crawl left open, and files of a Writer.
func TestScan_mergesAllKindsOfFiles(t *testing.T) {
	fsys := vfs.NewMem(1)
	var all []string
	n := 0
	fill := func(dir string, count int) *stored {
		s := newStored(t, fsys, warc.Options{Dir: dir, Prefix: dir, SizeMax: 20_000})
		for range count {
			all = append(all, s.clock.Format(stampLayout)+" "+numbered(n))
			s.page(numbered(n), "body")
			n++
		}
		return s
	}
	fill("closed", 300).close()
	fill("bare", 40).close()
	if err := fsys.Remove(archiveName(t, fsys, "bare", ".cdxj")); err != nil {
		t.Fatal(err)
	}
	if err := fill("killed", 40).Abandon(); err != nil {
		t.Fatal(err)
	}
	writer := fill("written", 200)
	defer writer.close()
	files := NewFiles(Options{FS: fsys, Dirs: []string{"closed", "bare", "killed"}})
	both := joined{files, NewFiles(Options{FS: fsys, Dirs: []string{"written"}, Writing: writer})}
	key := func(line string) string {
		k, _, _ := KeyOf([]byte(strings.Fields(line)[1]))
		return string(k) + " " + line
	}
	slices.SortFunc(all, func(a, b string) int { return strings.Compare(key(a), key(b)) })

	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		from, to := []byte(key(all[rng.IntN(len(all))])), []byte(key(all[rng.IntN(len(all))]))
		from, to = from[:rng.IntN(len(from))], to[:rng.IntN(len(to))]
		var want, got []string
		for _, line := range all {
			if k := key(line); k >= string(from) && k < string(to) {
				want = append(want, line)
			}
		}
		for _, lines := range both {
			got = append(got, urls(t, lines, Range{from, to})...)
		}
		slices.SortFunc(got, func(a, b string) int { return strings.Compare(key(a), key(b)) })
		if !slices.Equal(got, want) {
			t.Fatalf("%q to %q: %d lines, want %d", from, to, len(got), len(want))
		}
	}
}

// Two files with the same name are refused, since lines of an index would be of either. One file that is given twice is
// one file.
func TestScan_refusesTwoFilesOfTheSameName(t *testing.T) {
	fsys := vfs.NewMem(1)
	for _, dir := range []string{"a", "b"} {
		s := newStored(t, fsys, warc.Options{Dir: dir})
		s.page("http://a.test/", "")
		s.close()
		for _, suffix := range []string{".warc.gz", ".cdxj"} {
			if err := fsys.Rename(archiveName(t, fsys, dir, suffix), dir+"/same"+suffix); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		o  Options
		ok bool
	}{
		{Options{FS: fsys, Dirs: []string{"a"}, Files: []string{"a/same.warc.gz"}}, true},
		{Options{FS: fsys, Dirs: []string{"a", "b"}}, false},
	} {
		err := NewFiles(c.o).Scan(t.Context(), everything(), func([]byte) error { return nil })
		if c.ok != (err == nil) || !c.ok && !errors.Is(err, errTwice) {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
}

// joined are several archives.
type joined []Lines

// The first line of each prefix of a sorted file is found, wherever the windows begin, and however long the lines are.
func TestFirstLine_findsEachLine(t *testing.T) {
	fsys := vfstest.WithDir(t, "x")
	rng := rand.New(rand.NewPCG(3, 4))
	var lines []string
	for i := range 400 {
		long := rng.IntN(100)
		if i%50 == 0 {
			long = 3 * windowSize
		}
		lines = append(lines, fmt.Sprintf("test,h%d)/ 2026 {%s}", rng.IntN(10_000), strings.Repeat("x", long)))
	}
	slices.Sort(lines)
	vfstest.WriteAll(t, fsys, "x/i.cdxj", []byte(strings.Join(lines, "\n")+"\n"))
	for _, chunk := range []int{chunkLeast, chunkMost} {
		for i, line := range lines {
			c, err := openCursor(fsys, "x/i.cdxj", Range{[]byte(line), []byte{0xff}}, chunk, func(f *warc.Fault) { t.Error(f) })
			if err != nil {
				t.Fatal(err)
			}
			for j := slices.Index(lines, line); j < min(i+30, len(lines)); j++ {
				if string(c.Line()) != lines[j] {
					t.Fatalf("line %d: %.40q, want %.40q", j, c.Line(), lines[j])
				}
				if err := c.Next(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// A line that is too long is reported with its place, and all others are found.
func TestScan_leavesOutLinesThatAreTooLong(t *testing.T) {
	var lines []string
	for i := range 2000 {
		lines = append(lines, fmt.Sprintf(`test,h%04d)/ 20260101000000 {"url":"http://h%04d.test/","offset":"7"}`, i, i))
	}
	long := lines[1000] + strings.Repeat(" ", 3*cdxj.LineMax)
	text := strings.Join(slices.Insert(slices.Clone(lines), 1000, long), "\n") + "\n"
	fsys := vfstest.WithDir(t, "w")
	vfstest.WriteAll(t, fsys, "w/i.cdxj", []byte(text))
	vfstest.WriteAll(t, fsys, "w/i.warc", []byte("WARC/1.1\r\n"))
	for _, part := range [][2]int{{0, 2000}, {990, 1010}, {1100, 1200}, {10, 20}} {
		var faults []*warc.Fault
		files := NewFiles(Options{FS: fsys, Dirs: []string{"w"}, OnFault: func(f *warc.Fault) { faults = append(faults, f) }})
		for range 2 { // it is reported once
			var got []string
			want := Range{[]byte(fmt.Sprintf("test,h%04d", part[0])), []byte(fmt.Sprintf("test,h%04d", part[1]))}
			err := files.Scan(t.Context(), want, func(line []byte) error {
				got = append(got, string(line))
				return nil
			})
			if err != nil || !slices.Equal(got, lines[part[0]:part[1]]) {
				t.Fatalf("%v: %d lines, %v", part, len(got), err)
			}
		}
		at := int64(strings.Index(text, long))
		isIn := part[0] <= 1000 && part[1] > 1000
		if isIn && (len(faults) != 1 || faults[0].Offset != at || faults[0].File != "i.cdxj") {
			t.Errorf("%v: %v, want one at %d", part, faults, at)
		}
	}
}

// While a Writer appends and rotates, each capture whose Append has returned is found, and found once.
func TestScan_findsWhatWasJustAppended(t *testing.T) {
	fsys := vfs.NewMem(1)
	s := newStored(t, fsys, warc.Options{Dir: "w", SizeMax: 8_000, FinishLater: true})
	files := NewFiles(Options{FS: fsys, Dirs: []string{"w"}, Writing: s})
	finished := make(chan error)
	for i := range 200 {
		s.page(numbered(i), "body")
		if i%20 == 19 {
			go func() { finished <- s.Finish() }()
		}
		key, _, err := KeyOf([]byte(numbered(i)))
		if err != nil {
			t.Fatal(err)
		}
		if got := urls(t, files, Exact(key)); len(got) != 1 {
			t.Fatalf("capture %d: %q", i, got)
		}
		if got := urls(t, files, everything()); len(got) != i+1 {
			t.Fatalf("%d captures, want %d", len(got), i+1)
		}
		if i%20 == 19 {
			if err := <-finished; err != nil {
				t.Fatal(err)
			}
		}
	}
	s.close()
	if got := urls(t, files, everything()); len(got) != 200 {
		t.Errorf("%d captures after the end", len(got))
	}
}

// A group that is undone is not found any more, and a query that began before keeps what it had.
func TestScan_afterUndo(t *testing.T) {
	s := newStored(t, vfs.NewMem(1), warc.Options{Dir: "w"})
	defer s.close()
	s.page("http://a.test/1", "body")
	pos := s.page("http://a.test/2", "body")
	before, err := s.OpenLines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Undo(pos)
	s.page("http://a.test/3", "body")
	r := everything()
	old := before[0].Parts[1]
	if order := old.Range(r.From, r.To); len(order) != 2 || !bytes.Contains(old.Line(order[1]), []byte("a.test/2")) {
		t.Errorf("the snapshot has changed: %d lines", len(order))
	}
	if got := urls(t, NewFiles(Options{FS: s.fsys, Dirs: []string{"w"}, Writing: s}), r); len(got) != 2 ||
		!strings.HasSuffix(got[1], "/3") {
		t.Errorf("%q", got)
	}
}

// A file that a killed crawl left open is read up to its last complete record, wherever it ends. When it has grown,
// only what is new is read.
func TestScan_ofAFileThatEndsAnywhere(t *testing.T) {
	fsys := vfs.NewMem(1)
	s := newStored(t, fsys, warc.Options{Dir: "w"})
	var ends []int64
	for i := range 5 {
		pos := s.page(numbered(i), strings.Repeat("text ", 20))
		ends = append(ends, pos.End().Length)
	}
	s.close()
	whole, err := vfs.ReadFile(fsys, archiveName(t, fsys, "w", ".warc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if err := fsys.MkdirAll("k"); err != nil {
		t.Fatal(err)
	}
	growing := NewFiles(Options{FS: fsys, Dirs: []string{"k"}})
	for cut := 0; cut <= len(whole); cut += 7 {
		if err := vfs.WriteAtomic(fsys, "k/x.warc.gz.open", func(w io.Writer) error {
			_, err := w.Write(whole[:cut])
			return err
		}); err != nil {
			t.Fatal(err)
		}
		want := 0
		for _, end := range ends {
			if end <= int64(cut) {
				want++
			}
		}
		for _, files := range []*Files{growing, NewFiles(Options{FS: fsys, Dirs: []string{"k"}})} {
			if got := urls(t, files, everything()); len(got) != want {
				t.Fatalf("%d of %d bytes: %d captures, want %d", cut, len(whole), len(got), want)
			}
		}
	}
}

// The ranges of a host, of a domain and of a prefix have what belongs to them, and nothing else.
func TestRanges(t *testing.T) {
	fsys := vfs.NewMem(1)
	s := newStored(t, fsys, warc.Options{Dir: "w"})
	for _, url := range []string{
		"http://example.com/", "https://www.example.com/a/b", "http://sub.example.com/a", "http://example.com.au/",
		"http://example-com.test/", "http://examples.com/", "http://example.com/a/bc?x=1", "http://example.co/",
	} {
		s.page(url, "")
	}
	s.close()
	files := NewFiles(Options{FS: fsys, Dirs: []string{"w"}})
	for _, c := range []struct {
		of   func([]byte) Range
		url  string
		want string
	}{
		{Exact, "http://www.example.com/a/b/", "https://www.example.com/a/b"},
		{Prefix, "http://example.com/a/b", "https://www.example.com/a/b http://example.com/a/bc?x=1"},
		{Host, "http://example.com/zzz", "http://example.com/ https://www.example.com/a/b http://example.com/a/bc?x=1"},
		{Domain, "http://example.com/zzz", "http://example.com/ https://www.example.com/a/b http://example.com/a/bc?x=1 " +
			"http://sub.example.com/a"},
	} {
		key, _, err := KeyOf([]byte(c.url))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, line := range urls(t, files, c.of(key)) {
			got = append(got, strings.Fields(line)[1])
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %s", c.url, got, c.want)
		}
	}
}

// openTemporaries counts the open files of this process that lie in dir.
func openTemporaries(t *testing.T, dir string) (n int) {
	t.Helper()
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil || links == nil {
		t.Skip("only Linux tells which files are open")
	}
	for _, link := range links {
		if target, err := os.Readlink(link); err == nil && strings.HasPrefix(target, dir) { // others may be closed meanwhile
			n++
		}
	}
	return n
}

// Lines that were written to a temporary file take a descriptor until Close.
func TestFiles_closeTheTemporaryFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	disk := vfs.NewMem(1)
	s := newStored(t, disk, warc.Options{Dir: "w"})
	s.page(numbered(1), "text")
	s.close()
	if err := disk.Rename(archiveName(t, disk, "w", ".warc.gz"), "w/x.warc.gz.open"); err != nil {
		t.Fatal(err)
	}
	files := NewFiles(Options{FS: disk, Files: []string{"w/x.warc.gz.open"}})
	if err := files.Scan(t.Context(), everything(), func([]byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for _, one := range files.scanned {
		if err := one.lines.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if n := openTemporaries(t, dir); n != 1 {
		t.Errorf("%d temporary files are open before Close, want 1", n)
	}
	if err := files.Close(); err != nil {
		t.Fatal(err)
	}
	if n := openTemporaries(t, dir); n != 0 {
		t.Errorf("%d temporary files are open after Close", n)
	}
}

// A file without an index grows, cannot be read for a while, and is cut: the memory of its lines is counted right.
func TestScan_countsItsMemory(t *testing.T) {
	disk, script := vfs.NewMem(1), faultfs.NewScript()
	s := newStored(t, disk, warc.Options{Dir: "w"})
	for i := range 200 {
		s.page(numbered(i), strings.Repeat("text ", i))
	}
	s.close()
	whole, err := vfs.ReadFile(disk, archiveName(t, disk, "w", ".warc.gz"))
	if err != nil {
		t.Fatal(err)
	}
	files := NewFiles(Options{FS: faultfs.New(disk, script), Files: []string{"k/x.warc.gz.open"}})
	if err := disk.MkdirAll("k"); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the disk is broken")
	for _, c := range []struct {
		length int
		err    error
	}{{len(whole) / 2, nil}, {len(whole), broken}, {len(whole), nil}, {len(whole) / 3, broken}, {len(whole) / 3, nil}} {
		vfstest.WriteAll(t, disk, "k/x.warc.gz.open", whole[:c.length])
		if script.Clear(); c.err != nil {
			script.Add(faultfs.Rule{Op: faultfs.Read, From: 2, Err: c.err})
		}
		err := files.Scan(t.Context(), everything(), func([]byte) error { return nil })
		if !errors.Is(err, c.err) {
			t.Errorf("%d bytes: %v, want %v", c.length, err, c.err)
		}
		want := 0
		for _, one := range files.scanned {
			want += one.lines.Memory()
		}
		if files.kept != want || want == 0 && err == nil {
			t.Errorf("%d bytes, %v: %d bytes are counted, %d are used", c.length, c.err, files.kept, want)
		}
	}
}
