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
	if _, err := f.Open("d/site.wacz/a.warc"); !errors.Is(err, errPacked) {
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
	write("list/out", `{"profile": "multi-wacz-package", "resources": [{"path": "../outer.zip"}]}`)
	if _, err := f.List("list/out"); err == nil {
		t.Error("a list leads out of its directory")
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
