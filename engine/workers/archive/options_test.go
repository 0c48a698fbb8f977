package archive

import (
	"strings"
	"testing"
	"time"

	"orbweaver/engine/net/fetch"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
	"orbweaver/warc"
)

// The warcinfo block has what the options say, and no field without a value.
func TestInfo_hasNoFieldWithoutAValue(t *testing.T) {
	o := Options{Version: "1.2", Host: "crawler.test", Operator: " \t", Description: "A test"}
	got := map[string]string{}
	for _, f := range o.Info("crawl-7", &fetch.Options{UserAgent: "bot/1", Contact: "ops@crawler.test"}) {
		got[f.Name] = f.Value
	}
	for name, want := range map[string]string{
		"software": "orbweaver/1.2", "hostname": "crawler.test", "isPartOf": "crawl-7", "description": "A test",
		"http-header-user-agent": "bot/1", "http-header-from": "ops@crawler.test",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if operator, there := got["operator"]; there {
		t.Errorf("operator is blank, and the block has %q", operator)
	}
}

// Lines of the operator stand in the block, and the collection takes the place of the crawl's identifier.
func TestInfo_hasTheLinesOfTheOperator(t *testing.T) {
	o := Options{IsPartOf: "the web of 2026", InfoFields: []string{"audience: researchers", "rights :none"}}
	if err := o.Validate(); err != nil {
		t.Error(err)
	}
	got := map[string]string{}
	for _, f := range o.Info("crawl-7", &fetch.Options{UserAgent: "bot/1"}) {
		got[f.Name] = f.Value
	}
	for name, want := range map[string]string{
		"isPartOf": "the web of 2026", "crawl-id": "crawl-7", "audience": "researchers", "rights": "none",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	for _, bad := range []Options{
		{Prefix: "a/b"}, {InfoFields: []string{"nothing"}}, {InfoFields: []string{"two words: x"}},
		{InfoFields: []string{"ISPARTOF: x"}}, {InfoFields: []string{"empty: "}}, {InfoFields: []string{"x: a\nb"}},
	} {
		if bad.Validate() == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// A second run continues behind the end that its checkpoint names. It learns how large the archive was at that end.
func TestOpen_continuesBehindTheEnd(t *testing.T) {
	disk := vfstest.WithDir(t, "crawl")
	w, earlier := open(t, disk, nil)
	if earlier != 0 {
		t.Errorf("a new archive has %d bytes of earlier runs", earlier)
	}
	appendRecord(t, w, "http://a.test/kept")
	end, size := w.Checkpoint(), w.Stats().Bytes
	appendRecord(t, w, "http://a.test/lost")
	if err := w.Abandon(); err != nil { // as a kill leaves it
		t.Fatal(err)
	}

	w, earlier = open(t, disk, &end)
	if earlier != size {
		t.Errorf("%d bytes of earlier runs, want %d", earlier, size)
	}
	appendRecord(t, w, "http://a.test/new")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := archived(t, disk); got != "http://a.test/kept http://a.test/new" {
		t.Errorf("the archive has %s", got)
	}
}

func TestEncoder_reportsABadDictionary(t *testing.T) {
	o := Options{Compression: warc.Zstd, Level: 1, Dictionary: []byte("no dictionary")}
	if _, err := o.Encoder(nil); err == nil || !strings.HasPrefix(err.Error(), "archive: ") {
		t.Errorf("got %v", err)
	}
}

func open(t *testing.T, disk vfs.FS, end *warc.Checkpoint) (w *warc.Writer, earlier int64) {
	t.Helper()
	o := Options{Level: 1, SizeMax: 1 << 20, Prefix: "test", Host: "crawler.test"}
	w, earlier, err := o.Open(disk, "crawl", o.Info("crawl-7", new(fetch.Options)), end)
	if err != nil {
		t.Fatal(err)
	}
	return w, earlier
}

func appendRecord(t *testing.T, w *warc.Writer, url string) {
	t.Helper()
	o := Options{Level: 1}
	encoder, err := o.Encoder(nil)
	if err != nil {
		t.Fatal(err)
	}
	record := warc.Record{
		Type: warc.Response, Date: time.Unix(1, 0), TargetURI: []byte(url),
		Block: [][]byte{[]byte("HTTP/1.1 200 OK\r\n\r\n")},
	}
	if err := encoder.Append(&record); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Append(encoder.Group()); err != nil {
		t.Fatal(err)
	}
}

// archived lists the URLs of the responses in the archive, in order.
func archived(t *testing.T, disk vfs.FS) string {
	t.Helper()
	var urls []string
	files, err := warc.Files(disk, "crawl/warc")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text := string(vfstest.ReadAll(t, disk, "crawl/warc/"+f.Name))
		z := warc.NewReader(strings.NewReader(text), warc.ReaderOptions{Name: f.Name})
		defer z.Close()
		for {
			rec, err := z.Next()
			if err != nil {
				break
			}
			if rec.Type == warc.Response {
				urls = append(urls, string(rec.TargetURI))
			}
		}
	}
	return strings.Join(urls, " ")
}

// A crawl keeps a manifest, and a run without one removes it: later files would be missing from it.
func TestOpen_keepsAManifestUnlessNoneIsWanted(t *testing.T) {
	disk := vfstest.WithDir(t, "crawl")
	for _, c := range []struct {
		mode  ManifestMode
		lines int
	}{{ManifestAll, 1}, {ManifestNone, -1}, {ManifestAll, 1}} {
		o := Options{Prefix: "p", Host: "h", SizeMax: 1 << 20, Level: 1, Manifest: c.mode}
		var end *warc.Checkpoint
		if files, _ := warc.Files(disk, "crawl/warc"); len(files) > 0 {
			last := files[len(files)-1]
			size, err := disk.Size("crawl/warc/" + last.Name)
			if err != nil {
				t.Fatal(err)
			}
			end = &warc.Checkpoint{Serial: last.Serial, Length: size}
		}
		w, _, err := o.Open(disk, "crawl", o.Info("crawl-7", new(fetch.Options)), end)
		if err != nil {
			t.Fatal(err)
		}
		appendRecord(t, w, "http://a.test/")
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := vfs.ReadFile(disk, "crawl/warc/manifest-sha256.txt")
		if got := strings.Count(string(text), "\n"); err == nil && got != c.lines || err != nil && c.lines >= 0 {
			t.Errorf("%+v: %d lines, %v", c, got, err)
		}
	}
}
