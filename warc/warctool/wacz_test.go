package warctool

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// webArchive writes a WARC file with HTML pages, each with a title.
func webArchive(t *testing.T, fsys vfs.FS, dir string, uris ...string) (name string) {
	t.Helper()
	w, err := warc.OpenWriter(fsys, warc.Options{Dir: dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := warc.NewEncoder(warc.EncoderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i, uri := range uris {
		e.Reset()
		block := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>The page %s</title>", uri)
		r := warc.Record{
			Type: warc.Response, Date: time.Date(2026, 1, 2, 3, 4, i%60, 0, time.UTC), TargetURI: []byte(uri),
			Block: [][]byte{[]byte(block)}, Index: &warc.IndexInfo{Status: 200, MIME: []byte("text/html")},
		}
		if err := e.Append(&r); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Append(e.Group()); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	names, err := fsys.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	return dir + "/" + names[slices.IndexFunc(names, func(n string) bool { return strings.HasSuffix(n, ".warc.gz") })]
}

// packed is a WACZ file, read again.
type packed struct {
	*zip.Reader

	t *testing.T
}

func openPacked(t *testing.T, fsys vfs.FS, name string) packed {
	t.Helper()
	b, err := vfs.ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return packed{z, t}
}

func (p packed) read(name string) []byte {
	p.t.Helper()
	f, err := p.Open(name)
	if err != nil {
		p.t.Fatal(err)
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err != nil {
		p.t.Fatal(err)
	}
	return b
}

// A WACZ has the archive as it is, one sorted index in blocks that can be read alone, each page once with its title,
// and the digests of all files.
func TestWACZ_holdsArchiveIndexAndPages(t *testing.T) {
	fsys := vfs.NewMem(1)
	var many []string
	for i := range 700 {
		many = append(many, fmt.Sprintf("http://b.test/%03d", i))
	}
	files := []string{
		webArchive(t, fsys, "b", many...),
		webArchive(t, fsys, "a", "http://a.test/", "http://c.test/", "http://a.test/"),
	}
	if err := fsys.Rename(files[1], "a/OTHER~1.warc.gz"); err != nil { // now it has no index
		t.Fatal(err)
	}
	files[1] = "a/OTHER~1.warc.gz"
	err := PackWACZ(fsys, "out.wacz", WACZOptions{
		Title: "a test", MainPage: "http://a.test/", Software: "test", Now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		TitleOf: func(body, contentType []byte) string {
			return string(contentType) + " " + strings.TrimSuffix(strings.TrimPrefix(string(body), "<title>"), "</title>")
		},
	}, files...)
	if err != nil {
		t.Fatal(err)
	}
	p := openPacked(t, fsys, "out.wacz")
	want, err := vfs.ReadFile(fsys, files[1])
	if err != nil || !bytes.Equal(p.read("archive/OTHER~1.warc.gz"), want) {
		t.Errorf("the archive differs: %v", err)
	}

	lines := p.indexLines()
	if len(lines) != 703 || !slices.IsSorted(lines) {
		t.Errorf("%d lines, sorted: %v", len(lines), slices.IsSorted(lines))
	}
	pages := strings.Split(strings.TrimSpace(string(p.read("pages/pages.jsonl"))), "\n")
	if len(pages) != 1+702 || !strings.Contains(pages[0], `"json-pages-1.0"`) {
		t.Errorf("%d pages, the first is %s", len(pages)-1, pages[0])
	}
	var page waczPage
	if err := json.Unmarshal([]byte(pages[1]), &page); err != nil || page.URL != "http://a.test/" ||
		page.Time != "2026-01-02T03:04:02Z" || page.Title != "text/html The page http://a.test/" {
		t.Errorf("%+v, %v", page, err)
	}
	p.checkDigests()
}

// indexLines reads the index block by block, as the list of blocks says.
func (p packed) indexLines() (lines []string) {
	index := p.read("indexes/index.cdx.gz")
	blocks := strings.Split(strings.TrimSpace(string(p.read("indexes/index.idx"))), "\n")
	if !strings.HasPrefix(blocks[0], "!meta 0 {") || len(blocks) != 1+3 {
		p.t.Fatalf("list of blocks: %q", blocks)
	}
	for _, block := range blocks[1:] {
		key, text, _ := strings.Cut(block, " {")
		var at struct {
			Offset, Length int
			Digest         string
		}
		if err := json.Unmarshal([]byte("{"+text), &at); err != nil {
			p.t.Fatal(err)
		}
		piece := index[at.Offset:][:at.Length]
		if sum := fmt.Sprintf("sha256:%x", sha256.Sum256(piece)); sum != at.Digest {
			p.t.Errorf("block %s: digest %s, want %s", key, sum, at.Digest)
		}
		z, err := gzip.NewReader(bytes.NewReader(piece))
		if err != nil {
			p.t.Fatal(err)
		}
		z.Multistream(false)
		in := bufio.NewScanner(z)
		for first := true; in.Scan(); first = false {
			if first && !strings.HasPrefix(in.Text(), key+" {") {
				p.t.Errorf("block %s begins with %s", key, in.Text())
			}
			lines = append(lines, in.Text())
		}
	}
	return lines
}

// checkDigests compares each file with what the manifest says of it.
func (p packed) checkDigests() {
	var manifest struct {
		Profile   string
		Version   string `json:"wacz_version"`
		MainPage  string `json:"mainPageUrl"`
		Resources []waczResource
	}
	if err := json.Unmarshal(p.read("datapackage.json"), &manifest); err != nil || manifest.Profile != "data-package" ||
		manifest.Version != "1.1.1" || manifest.MainPage != "http://a.test/" || len(manifest.Resources) != 5 {
		p.t.Errorf("%+v, %v", manifest, err)
	}
	for _, r := range manifest.Resources {
		b := p.read(r.Path)
		if sum := fmt.Sprintf("sha256:%x", sha256.Sum256(b)); sum != r.Hash || int64(len(b)) != r.Bytes ||
			strings.ToLower(r.Name) != r.Name || strings.Contains(r.Name, "~") {
			p.t.Errorf("%+v: %d bytes, %s", r, len(b), sum)
		}
	}
	if sum := fmt.Sprintf("sha256:%x", sha256.Sum256(p.read("datapackage.json"))); !strings.Contains(
		string(p.read("datapackage-digest.json")), sum) {
		p.t.Errorf("%s, want %s", p.read("datapackage-digest.json"), sum)
	}
	for _, f := range p.File {
		if strings.HasSuffix(f.Name, ".gz") && f.Method != zip.Store {
			p.t.Errorf("%s cannot be read in parts", f.Name)
		}
	}
}

// What replay programs cannot read is left out and named.
func TestPackable(t *testing.T) {
	fsys := vfs.NewMem(1)
	name := webArchive(t, fsys, "a", "http://a.test/")
	sound, err := vfs.ReadFile(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	if err := fsys.MkdirAll("b"); err != nil {
		t.Fatal(err)
	}
	put := func(name, text string) {
		err := vfs.WriteAtomic(fsys, name, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for base, text := range map[string]string{
		"x.warc.zst": string(sound), "text.warc": "a text", "empty.warc": "",
		"arc.warc": "filedesc://x.arc 0.0.0.0 20200102030405 text/plain 75\n1 0 InternetArchive\n" +
			"URL IP-address Archive-date Content-type Archive-length\n\n",
		"torn.warc.gz": string(sound[:40]), path.Base(name): string(sound), "y.warc.gz.open": string(sound),
		"zstd.warc.gz": "\x28\xb5\x2f\xfd",
	} {
		put("b/"+base, text)
	}
	all := []string{name}
	names, err := fsys.List("b")
	for _, base := range append(names, "none.warc.gz") {
		all = append(all, "b/"+base)
	}
	var left []string
	good := Packable(fsys, all, func(f *warc.Fault) { left = append(left, f.File) })
	slices.Sort(left)
	want := []string{
		path.Base(name), "arc.warc", "none.warc.gz", "text.warc", "x.warc.zst", "y.warc.gz.open", "zstd.warc.gz",
	}
	slices.Sort(want)
	if err != nil || !slices.Equal(left, want) || !slices.Equal(good, []string{name, "b/empty.warc", "b/torn.warc.gz"}) {
		t.Errorf("packed: %q, left out: %q, want %q, %v", good, left, want, err)
	}
}

// ReplayWeb.page shows an answer 304 as an empty page: the index leaves it out, so that the earlier capture is shown.
func TestWACZ_indexHasNoAnswer304(t *testing.T) {
	fsys := vfs.NewMem(1)
	file := webArchive(t, fsys, "a", "http://a.test/")
	index := warc.IndexName(file)
	page, err := vfs.ReadFile(fsys, index)
	if err != nil {
		t.Fatal(err)
	}
	line := func(stamp, status string) string {
		return "test,a)/ " + stamp + ` {"url":"http://a.test/","mime":"warc/revisit","status":"` + status +
			`","length":"1","offset":"1","filename":"x"}` + "\n"
	}
	same := line("20260103000000", "200")
	err = vfs.WriteAtomic(fsys, index, func(w io.Writer) error {
		_, err := io.WriteString(w, string(page)+line("20260102050000", "304")+same)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := PackWACZ(fsys, "out.wacz", WACZOptions{}, file); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(openPacked(t, fsys, "out.wacz").read("indexes/index.cdx.gz")))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); string(got) != string(page)+same || err != nil {
		t.Errorf("%s, %v", got, err)
	}
}
