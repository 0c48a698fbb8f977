package waczfs

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/warc/member"
)

type packed struct {
	name, text string
	method     uint16
}

// pack writes a ZIP file.
func pack(t *testing.T, fsys vfs.FS, name string, files ...packed) {
	t.Helper()
	err := vfs.WriteAtomic(fsys, name, func(to io.Writer) error {
		z := zip.NewWriter(to)
		for _, f := range files {
			w, err := z.CreateHeader(&zip.FileHeader{Name: f.name, Method: f.method})
			if err == nil {
				_, err = io.WriteString(w, f.text)
			}
			if err != nil {
				return err
			}
		}
		return z.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A WACZ file is the directory of its WARC files: they have their names, lengths and bytes, from any place.
func TestWACZIsADirectory(t *testing.T) {
	disk := vfs.NewMem(1)
	if err := disk.MkdirAll("d"); err != nil {
		t.Fatal(err)
	}
	pack(t, disk, "d/site.wacz",
		packed{"archive/b.warc.gz", "0123456789", zip.Store}, packed{"archive/a.warc", strings.Repeat("a", 99), zip.Deflate},
		packed{"pages/pages.jsonl", "{}", zip.Deflate}, packed{"archive/deep/c.warc", "c", zip.Store},
		packed{"archive/../d.warc", "d", zip.Store},
	)
	f := Over(disk)
	names, err := f.List("d/site.wacz")
	if err != nil || !slices.Equal(names, []string{"a.warc", "b.warc.gz"}) {
		t.Fatal(names, err)
	}
	if n, err := f.Size("d/site.wacz/b.warc.gz"); n != 10 || err != nil {
		t.Error(n, err)
	}
	b, err := f.Open("d/site.wacz/b.warc.gz")
	if err != nil {
		t.Fatal(err)
	}
	var four [4]byte
	n, readErr := b.ReadAt(four[:], 7)
	text, allErr := io.ReadAll(b)
	if size, err := b.Size(); n != 3 || readErr != io.EOF || string(text) != "0123456789" || size != 10 || err != nil {
		t.Errorf("%d, %v; %q, %v; %d, %v", n, readErr, text, allErr, size, err)
	}
	if _, err := b.WriteAt([]byte("x"), 0); err == nil {
		t.Error("it was written")
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if _, err := vfs.ReadFile(f, "d/site.wacz/a.warc"); !errors.Is(err, errPacked) || !errors.Is(err, member.ErrNotWARC) {
		t.Error(err)
	}
	for _, name := range []string{"d/site.wacz/none.warc", "d/site.wacz/deep/c.warc", "d/x.wacz/a"} {
		if _, err := f.Open(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := f.List("d/site.wacz/warc"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

// WACZ files in a WACZ, in a list of several and in a directory are read, too, under any name of the outer one.
func TestWACZOfSeveral(t *testing.T) {
	disk := vfs.NewMem(1)
	for _, dir := range []string{"d", "list"} {
		if err := disk.MkdirAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	pack(t, disk, "list/one.wacz", packed{"archive/data.warc.gz", "first", zip.Store})
	pack(t, disk, "list/two.wacz", packed{"archive/data.warc.gz", "second", zip.Store})
	write := func(name, text string) {
		t.Helper()
		err := vfs.WriteAtomic(disk, name, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
		if err != nil {
			t.Fatal(err)
		}
	}
	write("list/all", ` {"profile": "multi-wacz-package", "resources": [{"path": "one.wacz"}, {"path": "two.wacz"}]}`)
	one, err := vfs.ReadFile(disk, "list/one.wacz")
	if err != nil {
		t.Fatal(err)
	}
	pack(t, disk, "outer.zip",
		packed{"one.wacz", string(one), zip.Store}, packed{"archive/data.warc.gz", "outer", zip.Store})
	pack(t, disk, "d/x.wacz", packed{"archive/a.warc", "a", zip.Store}, packed{"archive/b.warc", "b", zip.Store})
	write("d/b.warc", "b")
	write("d/bad.wacz", "no ZIP file")
	f := Over(disk)
	for name, want := range map[string][]string{
		"list/all":  {"one.wacz/data.warc.gz first", "two.wacz/data.warc.gz second"},
		"outer.zip": {"data.warc.gz outer", "one.wacz/data.warc.gz first"},
		"d":         {"b.warc b", "bad.wacz no ZIP file", "x.wacz/a.warc a"},
	} {
		names, err := f.List(name)
		if err != nil {
			t.Fatal(name, err)
		}
		var got []string
		for _, inside := range names {
			text, err := vfs.ReadFile(f, name+"/"+inside)
			if err != nil {
				t.Error(err)
			}
			got = append(got, inside+" "+string(text))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	homes, err := Homes(disk, "list/all")
	if err != nil || !slices.Equal(homes, []string{"list/all", "list/one.wacz", "list/two.wacz"}) {
		t.Errorf("the list consists of %q, %v", homes, err)
	}
	if homes, err = Homes(disk, "outer.zip"); err != nil || !slices.Equal(homes, []string{"outer.zip"}) {
		t.Errorf("a WACZ consists of %q, %v", homes, err)
	}
	if _, err := Homes(disk, "d/b.warc"); err == nil {
		t.Error("a WARC file is a WACZ")
	}
}

// What cannot be read of a WACZ, or of those in it, is listed, and reading it says why. The rest is read.
func TestWhatIsLostIsListed(t *testing.T) {
	disk := vfs.NewMem(1)
	text := func(name string) string {
		t.Helper()
		text, err := vfs.ReadFile(disk, name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	write := func(name, text string) {
		t.Helper()
		err := vfs.WriteAtomic(disk, name, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
		if err != nil {
			t.Fatal(err)
		}
	}
	record := packed{"archive/a.warc", "a", zip.Store}
	pack(t, disk, "one.wacz", record)
	pack(t, disk, "long.wacz", record,
		packed{strings.Repeat("x", 60_000), "", zip.Store}, packed{strings.Repeat("y", 60_000), "", zip.Store})
	many := []packed{record}
	for i := range directoryMost/60_000 + 2 {
		many = append(many, packed{fmt.Sprintf("%060000d", i), "", zip.Store})
	}
	pack(t, disk, "many.wacz", many...)
	write("cut.wacz", text("one.wacz")[:100])
	pack(t, disk, "outer.wacz", record, packed{"many.wacz", text("many.wacz"), zip.Store},
		packed{"cut.wacz", text("cut.wacz"), zip.Store}, packed{"archive/b.warc", "b", zip.Deflate},
		packed{"deeper/archive/none.warc", "b", zip.Store}, packed{"archive/c.warc", "c", zip.Store})
	write("list", `{"profile": "multi-wacz-package", "resources": [{"path": "many.wacz"}, {"path": "none.wacz"},
		{"path": "../one.wacz"}, {"path": "one.wacz"}]}`)
	f := Over(disk)
	for name, want := range map[string][]string{
		"long.wacz": {"a.warc: a"},
		"many.wacz": {"many.wacz.warc: too large: its ZIP directory has more than 4 MiB: unpack it with unzip, and name " +
			"the folder"},
		"cut.wacz": {"cut.wacz.warc: not a WARC record: zip: not a valid zip file"},
		"outer.wacz": {
			"a.warc: a",
			"b.warc: not a WARC record: it is compressed once more, which the format forbids: unpack the WACZ with unzip " +
				"(b.warc in outer.wacz)",
			"c.warc: c",
			"cut.wacz.warc: not a WARC record: zip: not a valid zip file (cut.wacz in outer.wacz)",
			"many.wacz.warc: too large: its ZIP directory has more than 4 MiB: unpack it with unzip, and name the " +
				"folder (many.wacz in outer.wacz)",
		},
		"list": {
			"many.wacz.warc: too large: its ZIP directory has more than 4 MiB: unpack it with unzip, and name the " +
				"folder (many.wacz in list)",
			"none.wacz.warc: not a WARC record: open none.wacz: file does not exist (none.wacz in list)",
			"one.wacz.warc: not a WARC record: \"../one.wacz\" is not a path beside it (one.wacz in list)",
			"one.wacz/a.warc: a",
		},
	} {
		names, err := f.List(name)
		if err != nil {
			t.Error(err)
		}
		var got []string
		for _, inside := range names {
			text, err := vfs.ReadFile(f, name+"/"+inside)
			if err != nil {
				text = []byte(err.Error())
			}
			got = append(got, inside+": "+string(text))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// counting counts how often a file is opened.
type counting struct {
	vfs.FS

	opened int
}

func (c *counting) Open(name string) (vfs.File, error) {
	c.opened++
	return c.FS.Open(name)
}

// An index that has no lines of some files is read once for all of them, not once for each.
func TestIndexIsReadOnce(t *testing.T) {
	disk := &counting{FS: vfs.NewMem(1)}
	files := []packed{{"indexes/index.cdxj", "", zip.Store}}
	for i := range 100 {
		files = append(files, packed{fmt.Sprintf("archive/%d.warc", i), "x", zip.Store})
	}
	pack(t, disk, "x.wacz", files...)
	f := Over(disk)
	disk.opened = 0
	for i := range 100 {
		if _, err := f.Open(fmt.Sprintf("x.wacz/%d.warc%s", i, LinesSuffix)); err == nil {
			t.Fatal("there are lines")
		}
	}
	if disk.opened > 5 {
		t.Errorf("the WACZ was opened %d times", disk.opened)
	}
}

// The lists of pages of a WACZ, and of all that a list of several names, say titles and seeds. Damage ends a list.
func TestPages(t *testing.T) {
	disk := vfs.NewMem(1)
	if err := disk.MkdirAll("d"); err != nil {
		t.Fatal(err)
	}
	pack(t, disk, "d/one.wacz", packed{"archive/data.warc.gz", "first", zip.Store},
		packed{"pages/pages.jsonl", `{"format": "json-pages-1.0", "title": "Seeds"}` + "\n" +
			`{"url": "http://a.test/", "title": "A", "seed": true, "text": "words"}` + "\n", zip.Deflate},
		packed{"pages/extraPages.jsonl", `{"url": "http://b.test/", "title": "B"}` + "\n[]\n" +
			`{"url": "http://lost.test/"}`, zip.Deflate})
	pack(t, disk, "d/two.wacz", packed{"archive/data.warc.gz", "second", zip.Store},
		packed{"pages/pages.jsonl", `{"url": "http://c.test/"}`, zip.Store})
	err := vfs.WriteAtomic(disk, "d/list.json", func(w io.Writer) error {
		_, err := io.WriteString(w, `{"profile": "multi-wacz-package", "resources": [{"path": "one.wacz"}, `+
			`{"path": "two.wacz"}]}`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	one := []Page{{"http://a.test/", "A", true}, {"http://b.test/", "B", false}}
	for name, want := range map[string][]Page{
		"d/one.wacz": one, "d/list.json": append(one, Page{URL: "http://c.test/"}),
	} {
		if pages, err := Pages(disk, name); err != nil || !slices.Equal(pages, want) {
			t.Errorf("%s: %v, %v", name, pages, err)
		}
	}
}

// Everything else is what it was, also a directory and a file that only look like a WACZ.
func TestOtherFilesAreUnchanged(t *testing.T) {
	disk := vfs.NewMem(1)
	pack(t, disk, "plain.zip", packed{"archive/a.warc", "a", zip.Store})
	err := vfs.WriteAtomic(disk, "bad.wacz", func(w io.Writer) error { _, err := fmt.Fprint(w, "PK no"); return err })
	if err != nil {
		t.Fatal(err)
	}
	f := Over(disk)
	if _, err := f.List("bad.wacz"); !errors.Is(err, zip.ErrFormat) || !strings.Contains(err.Error(), "bad.wacz") {
		t.Error(err)
	}
	if n, err := f.Size("bad.wacz"); n != 5 || err != nil {
		t.Error(n, err)
	}
	if _, err := f.Open("plain.zip/a.warc"); err == nil {
		t.Error("a ZIP file is a directory")
	}
	// It is replaced by a sound one.
	pack(t, disk, "bad.wacz", packed{"archive/a.warc", "a", zip.Store})
	if names, err := f.List("bad.wacz"); len(names) != 1 || err != nil {
		t.Error(names, err)
	}
}

// No bytes make it panic, or read what is outside of the file.
func FuzzList(f *testing.F) {
	disk := vfs.NewMem(1)
	pack(new(testing.T), disk, "x.wacz", packed{"archive/a.warc", "text", zip.Store})
	text, err := vfs.ReadFile(disk, "x.wacz")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		disk := vfs.NewMem(1)
		err := vfs.WriteAtomic(disk, "x.wacz", func(w io.Writer) error { _, err := w.Write(text); return err })
		if err != nil {
			t.Fatal(err)
		}
		over := Over(disk)
		names, err := over.List("x.wacz")
		if err != nil {
			return
		}
		for _, name := range names {
			size, err := over.Size("x.wacz/" + name)
			if err != nil || size > int64(len(text)) {
				t.Errorf("%q: %d, %v", name, size, err)
			}
			file, err := over.Open("x.wacz/" + name)
			if err != nil {
				continue
			}
			if got, err := io.ReadAll(file); err != nil || int64(len(got)) != size {
				t.Errorf("%q: %d of %d bytes, %v", name, len(got), size, err)
			}
			if err := file.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// Of a WACZ with too many files the first ones are read. A directory of them has no such bound.
func TestWACZOfManyFiles(t *testing.T) {
	disk := vfs.NewMem(1)
	var many []packed
	for n := range filesFree + 500 {
		many = append(many, packed{fmt.Sprintf("archive/%d.warc", n), "WARC", zip.Store})
	}
	pack(t, disk, "many.wacz", many...)
	size, err := disk.Size("many.wacz")
	if err != nil {
		t.Fatal(err)
	}
	f := Over(disk)
	names, err := f.List("many.wacz")
	if want := filesFree + int(size/fileBytes) + 1; len(names) != want || err != nil {
		t.Errorf("%d names, %v, want %d", len(names), err, want)
	}
	if _, err := vfs.ReadFile(f, "many.wacz/more-files.warc"); !errors.Is(err, member.ErrTooLarge) {
		t.Error(err)
	}
	pack(t, disk, "long.wacz", append(many, packed{"archive/a.warc", strings.Repeat("a", 500*fileBytes), zip.Store})...)
	if names, err = f.List("long.wacz"); len(names) != len(many)+1 || err != nil {
		t.Errorf("%d names, %v, want %d", len(names), err, len(many)+1)
	}
}
