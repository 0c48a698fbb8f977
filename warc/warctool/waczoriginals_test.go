package warctool

import (
	"crypto/sha1"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// day returns a time on a day of the crawls of these tests.
func day(n int) time.Time { return time.Date(2026, 1, n, 3, 4, 5, 0, time.UTC) }

// pageOf is the capture of a page.
func pageOf(uri string, at time.Time) warc.Record {
	block := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>The page " + uri + "</title>"
	return warc.Record{
		Type: warc.Response, Date: at, TargetURI: []byte(uri), Block: [][]byte{[]byte(block)},
		Index: &warc.IndexInfo{Status: 200, MIME: []byte("text/html")},
	}
}

// revisitOf is a later capture with the body of another one.
func revisitOf(uri string, at time.Time, to warc.Record, status int) warc.Record {
	block := fmt.Sprintf("HTTP/1.1 %d Whatever\r\nContent-Type: text/html; charset=utf-8\r\n\r\n", status)
	return warc.Record{
		Type: warc.Revisit, Date: at, TargetURI: []byte(uri), Block: [][]byte{[]byte(block)},
		RefersToURI: string(to.TargetURI), RefersToDate: to.Date,
		Index: &warc.IndexInfo{Status: status, MIME: []byte("text/html")},
	}
}

// archiveOf writes a WARC file with these records.
func archiveOf(t *testing.T, fsys vfs.FS, dir string, form warc.Compression, records ...warc.Record) (name string) {
	t.Helper()
	w, err := warc.OpenWriter(fsys, warc.Options{Dir: dir, Prefix: dir, Compression: form}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := warc.NewEncoder(warc.EncoderOptions{Compression: form})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		e.Reset()
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
	return dir + "/" + names[slices.IndexFunc(names, func(n string) bool { return strings.Contains(n, ".warc") })]
}

// pages reads the list of pages, without its first line.
func (p packed) pages() (all []waczPage) {
	for i, line := range strings.Split(strings.TrimSpace(string(p.read("pages/pages.jsonl"))), "\n") {
		var page waczPage
		if err := json.Unmarshal([]byte(line), &page); err != nil {
			p.t.Fatal(err)
		}
		if i > 0 {
			all = append(all, page)
		}
	}
	return all
}

// titled returns WACZOptions that find titles, and keeps what is told of the files.
func titled(told *[]WACZPacked) WACZOptions {
	return WACZOptions{
		Title: "t", Software: "test", Now: day(9), OnPacked: func(p WACZPacked) { *told = append(*told, p) },
		TitleOf: func(body, _ []byte) string {
			title, _, _ := strings.Cut(strings.TrimPrefix(string(body), "<title>"), "</title>")
			return title
		},
	}
}

// The site is crawled on two days, and each day is a WACZ. On the second day nothing has changed: its WACZ is complete
// all the same, since it gets the records of the first day that it refers to.
func TestWACZ_partsAreCompleteAlone(t *testing.T) {
	for _, form := range []warc.Compression{warc.Gzip, warc.None} {
		fsys := vfs.NewMem(1)
		home, news := pageOf("http://a.test/", day(1)), pageOf("http://a.test/news", day(1))
		kept, lost := pageOf("http://a.test/kept", day(1)), pageOf("http://a.test/lost", day(1))
		first := archiveOf(t, fsys, "a", form, home, news, kept, pageOf("http://a.test/only-once", day(1)))
		second := archiveOf(
			t, fsys, "b", form, pageOf("http://a.test/news", day(2)),
			revisitOf("http://a.test/", day(2), home, 200), revisitOf("http://b.test/home", day(2), home, 200),
			revisitOf("http://a.test/kept", day(2), kept, 304), revisitOf("http://a.test/lost", day(2), lost, 200),
		)
		if err := fsys.Remove(warc.IndexName(first)); err != nil { // it is made again
			t.Fatal(err)
		}
		var told []WACZPacked
		o := titled(&told)
		o.SizeMost = 1
		if err := PackWACZ(fsys, "site.wacz", o, first, second); err != nil {
			t.Fatal(err)
		}
		if r, faults := verifyWACZ(t, fsys, "site.json"); faults != "" || r.Packages != 2 {
			t.Errorf("%+v\n%s", r, faults)
		}
		if len(told) != 2 || told[0].Originals != 0 || told[0].Pages != 4 || told[0].OriginalsMissing != 0 ||
			told[1].Originals != 2 || told[1].OriginalsMissing != 1 || told[1].Name != "site-0002.wacz" {
			t.Errorf("%+v", told)
		}
		var got string
		for _, page := range openPacked(t, fsys, "site-0002.wacz").pages() {
			got += fmt.Sprintln(page.URL, page.Time[8:10], page.Title, page.MIME)
		}
		if want := `http://a.test/ 02 The page http://a.test/ text/html
http://a.test/kept 01 The page http://a.test/kept text/html
http://a.test/lost 02  text/html
http://a.test/news 02 The page http://a.test/news text/html
http://b.test/home 02 The page http://a.test/ text/html
`; got != want {
			t.Errorf("%s, want %s", got, want)
		}
		copied := openPacked(t, fsys, "site-0002.wacz").read("archive/site-0002-originals.warc.gz")
		if err := vfs.WriteAtomic(fsys, "copied.warc.gz", func(w io.Writer) error {
			_, err := w.Write(copied)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		tool := Tool{FS: fsys, Out: &out, Err: &out}
		if err := tool.List("copied.warc.gz"); err != nil || strings.Count(out.String(), "warcinfo") != 2 ||
			strings.Count(out.String(), "response") != 2 {
			t.Errorf("%s %v", out.String(), err)
		}
	}
}

// A page that was stored only as a repetition of another one is in the list of pages, with the title of the other. Two
// pages with the same body, of the same second, are two pages.
func TestWACZ_listsPagesThatAreRevisits(t *testing.T) {
	fsys := vfs.NewMem(1)
	home := pageOf("http://a.test/", day(1))
	file := archiveOf(t, fsys, "a", warc.Gzip, home, revisitOf("http://a.test/index.html", day(1), home, 200),
		revisitOf("http://a.test/gone", day(1), home, 404))
	var told []WACZPacked
	if err := PackWACZ(fsys, "site.wacz", titled(&told), file); err != nil {
		t.Fatal(err)
	}
	pages := openPacked(t, fsys, "site.wacz").pages()
	if len(pages) != 2 || pages[1].URL != "http://a.test/index.html" || pages[1].Title != "The page http://a.test/" ||
		pages[0].ID == pages[1].ID || told[0].Pages != 2 || told[0].Originals+told[0].OriginalsMissing != 0 {
		t.Errorf("%+v, %+v", pages, told)
	}
}

// A URL that was captured with http and with https in turn is two pages, each once.
func TestWACZ_listsAURLOnceForEachScheme(t *testing.T) {
	fsys := vfs.NewMem(1)
	file := archiveOf(t, fsys, "a", warc.Gzip, pageOf("http://a.test/", day(1)), pageOf("https://a.test/", day(2)),
		pageOf("http://a.test/", day(3)), pageOf("https://a.test/", day(4)))
	var told []WACZPacked
	if err := PackWACZ(fsys, "site.wacz", titled(&told), file); err != nil {
		t.Fatal(err)
	}
	pages := openPacked(t, fsys, "site.wacz").pages()
	if len(pages) != 2 || pages[0].Time != "2026-01-03T03:04:05Z" || pages[1].Time != "2026-01-04T03:04:05Z" {
		t.Errorf("%+v", pages)
	}
}

// An index that does not fit its file is no silent loss: nothing is written.
func TestWACZ_refusesAWrongIndexOfAnOriginal(t *testing.T) {
	fsys := vfs.NewMem(1)
	home, other := pageOf("http://a.test/", day(1)), pageOf("http://a.test/other", day(1))
	first := archiveOf(t, fsys, "a", warc.Gzip, other, home)
	second := archiveOf(t, fsys, "b", warc.Gzip, revisitOf("http://a.test/", day(2), home, 200))
	index, err := vfs.ReadFile(fsys, warc.IndexName(first))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(index), "\n")
	_, wrong, _ := strings.Cut(lines[1], "length")
	lines[0] = lines[0][:strings.Index(lines[0], "length")] + "length" + wrong
	if err := vfs.WriteAtomic(fsys, warc.IndexName(first), func(w io.Writer) error {
		_, err := io.WriteString(w, strings.Join(lines, "\n"))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	var told []WACZPacked
	o := titled(&told)
	o.SizeMost = 1
	err = PackWACZ(fsys, "site.wacz", o, first, second)
	if err == nil || !strings.Contains(err.Error(), "orbweaver warc index") || len(told) != 1 {
		t.Errorf("%v, %+v", err, told)
	}
}

// The list of pages has what a person wants to open: HTML, also if the server has not said so, and PDF. It has no
// image. The only seed is the page that is shown first.
func TestWACZ_listsWhatAPersonOpens(t *testing.T) {
	fsys := vfs.NewMem(1)
	sniffed := func(kind string) warc.Field { return warc.Field{Name: "WARC-Identified-Payload-Type", Value: kind} }
	capture := func(uri, kind, body string, more ...warc.Field) warc.Record {
		if kind != "" {
			kind = "Content-Type: " + kind + "\r\n"
		}
		block := "HTTP/1.1 200 OK\r\n" + kind + "\r\n" + body
		mime := strings.TrimSuffix(strings.TrimPrefix(kind, "Content-Type: "), "\r\n")
		return warc.Record{
			Type: warc.Response, Date: day(1), TargetURI: []byte(uri), Block: [][]byte{[]byte(block)}, Extra: more,
			Index: &warc.IndexInfo{Status: 200, MIME: []byte(mime)},
		}
	}
	file := archiveOf(
		t, fsys, "a", warc.Gzip, capture("http://a.test/", "Text/HTML ; charset=utf-8", "<title>\n the\tfirst\n</title>"),
		capture("http://a.test/b.pdf", "application/pdf", "%PDF-1.4"), capture("http://a.test/c.png", "image/png", "x"),
		capture("http://a.test/d", "", "<title>d</title>", sniffed("text/html")),
		capture("http://a.test/e", "", "e", sniffed("image/png")),
	)
	var told []WACZPacked
	o := titled(&told)
	o.Seeds = []string{"http://a.test/"}
	if err := PackWACZ(fsys, "site.wacz", o, file); err != nil {
		t.Fatal(err)
	}
	p := openPacked(t, fsys, "site.wacz")
	var got string
	for _, page := range p.pages() {
		got += fmt.Sprintln(page.URL, page.MIME, page.Title, page.Seed)
	}
	if want := `http://a.test/ Text/HTML the first true
http://a.test/b.pdf application/pdf  false
http://a.test/d text/html d false
`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if main := `"mainPageUrl": "http://a.test/"`; !strings.Contains(string(p.read("datapackage.json")), main) {
		t.Errorf("%s, want %s", p.read("datapackage.json"), main)
	}
}

// Revisits of other programs may name no time. Then the digest says what they repeat. An answer 304 that names nothing
// is not missed.
func TestWACZ_findsOriginalsByDigest(t *testing.T) {
	fsys := vfs.NewMem(1)
	home := pageOf("http://a.test/", day(1))
	digest := sha1.Sum([]byte("<title>The page http://a.test/</title>"))
	home.PayloadDigest = &digest
	first := archiveOf(t, fsys, "a", warc.Gzip, pageOf("http://a.test/", day(2)), home)
	again := revisitOf("http://a.test/", day(3), warc.Record{}, 200)
	kept := revisitOf("http://a.test/", day(4), warc.Record{}, 304)
	again.PayloadDigest = &digest
	second := archiveOf(t, fsys, "b", warc.Gzip, again, kept)
	var told []WACZPacked
	o := titled(&told)
	o.SizeMost = 1
	if err := PackWACZ(fsys, "site.wacz", o, first, second); err != nil {
		t.Fatal(err)
	}
	pages := openPacked(t, fsys, "site-0002.wacz").pages()
	if told[1].Originals != 1 || told[1].OriginalsMissing != 0 || len(pages) != 1 ||
		pages[0].Title != "The page http://a.test/" {
		t.Errorf("%+v, %+v", told, pages)
	}
}

// With NameOriginals a WACZ says which others it needs, and has no copies.
func TestWACZ_namesTheFilesItNeeds(t *testing.T) {
	fsys := vfs.NewMem(1)
	home, news := pageOf("http://a.test/", day(1)), pageOf("http://a.test/news", day(1))
	files := []string{
		archiveOf(t, fsys, "a", warc.Gzip, home), archiveOf(t, fsys, "b", warc.Gzip, news),
		archiveOf(t, fsys, "c", warc.Gzip, pageOf("http://a.test/other", day(1))),
		archiveOf(t, fsys, "d", warc.Gzip, revisitOf("http://a.test/2", day(2), news, 200),
			revisitOf("http://a.test/3", day(2), home, 200), revisitOf("http://a.test/4", day(2), home, 200)),
	}
	var told []WACZPacked
	o := titled(&told)
	o.SizeMost, o.NameOriginals = 1, true
	if err := PackWACZ(fsys, "Site.wacz", o, files...); err != nil {
		t.Fatal(err)
	}
	if r, faults := verifyWACZ(t, fsys, "Site.json"); faults != "" || r.Records != 10 {
		t.Errorf("%+v\n%s", r, faults)
	}
	got := fmt.Sprint(told[3].Requires, told[3].Originals, told[3].OriginalsBytes)
	if got != "[Site-0001.wacz Site-0002.wacz] 2 0" {
		t.Error(got)
	}
	var said struct {
		Relation struct{ Requires []map[string]string }
	}
	err := json.Unmarshal(openPacked(t, fsys, "Site-0004.wacz").read("datapackage.json"), &said)
	if want := "[map[filename:site-0001.wacz] map[filename:site-0002.wacz]]"; fmt.Sprint(said.Relation.Requires) != want {
		t.Errorf("%v, %v, want %s", said, err, want)
	}
}
