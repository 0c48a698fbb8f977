package otherarchives

import (
	"bytes"
	"compress/gzip"
	"crypto/sha1" //nolint:gosec // the digest of WARC
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/records/dedup"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// began is when the other crawl began.
var began = time.Date(2026, 1, 2, 3, 4, 5, 678_000_000, time.UTC)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func digestOf(body string) dedup.Digest { return sha1.Sum([]byte(body)) } //nolint:gosec // as above

// storeOther stores pages with these bodies, one a second, and returns the name of the WARC file.
func storeOther(t *testing.T, disk vfs.FS, dir string, bodies ...string) string {
	t.Helper()
	w, err := warc.OpenWriter(disk, warc.Options{Dir: dir, Prefix: strings.ReplaceAll(dir, "/", "-")}, nil)
	must(t, err)
	e, err := warc.NewEncoder(warc.EncoderOptions{})
	must(t, err)
	for i, body := range bodies {
		digest := [20]byte(digestOf(body))
		e.Reset()
		must(t, e.Append(&warc.Record{
			Type: warc.Response, Date: began.Add(time.Duration(i) * time.Second),
			TargetURI: fmt.Appendf(nil, "http://a.test/%d", i), PayloadDigest: &digest, Index: &warc.IndexInfo{Status: 200},
			Block: [][]byte{[]byte("HTTP/1.1 200 OK\r\n\r\n" + body)},
		}))
		_, err := w.Append(e.Group())
		must(t, err)
	}
	must(t, w.Close())
	files, err := warc.Files(disk, dir)
	must(t, err)
	return files[0].Name
}

// open opens the payloads, and returns what was logged.
func open(t *testing.T, disk vfs.FS, o Options) (*Payloads, *bytes.Buffer) {
	t.Helper()
	log := new(bytes.Buffer)
	o.Dir, o.MemoryBytes = "own", 1<<16
	p, err := Open(disk, o, slog.New(slog.NewTextHandler(log, nil)))
	must(t, err)
	t.Cleanup(func() { must(t, p.Close()) })
	return p, log
}

// find looks a body up.
func find(t *testing.T, p *Payloads, body string, now time.Time) (Original, bool) {
	t.Helper()
	o, ok, err := p.Lookup(digestOf(body), now)
	must(t, err)
	return o, ok
}

// A payload of another crawl is found with the exact name, date and place of its record. The next start reads no index
// again, unless the archive has grown.
func TestLookup_namesTheRecordOfTheOtherArchive(t *testing.T) {
	disk := vfs.NewMem(1)
	name := storeOther(t, disk, "other/warc", "zero", "one", "two")
	o := Options{From: []string{"other"}}
	p, log := open(t, disk, o)
	if !strings.Contains(log.String(), "payloads=3") {
		t.Error(log)
	}
	got, ok := find(t, p, "one", began)
	if !ok || got.URI != "http://a.test/1" || !got.Date.Equal(began.Add(time.Second)) || got.File != name ||
		got.Offset == 0 || got.RecordID == [16]byte{} {
		t.Errorf("%+v", got)
	}
	if _, ok := find(t, p, "three", began); ok {
		t.Error("it has what it has not")
	}
	p, log = open(t, disk, o)
	if again, ok := find(t, p, "one", began); !ok || again != got || log.Len() > 0 {
		t.Errorf("%+v\n%s", again, log)
	}
	storeOther(t, disk, "more", "three")
	p, log = open(t, disk, Options{From: []string{"other", "more/"}})
	if _, ok := find(t, p, "three", began); !ok || !strings.Contains(log.String(), "payloads=4") {
		t.Error(log)
	}
}

// Indexes in CDX are read by the letters of their first line, also when they are compressed. The first line that cannot
// be read is named.
func TestOpen_readsCDX(t *testing.T) {
	disk := vfs.NewMem(1)
	line := func(body, url string) string {
		digest := digestOf(body)
		return base32.StdEncoding.EncodeToString(digest[:]) + " " + url + " 20260102030405 200 7 x.warc.gz\n"
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := io.WriteString(z, " CDX k a b s V g\n"+line("one", "http://a.test/1")+"broken\n")
	must(t, errors.Join(err, z.Close()))
	must(t, disk.MkdirAll("other"))
	for name, text := range map[string]string{
		"a.cdx": " CDX k a b s V g\n" + line("zero", "http://a.test/0"), "b.cdx.gz": packed.String(),
	} {
		must(t, vfs.WriteAtomic(disk, "other/"+name, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		}))
	}
	p, log := open(t, disk, Options{From: []string{"other/a.cdx", "other/b.cdx.gz"}})
	if p.Len() != 2 || !strings.Contains(log.String(), "other/b.cdx.gz: line 3: ") {
		t.Errorf("%d payloads\n%s", p.Len(), log)
	}
}

// A payload that is too old is stored again.
func TestLookup_leavesOutWhatIsTooOld(t *testing.T) {
	disk := vfs.NewMem(1)
	storeOther(t, disk, "other", "zero")
	if p, _ := open(t, disk, Options{From: []string{"other"}, MaxAge: time.Hour}); p.Len() != 0 {
		t.Error("it was captured long before the crawl begins")
	}
	p, _ := open(t, disk, Options{From: []string{"other"}})
	if _, ok := find(t, p, "zero", began.Add(365*24*time.Hour)); !ok {
		t.Error("there is no limit")
	}
	p.o.MaxAge = time.Hour
	for _, c := range []struct {
		after time.Duration
		want  bool
	}{{59 * time.Minute, true}, {61 * time.Minute, false}} {
		if _, ok := find(t, p, "zero", began.Add(c.after)); ok != c.want {
			t.Errorf("after %v: %v", c.after, ok)
		}
	}
}

// Nothing refers to a record that is damaged, missing or another one: its payload is stored again, and the log says so.
func TestLookup_believesNoIndexAgainstItsArchive(t *testing.T) {
	disk := vfs.NewMem(1)
	name := storeOther(t, disk, "other", "zero", "one")
	p, log := open(t, disk, Options{From: []string{"other"}})
	at, ok := find(t, p, "one", began)
	if !ok {
		t.Fatal("not found")
	}
	f, err := disk.OpenRW("other/" + name)
	must(t, err)
	_, err = f.WriteAt([]byte{1, 2, 3, 4}, at.Offset)
	must(t, errors.Join(err, f.Close()))
	if _, ok := find(t, p, "one", began); ok || !strings.Contains(log.String(), name) {
		t.Errorf("a damaged record is believed\n%s", log)
	}
	if _, ok := find(t, p, "zero", began); !ok {
		t.Error("and another is not")
	}
	must(t, disk.Remove("other/"+name))
	if _, ok := find(t, p, "zero", began); ok {
		t.Error("a missing file is believed")
	}
}

// An index alone is believed, also a compressed one of another program. Lines that name no whole payload are left out.
func TestOpen_readsIndexesAlone(t *testing.T) {
	const line = `test,a)/ 20260102030405 {"url":"http://a.test/","status":%q,"mime":%q,"digest":%q,` +
		`"filename":"x/b.warc.gz","offset":"77"}` + "\n"
	label := func(body string) string { return "sha1:" + base32Of(digestOf(body)) }
	text := fmt.Sprintf(line, "200", "text/html", label("zero")) + "no line\n" +
		fmt.Sprintf(line, "200", "warc/revisit", label("one")) + fmt.Sprintf(line, "200", "a/b", "sha256:00ff") +
		fmt.Sprintf(line, "404", "text/html", base32Of(digestOf("two")))
	disk := vfs.NewMem(1)
	must(t, disk.MkdirAll("index"))
	must(t, vfs.WriteAtomic(disk, "index/all.cdxj.gz", func(w io.Writer) error {
		z := gzip.NewWriter(w)
		_, err := io.WriteString(z, text)
		return errors.Join(err, z.Close())
	}))
	for _, from := range []string{"index", "index/all.cdxj.gz"} {
		p, log := open(t, disk, Options{From: []string{from}})
		got, ok := find(t, p, "zero", began)
		if want := (Original{
			First: dedup.First{URI: "http://a.test/", Date: began.Truncate(time.Second)}, File: "b.warc.gz", Offset: 77,
		}); !ok || got != want {
			t.Errorf("%+v", got)
		}
		isRead := from == "index"
		if _, ok := find(t, p, "two", began); !ok || p.Len() != 2 || isRead != strings.Contains(log.String(), "lines=1") {
			t.Errorf("%d payloads\n%s", p.Len(), log)
		}
	}
	must(t, disk.MkdirAll("empty"))
	for _, from := range []string{"empty", "nowhere"} {
		_, err := Open(disk, Options{From: []string{from}, Dir: "own", MemoryBytes: 1 << 16}, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), "--dedup-from: "+from) {
			t.Errorf("%s: %v", from, err)
		}
	}
}

func base32Of(d dedup.Digest) string { return base32.StdEncoding.EncodeToString(d[:]) }

// The archive of an agent that runs beside grows: its new files count after a Refresh, and after a restart. A crawl
// that has stored nothing yet is no mistake.
func TestRefresh_readsWhatWasAdded(t *testing.T) {
	disk := vfs.NewMem(1)
	must(t, disk.MkdirAll("other/frontier"))
	must(t, vfs.WriteAtomic(disk, "other/frontier/MANIFEST", func(io.Writer) error { return nil }))
	o := Options{From: []string{"other"}}
	p, log := open(t, disk, o)
	for n, body := range []string{"zero", "one", "two"} {
		storeOther(t, disk, fmt.Sprintf("made-%d", n), body)
		must(t, disk.MkdirAll("other/warc"))
		names, err := disk.List(fmt.Sprintf("made-%d", n))
		must(t, err)
		for _, name := range names { // each WARC file with its index
			must(t, disk.Rename(fmt.Sprintf("made-%d/%s", n, name), "other/warc/"+name))
		}
		if _, ok := find(t, p, body, began); ok {
			t.Errorf("%s: found before anything was read", body)
		}
		must(t, p.Refresh())
		for _, known := range []string{"zero", "one", "two"}[:n+1] {
			if _, ok := find(t, p, known, began); !ok {
				t.Errorf("%s is not found\n%s", known, log)
			}
		}
		if n == 1 {
			p, log = open(t, disk, o)
			if p.Len() != 2 || log.Len() > 0 {
				t.Errorf("%d payloads after a restart\n%s", p.Len(), log)
			}
		}
	}
	names, err := disk.List("other/warc")
	must(t, err)
	for _, name := range names {
		must(t, disk.Remove("other/warc/"+name))
	}
	must(t, disk.Remove("other/frontier/MANIFEST"))
	if must(t, p.Refresh()); !strings.Contains(log.String(), "still counts") || p.Len() != 3 {
		t.Errorf("%d payloads\n%s", p.Len(), log)
	}
}
