package lookup

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// All lines come in the order of their records, whether a file has an index, has none, or is still open; and so do
// those of each part of the archive.
func TestEachInOrder_isTheOrderOfTheArchive(t *testing.T) {
	fsys := vfs.NewMem(1)
	s := newStored(t, fsys, warc.Options{Dir: "w", SizeMax: 3000, FinishLater: true})
	var want []warc.Checkpoint
	for i := range 60 {
		url := "http://" + string(rune('z'-i%26)) + ".test/"
		at := s.page(url, "body")
		want = append(want, warc.Checkpoint{Serial: at.Serial, Length: at.Offset})
	}
	if want[59].Serial < 4 {
		t.Fatal(want[59])
	}
	end := warc.Checkpoint{Serial: math.MaxUint32, Length: math.MaxInt64}
	inOrder := func(o Options, from, to warc.Checkpoint) (got []warc.Checkpoint) {
		o.FS, o.Dirs = fsys, []string{"w"}
		err := NewFiles(o).EachInOrder(t.Context(), from, to, func(e Entry) error {
			c, err := ParseCapture(e.Line)
			if err != nil || c.Offset != e.At.Length {
				t.Errorf("%s: %v", e.Line, err)
			}
			got = append(got, e.At)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	check := func(o Options) {
		t.Helper()
		if got := inOrder(o, warc.Checkpoint{}, end); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
		for _, part := range [][2]int{{0, 1}, {3, 40}, {17, 18}, {59, 60}, {20, 20}} {
			to := end
			if part[1] < 60 {
				to = want[part[1]]
			}
			if got := inOrder(o, want[part[0]], to); !slices.Equal(got, want[part[0]:part[1]]) {
				t.Errorf("%v: %v", part, got)
			}
		}
	}
	check(Options{Writing: s})
	check(Options{}) // no Writer, as after a kill
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	check(Options{Writing: s})
	s.close()
	check(Options{})
	files, err := warc.Files(fsys, "w")
	if err != nil {
		t.Fatal(err)
	}
	if err := fsys.Remove("w/" + files[1].Index()); err != nil {
		t.Fatal(err)
	}
	check(Options{})
	f := NewFiles(Options{FS: fsys, Dirs: []string{"w"}})
	for _, i := range []int{0, 1, 30, 59} {
		stamp := began.Add(time.Duration(i) * time.Second).Format(stampLayout)
		if at, err := f.FirstSince(t.Context(), stamp, end); err != nil || at != want[i] {
			t.Errorf("since %s: %v, want %v, %v", stamp, at, want[i], err)
		}
	}
	if at, err := f.FirstSince(t.Context(), "2099", end); err != nil || at != end {
		t.Error(at, err)
	}
}

// Files of other programs have no serials in their names, and two crawls have the same ones: each file is read once,
// and has a place of its own.
func TestEachInOrder_ofOtherNames(t *testing.T) {
	fsys := vfs.NewMem(1)
	s := newStored(t, fsys, warc.Options{Dir: "w"})
	for _, url := range []string{"http://a.test/1", "http://a.test/2"} {
		s.page(url, "body of "+url)
	}
	s.close()
	own, err := warc.Files(fsys, "w")
	if err != nil || len(own) != 1 {
		t.Fatal(own, err)
	}
	text, err := vfs.ReadFile(fsys, "w/"+own[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	if err := fsys.MkdirAll("d"); err != nil {
		t.Fatal(err)
	}
	names := []string{
		"CC-NEWS-20181101000000-00001.warc.gz", own[0].Name, "other-" + own[0].Name, "rec-20200102030405.warc.gz",
	}
	for _, name := range names {
		err := vfs.WriteAtomic(fsys, "d/"+name, func(w io.Writer) error { _, err := w.Write(text); return err })
		if err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	places := map[warc.Checkpoint]bool{}
	end := warc.Checkpoint{Serial: math.MaxUint32, Length: math.MaxInt64}
	files := NewFiles(Options{FS: fsys, Dirs: []string{"d"}})
	err = files.EachInOrder(t.Context(), warc.Checkpoint{}, end, func(e Entry) error {
		c, err := ParseCapture(e.Line)
		if err != nil {
			t.Error(err)
		}
		places[e.At] = true
		got = append(got, string(c.File))
		return nil
	})
	want := []string{names[1], names[1], names[0], names[0], names[2], names[2], names[3], names[3]}
	if err != nil || !slices.Equal(got, want) || len(places) != len(want) {
		t.Errorf("%v, want %v; places %v, %v", got, want, places, err)
	}
}

// An index in CDX, or one with the header of another program, is read as the same lines in CDXJ.
func TestFiles_readIndexesOfOthers(t *testing.T) {
	fsys := vfs.NewMem(1)
	s := newStored(t, fsys, warc.Options{Dir: "w"})
	for _, url := range []string{"http://b.test/", "http://a.test/"} {
		s.page(url, "body of "+url)
	}
	s.close()
	own, err := warc.Files(fsys, "w")
	if err != nil || len(own) != 1 {
		t.Fatal(own, err)
	}
	text, err := vfs.ReadFile(fsys, "w/"+own[0].Index())
	if err != nil {
		t.Fatal(err)
	}
	cdx := " CDX N b a m s k r M S V g\n"
	for line := range strings.Lines(string(text)) {
		c, err := ParseCapture([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		cdx += fmt.Sprintf("%s %s %s %s %d %s - - %d %d %s\n", c.Key, c.Stamp, c.URL, c.MIME, c.Status, c.Digest, c.Length,
			c.Offset, c.File)
	}
	for _, index := range []string{cdx, "!meta 0 {\"format\":\"cdxj\"}\n" + string(text)} {
		err := vfs.WriteAtomic(fsys, "w/"+own[0].Index(), func(w io.Writer) error {
			_, err := io.WriteString(w, index)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		files := NewFiles(Options{FS: fsys, Dirs: []string{"w"}})
		archive := New(files)
		c, err := archive.Closest(t.Context(), "http://a.test/", time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		rec, err := archive.Open(c)
		if err != nil || string(rec.TargetURI) != "http://a.test/" {
			t.Fatalf("%.30q: %v", index, err)
		}
		if err := rec.Close(); err != nil {
			t.Error(err)
		}
		var urls []string
		end := warc.Checkpoint{Serial: math.MaxUint32, Length: math.MaxInt64}
		err = files.EachInOrder(t.Context(), warc.Checkpoint{}, end, func(e Entry) error {
			c, err := ParseCapture(e.Line)
			urls = append(urls, string(c.URL))
			return err
		})
		if err != nil || !slices.Equal(urls, []string{"http://b.test/", "http://a.test/"}) {
			t.Errorf("%.30q: %v, %v", index, urls, err)
		}
	}
}
