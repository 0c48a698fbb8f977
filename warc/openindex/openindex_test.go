package openindex

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"syscall"
	"testing"
	"time"

	"orbweaver/internal/golden"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
	"orbweaver/warc/cdxj"
)

const name = "x.cdxj.open"

// recordLen is how long the records are that the tests index.
const recordLen = 100

// archive is the WARC file of the tests: its bytes differ everywhere.
func archive(n int) *bytes.Reader {
	var b []byte
	for len(b) < n*recordLen {
		b = fmt.Appendf(b, "%07d\n", len(b))
	}
	return bytes.NewReader(b[:n*recordLen])
}

// linesOf are the lines of the records from number from on, up to a number.
func linesOf(from, to int) *cdxj.Lines {
	l := new(cdxj.Lines)
	for i := from; i < to; i++ {
		e := cdxj.Entry{Date: time.Unix(1e9, 0), URI: fmt.Appendf(nil, "http://h%d.test/", i), Status: 200}
		l.Add(e.Append(nil), int64(i*recordLen), recordLen)
	}
	return l
}

// markAt is the mark behind n records, the first without a line. Lines begin at number from.
func markAt(n, from int) Mark {
	return Mark{
		Archive: archive(n), End: int64(n * recordLen), Lines: linesOf(from, n), Count: n - from,
		Records: map[string]uint64{"response": uint64(n - from)},
	}
}

// written is the file with marks behind the given numbers of records.
func written(t *testing.T, fsys vfs.FS, ends ...int) []byte {
	t.Helper()
	f := File{FS: fsys, Name: name}
	for _, n := range ends {
		if err := f.Mark(markAt(n, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := vfs.ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// put replaces the file.
func put(t *testing.T, fsys vfs.FS, text []byte) {
	t.Helper()
	f, err := fsys.Create(name)
	if err == nil {
		_, err = f.Write(text)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// check compares what is read with the lines of all records before an end.
func check(t *testing.T, p *Part, n int) {
	t.Helper()
	if n == 0 {
		if p.End != 0 || p.Lines.Len() != 0 || len(p.Records) != 0 {
			t.Fatalf("%d lines up to %d, want none", p.Lines.Len(), p.End)
		}
		return
	}
	want := linesOf(1, n)
	records := map[string]uint64{"response": uint64(n - 1)}
	if p.End != int64(n*recordLen) || p.Lines.Len() != want.Len() || !maps.Equal(p.Records, records) {
		t.Fatalf("%d lines up to %d, %v, want %d up to %d", p.Lines.Len(), p.End, p.Records, want.Len(), n*recordLen)
	}
	for i := range want.Len() {
		if !bytes.Equal(p.Lines.Line(i), want.Line(i)) {
			t.Fatalf("line %d: %s", i, p.Lines.Line(i))
		}
	}
}

// What was marked is read again, up to the last mark that the WARC file reaches.
func TestRead_asFarAsTheWARCFileReaches(t *testing.T) {
	fsys := vfs.NewMem(1)
	written(t, fsys, 3, 7, 20)
	for size, want := range map[int]int{20: 20, 30: 20, 19: 7, 7: 7, 6: 3, 3: 3, 2: 0, 0: 0} {
		check(t, Read(fsys, name, archive(30), int64(size*recordLen)), want)
	}
	check(t, Read(fsys, "none", archive(20), 20*recordLen), 0)
}

// Wherever the file ends, and whichever of its bytes is another one, the batches before that place count.
func TestRead_stopsAtDamage(t *testing.T) {
	fsys := vfs.NewMem(1)
	ends := []int{2, 5, 9}
	var wholes []int // lengths of the file behind its marks
	for i := range ends {
		wholes = append(wholes, len(written(t, fsys, ends[:i+1]...)))
	}
	text := written(t, fsys, ends...)
	read := func(b []byte) *Part {
		put(t, fsys, b)
		return Read(fsys, name, archive(9), 9*recordLen)
	}
	for at := range text {
		before := 0
		for i, whole := range wholes {
			if whole <= at {
				before = ends[i]
			}
		}
		check(t, read(text[:at]), before)
		harmed := bytes.Clone(text)
		harmed[at] ^= 0x04
		check(t, read(harmed), before)
	}
	check(t, read(append(bytes.Clone(text), strings.Repeat("x", lineMax+1)...)), 9)
}

// If the WARC file was cut and written again, lines of records that are no longer there do not count.
func TestRead_stopsWhereTheWARCFileIsAnother(t *testing.T) {
	fsys := vfs.NewMem(1)
	written(t, fsys, 3, 7, 20)
	b := make([]byte, 20*recordLen)
	if _, err := archive(20).ReadAt(b, 0); err != nil {
		t.Fatal(err)
	}
	copy(b[5*recordLen:], bytes.Repeat([]byte("later\n"), 20*recordLen))
	check(t, Read(fsys, name, bytes.NewReader(b), int64(len(b))), 3)
}

// After a kill the next run continues behind the last mark, with the lines that no mark had.
func TestMarks_continueAfterAKill(t *testing.T) {
	for _, inRun := range []bool{false, true} {
		fsys := vfs.NewMem(1)
		text := written(t, fsys, 3, 7)
		put(t, fsys, append(text, "torn"...))
		part := Read(fsys, name, archive(12), 12*recordLen)
		r := Resumption{Part: part, Known: part.Lines.Len(), Records: map[string]uint64{"response": 11}}
		m := Marks{File: File{FS: fsys, Name: name}}
		m.Wait(1)
		if m.IsDue(1 << 60) {
			t.Error("a mark is due before the file was read again")
		}
		next := markAt(20, 1) // lines of both runs
		if next.Records = map[string]uint64{"response": 8}; !inRun {
			r.Earlier = *linesOf(1, 12)
			next.Lines, next.Count = linesOf(12, 20), 8
		}
		m.Resume(&r)
		if at := int64(7*recordLen + stepLeast); m.IsDue(at-1) || !m.IsDue(at) {
			t.Error("the next mark is due at another place")
		}
		m.Add(next)
		check(t, Read(fsys, name, archive(20), 20*recordLen), 20)
		m.Remove()
		if names, err := fsys.List("."); err != nil || len(names) != 0 {
			t.Errorf("%q, %v", names, err)
		}
	}
}

// A mark that could not be written costs nothing: the next one has its lines, too.
func TestMarks_passOverAFullDisk(t *testing.T) {
	mem, script := vfs.NewMem(1), faultfs.NewScript()
	m := Marks{File: File{FS: faultfs.New(mem, script), Name: name}}
	m.Begin(1 << 40)
	if m.IsDue(stepMost-1) || !m.IsDue(stepMost) {
		t.Error("the first mark is due at another place")
	}
	m.Add(markAt(3, 1))
	script.Add(faultfs.Rule{Op: faultfs.Write, Err: syscall.ENOSPC})
	m.Add(markAt(7, 1))
	script.Clear()
	check(t, Read(mem, name, archive(9), 9*recordLen), 3)
	m.Add(markAt(9, 1))
	check(t, Read(mem, name, archive(9), 9*recordLen), 9)
}

// The file with two marks, the second with the state of a digest.
func TestGolden_openIndex(t *testing.T) {
	fsys := vfs.NewMem(1)
	f := File{FS: fsys, Name: name}
	second := markAt(5, 1)
	second.Digest = []byte("sha\x03 state")
	for _, m := range []Mark{markAt(3, 1), second} {
		if err := f.Mark(m); err != nil {
			t.Fatal(err)
		}
	}
	text, err := vfs.ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	put(t, fsys, golden.Compare(t, "open-index-1",
		"d3a8c5fa5065afde92314e8b7ba46da0d82d4dfebccb49bc90dd273bdd41d703", text))
	p := Read(fsys, name, archive(5), 5*recordLen)
	check(t, p, 5)
	if string(p.Digest) != "sha\x03 state" {
		t.Errorf("%q", p.Digest)
	}
}

// For any bytes reading ends, and no line is at or behind the end.
func FuzzRead(f *testing.F) {
	fsys := vfs.NewMem(1)
	m := File{FS: fsys, Name: name}
	for _, n := range []int{3, 7} {
		if err := m.Mark(markAt(n, 1)); err != nil {
			f.Fatal(err)
		}
	}
	text, err := vfs.ReadFile(fsys, name)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(header + " {} 00000000\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		fsys := vfs.NewMem(1)
		put(t, fsys, b)
		p := Read(fsys, name, archive(7), 7*recordLen)
		for i := range p.Lines.Len() {
			if cdxj.Offset(p.Lines.Line(i)) >= p.End {
				t.Errorf("%s, and the end is %d", p.Lines.Line(i), p.End)
			}
		}
	})
}
