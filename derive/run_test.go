package derive_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"

	"orbweaver/derive"
	"orbweaver/derive/derivetest"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
	"orbweaver/warc"
)

// uris is a product for tests: a list of target URIs and of the sizes of bodies.
type uris struct {
	form   string
	mu     sync.Mutex // held by workers while opened is used
	opened []string
	joined int
}

func (*uris) Name() string        { return "uris" }
func (u *uris) Settings() string  { return u.form }
func (*uris) Needs() derive.Needs { return derive.Needs{Bodies: true} }

func (u *uris) Open(s derive.Source, outputs *derive.Outputs) (derive.FileWriter, error) {
	u.mu.Lock()
	u.opened = append(u.opened, s.File)
	u.mu.Unlock()
	w, err := outputs.Create("uris/" + s.Crawl + "/" + s.Stem + u.form + ".txt")
	return uriWriter{w}, err
}

func (u *uris) Finish(_ context.Context, files []derive.Finished, outputs *derive.Outputs) error {
	u.joined = len(files)
	w, err := outputs.Create("uris/all.txt")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(w, files)
	return err
}

type uriWriter struct{ w io.Writer }

func (u uriWriter) Add(rec *derive.Record) error {
	if !rec.IsIndexed {
		return nil
	}
	_, err := fmt.Fprintf(u.w, "%s %d %t\n", rec.TargetURI, len(rec.Body()), rec.IsWhole)
	return err
}
func (uriWriter) Close() error { return nil }
func (uriWriter) Abandon()     {}

// twoFiles is a crawl directory with two WARC files, and one that is still written.
func twoFiles(t *testing.T) (fsys *vfs.Mem, first *derivetest.Archive) {
	t.Helper()
	fsys = vfs.NewMem(1)
	if err := fsys.MkdirAll("c/warc"); err != nil {
		t.Fatal(err)
	}
	var a, b derivetest.Archive
	a.Record("warcinfo", "", "application/warc-fields", "software: x\r\n")
	a.Response("http://a.test/", 200, "text/html", "one")
	a.Response("http://a.test/2", 200, "text/html", "3\r\ntwo\r\n0\r\n\r\n", "Transfer-Encoding: chunked")
	a.Response("http://a.test/3", 200, "text/html", "three")
	b.Response("http://b.test/", 404, "text/plain", "none")
	derivetest.Put(t, fsys, "c/warc/a.warc.gz", a.Bytes())
	derivetest.Put(t, fsys, "c/warc/b.warc.gz", b.Bytes())
	derivetest.Put(t, fsys, "c/warc/c.warc.gz.open", b.Bytes())
	derivetest.Put(t, fsys, "c/warc/a.cdxj", nil)
	return fsys, &a
}

func run(t *testing.T, fsys vfs.FS, u *uris, o derive.Options, names ...string) *derive.Report {
	t.Helper()
	o.Dir, o.Products = "out", []derive.Product{u}
	if len(names) == 0 {
		names = []string{"c"}
	}
	r, err := derive.Run(t.Context(), fsys, names, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func want(t *testing.T, fsys vfs.FS, name, text string) {
	t.Helper()
	if got := string(derivetest.Get(t, fsys, name)); got != text {
		t.Errorf("%s is %q, want %q", name, got, text)
	}
}

const textA = "http://a.test/ 3 true\nhttp://a.test/2 3 true\nhttp://a.test/3 5 true\n"

// A crawl directory gives an output for each of its complete files. The second run makes nothing again.
func TestRun_completeOutputsAreKept(t *testing.T) {
	fsys, _ := twoFiles(t)
	u := &uris{}
	r := run(t, fsys, u, derive.Options{})
	want(t, fsys, "out/uris/c/a.txt", textA)
	want(t, fsys, "out/uris/c/b.txt", "http://b.test/ 4 true\n")
	if !reflect.DeepEqual(*r, derive.Report{
		Files: 2, Unfinished: 1, Records: 5, Outputs: 3, Bytes: r.Bytes, Written: r.Written, LeftOut: []derive.LeftOut{},
	}) {
		t.Errorf("the report is %+v", *r)
	}
	again := &uris{}
	r = run(t, fsys, again, derive.Options{})
	if r.Kept != 2 || r.Records != 5 || len(again.opened) != 0 || again.joined != 0 {
		t.Errorf("the second run opened %v, and reports %+v", again.opened, *r)
	}
}

// Outputs of other settings, of an input that has changed, and those that were cut or removed, are made again.
func TestRun_staleOutputsAreMadeAgain(t *testing.T) {
	fsys, a := twoFiles(t)
	run(t, fsys, &uris{}, derive.Options{})
	u := &uris{form: "-2"}
	run(t, fsys, u, derive.Options{})
	if len(u.opened) != 2 {
		t.Errorf("other settings: opened %v", u.opened)
	}
	if _, err := fsys.Size("out/uris/c/a.txt"); err == nil {
		t.Error("the output of the old settings is still there")
	}
	a.Response("http://a.test/4", 200, "text/html", "more")
	derivetest.Put(t, fsys, "c/warc/a.warc.gz", a.Bytes())
	derivetest.Put(t, fsys, "out/uris/c/b-2.txt", []byte("half"))
	u = &uris{form: "-2"}
	run(t, fsys, u, derive.Options{})
	if len(u.opened) != 2 {
		t.Errorf("a longer input and a cut output: opened %v", u.opened)
	}
	want(t, fsys, "out/uris/c/a-2.txt", textA+"http://a.test/4 4 true\n")
	want(t, fsys, "out/uris/c/b-2.txt", "http://b.test/ 4 true\n")
	if u.joined != 2 {
		t.Error("the outputs were not combined again")
	}
}

// The disk fails at each of its calls in turn. Whatever is there under a final name then is complete, and the next run
// makes what is missing.
func TestRun_DV1_DV2_failedRunsLeaveNoHalfOutputs(t *testing.T) {
	for call := 1; ; call++ {
		mem, _ := twoFiles(t)
		script := faultfs.NewScript(faultfs.Rule{Op: faultfs.Any, Name: "out/*/*/*", From: call, Err: syscall.EIO},
			faultfs.Rule{Op: faultfs.Any, Name: "*.txt*", From: call, Err: syscall.EIO})
		o := derive.Options{Dir: "out", Workers: 1, Products: []derive.Product{&uris{}}}
		_, err := derive.Run(t.Context(), faultfs.New(mem, script), []string{"c"}, o)
		for name, text := range map[string]string{"a": textA, "b": "http://b.test/ 4 true\n"} {
			if got, err := vfs.ReadFile(mem, "out/uris/c/"+name+".txt"); err == nil && string(got) != text {
				t.Fatalf("fault at call %d: %s.txt is %q", call, name, got)
			}
		}
		crashed := mem.CrashClone(nil)
		run(t, crashed, &uris{}, derive.Options{})
		want(t, crashed, "out/uris/c/a.txt", textA)
		want(t, crashed, "out/uris/c/b.txt", "http://b.test/ 4 true\n")
		if err == nil {
			if call < 10 {
				t.Errorf("only %d calls can fail", call)
			}
			return
		}
		if !errors.Is(err, syscall.EIO) {
			t.Fatalf("fault at call %d: %v", call, err)
		}
	}
}

// A damaged record, and a torn end, cost themselves alone. The fault has the place, also when nothing is read again.
func TestRun_DV3_damageCostsTheRecord(t *testing.T) {
	fsys, a := twoFiles(t)
	a.Damage(3)
	derivetest.Put(t, fsys, "c/warc/a.warc.gz", a.Bytes())
	var damaged []string
	o := derive.Options{OnFault: func(f *warc.Fault) { damaged = append(damaged, f.Error()) }}
	r := run(t, fsys, &uris{}, o)
	want(t, fsys, "out/uris/c/a.txt", "http://a.test/ 3 true\nhttp://a.test/3 5 true\n")
	if len(damaged) != 1 || !strings.Contains(damaged[0], "a.warc.gz at ") || r.Faults != 1 {
		t.Errorf("%d faults: %q", r.Faults, damaged)
	}
	if r = run(t, fsys, &uris{}, o); r.Faults != 1 || r.Kept != 2 {
		t.Errorf("the second run reports %+v", *r)
	}
	fsys, a = twoFiles(t)
	derivetest.Put(t, fsys, "c/warc/a.warc.gz", a.Bytes()[:a.Len()-9])
	if r = run(t, fsys, &uris{}, o); r.Faults != 1 {
		t.Errorf("a torn end: %d faults", r.Faults)
	}
	want(t, fsys, "out/uris/c/a.txt", "http://a.test/ 3 true\nhttp://a.test/2 3 true\n")
}

// Files without any record are no reason to stop: empty, of noise, of a page that is not in a WARC.
func TestRun_DV3_filesWithoutRecords(t *testing.T) {
	fsys, _ := twoFiles(t)
	derivetest.Put(t, fsys, "c/warc/empty.warc.gz", nil)
	derivetest.Put(t, fsys, "c/warc/noise.warc", []byte("<html>this is no archive</html>"))
	r := run(t, fsys, &uris{}, derive.Options{})
	if r.Files != 4 || r.Faults != 1 || r.Records != 5 {
		t.Errorf("the report is %+v", *r)
	}
	want(t, fsys, "out/uris/c/empty.txt", "")
	want(t, fsys, "out/uris/c/noise.txt", "")
}

// A block that is longer than the limit is passed over beyond it, and a block that is shorter than its header says is
// damage.
func TestRun_giantRecords(t *testing.T) {
	fsys := vfs.NewMem(1)
	if err := fsys.MkdirAll("c/warc"); err != nil {
		t.Fatal(err)
	}
	var a derivetest.Archive
	a.Response("http://a.test/", 200, "text/html", strings.Repeat("x", 3<<20))
	a.Response("http://a.test/2", 200, "text/html", "two")
	plain := "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000001>\r\n" +
		"WARC-Target-URI: http://b.test/\r\nContent-Length: 4000000000000\r\n\r\nHTTP/1.1 200 OK\r\n\r\nshort"
	derivetest.Put(t, fsys, "c/warc/a.warc.gz", a.Bytes())
	derivetest.Put(t, fsys, "c/warc/b.warc", []byte(plain))
	r := run(t, fsys, &uris{}, derive.Options{BlockMax: 2 << 20})
	head := len("HTTP/1.1 200 Text\r\nContent-Type: text/html\r\n\r\n")
	want(t, fsys, "out/uris/c/a.txt", fmt.Sprintf("http://a.test/ %d false\nhttp://a.test/2 3 true\n", 2<<20-head))
	if r.Faults != 1 {
		t.Errorf("%d faults", r.Faults)
	}
}

// What is kept of the blocks of a file is bounded by its length. All records are read, and the fault is said once.
func TestRun_manyLargeRecords(t *testing.T) {
	fsys := vfs.NewMem(1)
	if err := fsys.MkdirAll("c/warc"); err != nil {
		t.Fatal(err)
	}
	const pages = 12
	var a derivetest.Archive
	body := strings.Repeat("x", 8<<20)
	for n := range pages {
		a.Response(fmt.Sprintf("http://a.test/%d", n), 200, "text/html", body)
	}
	derivetest.Put(t, fsys, "c/warc/a.warc.gz", a.Bytes())
	r := run(t, fsys, &uris{}, derive.Options{})
	kept, small := 0, 0
	for line := range strings.Lines(string(derivetest.Get(t, fsys, "out/uris/c/a.txt"))) {
		var url string
		var n int
		if _, err := fmt.Sscan(line, &url, &n); err != nil {
			t.Fatal(err)
		}
		kept += n
		if n < 8<<20-1000 {
			small++
		}
	}
	if r.Records != pages || r.Faults != 1 || kept > 32<<20+32*a.Len()+pages<<14 || small != pages-4 {
		t.Errorf("%d records, %d faults, %d bytes kept, %d cut", r.Records, r.Faults, kept, small)
	}
}

// Names that mean nothing, or two files with one name, are mistakes of the caller.
func TestRun_names(t *testing.T) {
	fsys, a := twoFiles(t)
	if err := fsys.MkdirAll("d"); err != nil {
		t.Fatal(err)
	}
	derivetest.Put(t, fsys, "d/a.warc.gz", a.Bytes())
	o := derive.Options{Dir: "out", Products: []derive.Product{&uris{}}}
	for _, c := range []struct {
		names []string
		want  error
	}{
		{[]string{"c", "d"}, derive.ErrSameName},
		{[]string{"nothing"}, derive.ErrNoFiles},
		{[]string{"c/warc/a.cdxj"}, derive.ErrNoFiles},
	} {
		if _, err := derive.Run(t.Context(), fsys, c.names, o); !errors.Is(err, c.want) {
			t.Errorf("%v: %v, want %v", c.names, err, c.want)
		}
	}
	run(t, fsys, &uris{}, derive.Options{}, "c", "c/warc/a.warc.gz")
	run(t, fsys, &uris{}, derive.Options{Crawl: "other"}, "d/a.warc.gz")
	want(t, fsys, "out/uris/other/a.txt", textA)
}
