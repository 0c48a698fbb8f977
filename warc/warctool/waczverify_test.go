package warctool

import (
	"archive/zip"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// verifyWACZ returns the result and the faults of a WACZ file.
func verifyWACZ(t *testing.T, fsys vfs.FS, name string) (WACZResult, string) {
	t.Helper()
	var faults strings.Builder
	r, err := VerifyWACZ(fsys, name, func(err error) { fmt.Fprintln(&faults, err) })
	if err != nil {
		t.Fatal(err)
	}
	return r, faults.String()
}

func waczOptions(t *testing.T) WACZOptions {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return WACZOptions{
		Title: "t", Software: "test", Now: time.Unix(1e9, 0), SignKey: key,
		TitleOf: func(body, _ []byte) string { return "title of " + string(body[:5]) },
	}
}

// Several WARC files become several WACZ files with their list. Each one is signed, and all is found sound.
func TestWACZParts(t *testing.T) {
	fsys := vfs.NewMem(1)
	a := webArchive(t, fsys, "a", "http://a.test/1", "http://a.test/2")
	b := webArchive(t, fsys, "b", "http://b.test/1")
	// Two archives that begin in the same millisecond can have files with the same name.
	if err := fsys.Rename(b, "b/b.warc.gz"); err != nil {
		t.Fatal(err)
	}
	b = "b/b.warc.gz"
	o := waczOptions(t)
	o.SizeMost = 100
	if err := PackWACZ(fsys, "site.wacz", o, a, b); err != nil {
		t.Fatal(err)
	}
	r, faults := verifyWACZ(t, fsys, "site.json")
	if faults != "" || r.Packages != 2 || r.Signed != 2 || r.Lines != 3 || r.Records != 5 {
		t.Errorf("%+v\n%s", r, faults)
	}
	pages := string(openPacked(t, fsys, "site-0001.wacz").read("pages/pages.jsonl"))
	if strings.Count(pages, `"title":"title of`) != 2 {
		t.Error(pages)
	}
	var list map[string]any
	text, err := vfs.ReadFile(fsys, "site.json")
	if err != nil || json.Unmarshal(text, &list) != nil || list["profile"] != "multi-wacz-package" {
		t.Error(string(text), err)
	}
	o.SizeMost = 1 << 30
	if err := PackWACZ(fsys, "one.wacz", o, a, b); err != nil {
		t.Fatal(err)
	}
	if r, faults := verifyWACZ(t, fsys, "one.json"); faults != "" || r.Packages != 1 {
		t.Errorf("%+v\n%s", r, faults)
	}
	twice := bytes.Replace(text, []byte(`"resources":[`), []byte(`"resources":[{"path":"site-0001.wacz"},`), 1)
	twice = bytes.Replace(twice, []byte(`"resources": [`), []byte(`"resources": [{"path":"site-0001.wacz"},`), 1)
	err = vfs.WriteAtomic(fsys, "twice.json", func(w io.Writer) error { _, err := w.Write(twice); return err })
	if err != nil {
		t.Fatal(err)
	}
	if r, faults := verifyWACZ(t, fsys, "twice.json"); !strings.Contains(faults, "site-0001.wacz is listed twice") ||
		r.Packages != 2 {
		t.Errorf("%+v\n%s", r, faults)
	}
	if err := fsys.Remove("site-0002.wacz"); err != nil {
		t.Fatal(err)
	}
	if _, faults := verifyWACZ(t, fsys, "site.json"); !strings.Contains(faults, "site-0002.wacz is missing") {
		t.Error(faults)
	}
}

// A file whose bytes are not those of the manifest is not packed.
func TestWACZComparesWithTheManifest(t *testing.T) {
	fsys := vfs.NewMem(1)
	name := webArchive(t, fsys, "a", "http://a.test/1")
	if _, err := warc.CompleteManifestAll(fsys, "a", func(f *warc.Fault) { t.Error(f) }); err != nil {
		t.Fatal(err)
	}
	if err := PackWACZ(fsys, "one.wacz", waczOptions(t), name); err != nil {
		t.Fatal(err)
	}
	f, err := fsys.OpenRW(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{1}, 4); err != nil { // time in the head of the first gzip member
		t.Fatal(err)
	}
	f.Close()
	err = PackWACZ(fsys, "two.wacz", waczOptions(t), name)
	if err == nil || !strings.Contains(err.Error(), "not those of its line in the manifest") {
		t.Error(err)
	}
	if _, err := fsys.Size("two.wacz"); err == nil {
		t.Error("the file is there")
	}
}

// Each change of a WACZ file is found.
func TestVerifyWACZFindsChanges(t *testing.T) {
	fsys := vfs.NewMem(1)
	if err := PackWACZ(fsys, "site.wacz", waczOptions(t), webArchive(t, fsys, "a", "http://a.test/1")); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]struct {
		in, from, to string
		want         string
	}{
		"version":   {"datapackage.json", "1.1.1", "9.9.9", "want data-package and 1.1.1"},
		"length":    {"datapackage.json", `"bytes": `, `"bytes": 1`, "and datapackage.json says"},
		"hash":      {"datapackage.json", `sha256:`, `sha256:0`, "its digest is"},
		"digest":    {"datapackage-digest.json", `"hash":"sha256:`, `"hash":"sha256:0`, "not the digest of"},
		"signature": {"datapackage-digest.json", `"signature":"`, `"signature":"AAAA`, "the signature is not"},
		"page":      {"pages/pages.jsonl", `"ts":"2`, `"ts":"x`, "has no url, or no time"},
		"header":    {"pages/pages.jsonl", `json-pages-1.0`, `json-pages-9.0`, "does not say json-pages-1.0"},
		"index":     {"indexes/index.idx", `"offset":0`, `"offset":7`, "is not of the block at 0"},
		"block":     {"indexes/index.idx", `sha256:`, `sha256:0`, "has another digest"},
		"record":    {"archive/", "\x1f\x8b", "\x1f\x8c", "datapackage.json says"},
	} {
		var out bytes.Buffer
		z, w := openPacked(t, fsys, "site.wacz"), zip.NewWriter(&out)
		for _, e := range z.File {
			text := z.read(e.Name)
			if strings.HasPrefix(e.Name, change.in) {
				text = bytes.Replace(text, []byte(change.from), []byte(change.to), 1)
			}
			f, err := w.CreateHeader(&zip.FileHeader{Name: e.Name, Method: e.Method})
			if err == nil {
				_, err = f.Write(text)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		err := vfs.WriteAtomic(fsys, "changed.wacz", func(w io.Writer) error { _, err := w.Write(out.Bytes()); return err })
		if err != nil {
			t.Fatal(err)
		}
		if _, faults := verifyWACZ(t, fsys, "changed.wacz"); !strings.Contains(faults, change.want) {
			t.Errorf("%s: %s", what, faults)
		}
	}
	if r, faults := verifyWACZ(t, fsys, "site.wacz"); r.Faults != 0 {
		t.Error(faults)
	}
}

// Each kind of violation that wacz validate of py-wacz looks for is found.
func TestVerifyWACZ_findsWhatPyWACZFinds(t *testing.T) {
	fsys := vfs.NewMem(1)
	if err := PackWACZ(fsys, "site.wacz", waczOptions(t), webArchive(t, fsys, "a", "http://a.test/1")); err != nil {
		t.Fatal(err)
	}
	from := openPacked(t, fsys, "site.wacz")
	for what, change := range map[string]struct {
		drop, pack string // start of a name
		add        string
		want       string
	}{
		"no datapackage.json":        {drop: "datapackage.json", want: "datapackage.json is missing"},
		"no WARC file":               {drop: "archive/", want: "0 WARC files"},
		"no index":                   {drop: "indexes/", want: "0 files of an index"},
		"no list of pages":           {drop: "pages/", want: "pages/pages.jsonl is missing"},
		"a listed file is missing":   {drop: "indexes/index.cdx.gz", want: "indexes/index.cdx.gz is missing"},
		"an unlisted WARC file":      {add: "archive/b.warc.gz", want: "archive/b.warc.gz: not in datapackage.json"},
		"an unlisted file elsewhere": {add: "logs/x.log", want: "logs/x.log: not in datapackage.json"},
		"a compressed WARC file":     {pack: "archive/", want: "is compressed"},
		"a compressed index":         {pack: "indexes/index.cdx.gz", want: "indexes/index.cdx.gz is compressed"},
	} {
		err := vfs.WriteAtomic(fsys, "changed.wacz", func(w io.Writer) error {
			z := zip.NewWriter(w)
			write := func(name string, method uint16, text []byte) error {
				f, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: method})
				if err == nil {
					_, err = f.Write(text)
				}
				return err
			}
			for _, e := range from.File {
				method := e.Method
				if change.pack != "" && strings.HasPrefix(e.Name, change.pack) {
					method = zip.Deflate
				}
				if change.drop != "" && strings.HasPrefix(e.Name, change.drop) {
					continue
				}
				if err := write(e.Name, method, from.read(e.Name)); err != nil {
					return err
				}
			}
			if change.add != "" {
				if err := write(change.add, zip.Store, []byte("x")); err != nil {
					return err
				}
			}
			return z.Close()
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, faults := verifyWACZ(t, fsys, "changed.wacz"); !strings.Contains(faults, change.want) {
			t.Errorf("%s: %s", what, faults)
		}
	}
}

// Digests of MD5, which py-wacz can write, are compared.
func TestVerifyWACZ_comparesMD5(t *testing.T) {
	fsys := vfs.NewMem(1)
	archive := webArchive(t, fsys, "a", "http://a.test/1")
	for _, isWrong := range []bool{false, true} {
		f := foreign{fsys: fsys, warc: archive, index: map[string]string{"index.cdx": ""}, md5: true, wrong: isWrong}
		f.write(t, "x.wacz")
		if _, faults := verifyWACZ(t, fsys, "x.wacz"); isWrong != strings.Contains(faults, "its digest is md5:") {
			t.Errorf("wrong %v: %s", isWrong, faults)
		}
	}
}

// Keys are read in both forms that openssl writes.
func TestReadWACZKey(t *testing.T) {
	o := waczOptions(t)
	sec, err := x509.MarshalECPrivateKey(o.SignKey)
	if err != nil {
		t.Fatal(err)
	}
	pkcs, err := x509.MarshalPKCS8PrivateKey(o.SignKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range []pem.Block{{Type: "EC PRIVATE KEY", Bytes: sec}, {Type: "PRIVATE KEY", Bytes: pkcs}} {
		key, err := ReadWACZKey(pem.EncodeToMemory(&block))
		if err != nil || !key.Equal(o.SignKey) {
			t.Error(err)
		}
	}
	if _, err := ReadWACZKey([]byte("no key")); err == nil {
		t.Error("no key is a key")
	}
}

// A list of pages may be as long as the writer makes it: some 350,000 pages have more than 64 MiB.
func TestVerifyWACZ_readsAListOfPagesOfAnyLength(t *testing.T) {
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	w, err := z.Create("pages/pages.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(w, `{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}`)
	line := `{"id": "1", "url": "http://a.test/` + strings.Repeat("x", 4<<10) + `", "ts": "2026-01-02T03:04:05Z"}` + "\n"
	for n := 0; n <= waczFileMost; n += len(line) {
		if _, err := io.WriteString(w, line); err != nil {
			t.Fatal(err)
		}
	}
	fmt.Fprintln(w, `{"id": "2"}`)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
	if err != nil {
		t.Fatal(err)
	}
	var faults []string
	c := &waczCheck{
		zip: r, entries: map[string]*zip.File{"pages/pages.jsonl": r.File[0]},
		complain: func(err error) { faults = append(faults, err.Error()) },
	}
	c.checkPages()
	if len(faults) != 1 || !strings.HasSuffix(faults[0], "has no url, or no time") {
		t.Errorf("%d faults: %.1000q", len(faults), faults)
	}
}

// Lists that unpack to gigabytes, or have a fault in each of many lines, are not read on.
func TestVerifyWACZ_boundsWhatIsUnpacked(t *testing.T) {
	for name, text := range map[string]string{
		"a long line": strings.Repeat("a", 1<<20), "faults": strings.Repeat("{}\n", 1<<20/3),
		"good lines": strings.Repeat(`{"url": "http://a.test/", "ts": "2026-01-02T03:04:05Z"}`+"\n", 1<<20/56),
	} {
		var packed bytes.Buffer
		z := zip.NewWriter(&packed)
		w, err := z.Create("pages/pages.jsonl")
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(w, `{"format": "json-pages-1.0"}`)
		for range 192 {
			if _, err := io.WriteString(w, text); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
		if err != nil {
			t.Fatal(err)
		}
		last, n := error(nil), 0
		c := &waczCheck{
			zip: r, entries: map[string]*zip.File{"pages/pages.jsonl": r.File[0]}, result: new(WACZResult),
			complain: func(err error) { last, n = err, n+1 },
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c.checkPages()
		runtime.ReadMemStats(&after)
		isFaults := name == "faults" && errors.Is(last, errFaults)
		isExpanding := name == "good lines" && errors.Is(last, errExpands) || name == "a long line" && n == 1
		if !isFaults && !isExpanding || n > faultsMost+2 || after.Sys > before.Sys+128<<20 {
			t.Errorf("%s: %d faults, the last: %v; %d bytes more memory", name, n, last, after.Sys-before.Sys)
		}
	}
}
