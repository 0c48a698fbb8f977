package warctool

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
	"orbweaver/warc"
	"orbweaver/warc/member"
)

// archive writes three pages, the last one chunked and gzipped, and returns the name of the file and their positions.
func archive(t *testing.T) (fsys vfs.FS, name string, places []warc.Position) {
	t.Helper()
	fsys = vfs.NewMem(1)
	w, err := warc.OpenWriter(fsys, warc.Options{Dir: "w"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	e, err := warc.NewEncoder(warc.EncoderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte("hello gzip"))
	z.Close()
	for i, block := range []string{
		"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nhello",
		"HTTP/1.1 404 No\r\n\r\n",
		fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: gzip\r\n\r\n"+
			"%x\r\n%s\r\n0\r\n\r\n", packed.Len(), packed.Bytes()),
	} {
		e.Reset()
		r := warc.Record{
			Type:      warc.Response,
			Date:      time.Date(2026, 1, 2, 3, 4, i, 0, time.UTC),
			TargetURI: fmt.Appendf(nil, "http://e/%d", i),
			Block:     [][]byte{[]byte(block)},
			Index:     &warc.IndexInfo{Status: 200},
		}
		if err := e.Append(&r); err != nil {
			t.Fatal(err)
		}
		pos, err := w.Append(e.Group())
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, pos)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := warc.Files(fsys, "w")
	if err != nil {
		t.Fatal(err)
	}
	return fsys, "w/" + files[0].Name, places
}

// run makes a Tool that writes to buffers.
func run(fsys vfs.FS, asJSON bool, do func(*Tool) error) (out, errs string, err error) {
	var o, e bytes.Buffer
	err = do(&Tool{FS: fsys, Out: &o, Err: &e, JSON: asJSON})
	return o.String(), e.String(), err
}

func TestList(t *testing.T) {
	fsys, name, places := archive(t)
	out, errs, err := run(fsys, false, func(x *Tool) error { return x.List(name) })
	if err != nil || errs != "" {
		t.Fatal(err, errs)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	want := fmt.Sprintf("%d\t%d\tresponse\t2026-01-02T03:04:01Z\t19\thttp://e/1", places[1].Offset, places[1].Length)
	if len(lines) != 4 || lines[2] != want {
		t.Errorf("%q, want %q", lines, want)
	}
	out, _, err = run(fsys, true, func(x *Tool) error { return x.List(name, name) })
	if err != nil {
		t.Fatal(err)
	}
	d := json.NewDecoder(strings.NewReader(out))
	d.DisallowUnknownFields()
	var rows []Row
	for {
		var r Row
		if err := d.Decode(&r); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	if len(rows) != 8 || rows[1].URI != "http://e/0" || rows[1].Offset != places[0].Offset ||
		rows[0].Type != "warcinfo" {
		t.Errorf("%+v", rows)
	}
	_, said, err := run(fsys, false, func(x *Tool) error { return x.List("nowhere") })
	if !errors.Is(err, ErrFaults) || !strings.Contains(said, "nowhere") {
		t.Error(said, err)
	}
}

func TestCat(t *testing.T) {
	fsys, name, places := archive(t)
	for _, tt := range []struct {
		o       CatOptions
		want    string
		contain bool
		err     error
	}{
		{CatOptions{Offset: places[0].Offset, Payload: true}, "hello", false, nil},
		{CatOptions{Offset: places[0].Offset}, "WARC-Target-URI: http://e/0\r\n", true, nil},
		{CatOptions{URI: "http://e/1"}, "HTTP/1.1 404 No\r\n\r\n\r\n\r\n", true, nil},
		{CatOptions{URI: "http://e/1", Payload: true}, "", false, nil},
		{CatOptions{URI: "http://e/2", Payload: true}, "\x1f\x8b", true, nil},
		{CatOptions{URI: "http://e/2", Decode: true}, "hello gzip", false, nil},
		{CatOptions{Offset: -1, Type: warc.Warcinfo}, "WARC-Filename", true, nil},
		{CatOptions{URI: "http://e/9"}, "", false, ErrNotFound},
		{CatOptions{URI: "http://e/0", Type: warc.Request}, "", false, ErrNotFound},
		{CatOptions{Offset: places[0].Offset + 1}, "", false, ErrNotFound},
		{CatOptions{Offset: 1 << 40}, "", false, ErrNotFound},
	} {
		out, errs, err := run(fsys, false, func(x *Tool) error { return x.Cat(tt.o, name) })
		if !errors.Is(err, tt.err) || errs != "" || out != tt.want && !(tt.contain && strings.Contains(out, tt.want)) {
			t.Errorf("%+v: %q %q %v", tt.o, out, errs, err)
		}
	}
	_, _, err := run(fsys, false,
		func(x *Tool) error { return x.Cat(CatOptions{URI: "http://e/2", Decode: true, SizeMax: 5}, name) })
	if err == nil || !strings.Contains(err.Error(), "larger") {
		t.Error(err)
	}
}

// Records of several files are written one after the other; a title tells whose payload follows.
func TestCat_severalFiles(t *testing.T) {
	fsys, name, places := archive(t)
	o := CatOptions{Offset: -1, Type: warc.Response, Decode: true, Titles: true}
	out, _, err := run(fsys, false, func(x *Tool) error { return x.Cat(o, name, name) })
	first := fmt.Sprintf("==> response http://e/0 (%s, offset %d) <==\nhello\n", path.Base(name), places[0].Offset)
	if err != nil || !strings.HasPrefix(out, first) || strings.Count(out, first) != 2 ||
		strings.Count(out, "<==\nhello gzip\n") != 2 {
		t.Errorf("%q %v", out, err)
	}
	o = CatOptions{URI: "http://e/9", Offset: -1}
	if _, _, err = run(fsys, false, func(x *Tool) error { return x.Cat(o, name, name) }); !errors.Is(err, ErrNotFound) {
		t.Errorf("in two files: %v", err)
	}
}

// In JSON each record is an object; bytes that are not text are in base64.
func TestCat_JSON(t *testing.T) {
	fsys, name, places := archive(t)
	for _, c := range []struct {
		o              CatOptions
		encoding, text string
	}{
		{CatOptions{URI: "http://e/0", Payload: true}, "utf-8", "hello"},
		{CatOptions{URI: "http://e/2", Decode: true}, "utf-8", "hello gzip"},
		{CatOptions{URI: "http://e/2", Payload: true}, "base64", "H4sI"},
		{CatOptions{URI: "http://e/1"}, "utf-8", "HTTP/1.1 404 No\r\n\r\n"},
	} {
		out, _, err := run(fsys, true, func(x *Tool) error { return x.Cat(c.o, name) })
		var row struct {
			Offset                              int64
			Type, URI, Encoding, Block, Payload string
			Fields                              []map[string]string
		}
		if err := errors.Join(err, json.Unmarshal([]byte(out), &row)); err != nil {
			t.Fatal(out, err)
		}
		if row.Type != "response" || row.URI != c.o.URI || row.Encoding != c.encoding || len(row.Fields) < 5 ||
			!strings.HasPrefix(row.Block+row.Payload, c.text) || row.Offset < places[0].Offset {
			t.Errorf("%+v: %s", c.o, out)
		}
	}
}

// A damaged record is reported and counted, in text and in JSON, and later ones are listed.
func TestFaults(t *testing.T) {
	fsys, name, places := archive(t)
	if out, errs, err := run(fsys, true, func(x *Tool) error { return x.Verify(name) }); err != nil || errs != "" ||
		!strings.HasPrefix(out, `{"valid":true,"files":1,"records":4,`) {
		t.Fatal(out, errs, err)
	}
	f, err := fsys.OpenRW(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte{0xff, 0xff, 0xff}, places[1].Offset+places[1].Length-8); err != nil {
		t.Fatal(err)
	}
	out, errs, err := run(fsys, false, func(x *Tool) error { return x.Verify(name) })
	if !errors.Is(err, ErrFaults) || !strings.Contains(errs, "damaged compression") ||
		!strings.Contains(out, "1 error") {
		t.Error(out, errs, err)
	}
	out, _, err = run(fsys, true, func(x *Tool) error { return x.Verify(name) })
	if !errors.Is(err, ErrFaults) || !strings.HasPrefix(out, `{"valid":false`) {
		t.Error(out, err)
	}
	out, errs, err = run(fsys, false, func(x *Tool) error { return x.List(name) })
	if !errors.Is(err, ErrFaults) || errs == "" || !strings.Contains(out, "http://e/2") {
		t.Error(out, errs, err)
	}
}

func TestIndex(t *testing.T) {
	fsys, name, _ := archive(t)
	beside := warc.IndexName(name)
	want, err := vfs.ReadFile(fsys, beside)
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := run(fsys, false, func(x *Tool) error { return x.Index(false, name) })
	// The writer got a status of 200 for all.
	if err != nil ||
		strings.ReplaceAll(strings.ReplaceAll(out, `"404"`, `"200"`), `"mime":"text/plain",`, "") != string(want) {
		t.Errorf("%s\n%s %v", out, want, err)
	}
	if err := fsys.Remove(beside); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run(fsys, false, func(x *Tool) error { return x.Index(true, name) }); err != nil {
		t.Fatal(err)
	}
	if got, err := vfs.ReadFile(fsys, beside); err != nil || string(got) != out {
		t.Error(string(got), err)
	}
}

// Bytes of a file cannot control the terminal of a listing.
func TestHostile_U09_aListingHasNoEscapesOfTheFile(t *testing.T) {
	fsys := vfs.NewMem(1)
	f, err := fsys.Create("x.warc")
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(
		f,
		"WARC/1.0\r\nWARC-Type: a\x1b[2Jb\r\nWARC-Target-URI: http://e/\x1b[31m\u202e\r\nWARC-Date: \x07\r\n"+
			"Content-Length: 0\r\n\r\n\r\n\r\nWARC/1.0\r\n\x1b]0;x\x07: 1\r\n",
	)
	for _, do := range []func(*Tool) error{
		func(x *Tool) error { return x.List("x.warc") },
		func(x *Tool) error { return x.Verify("x.warc") },
	} {
		for _, asJSON := range []bool{false, true} {
			out, errs, _ := run(fsys, asJSON, do)
			if strings.ContainsAny(out+errs, "\x1b\x07\r") || !asJSON && strings.Contains(out+errs, "\u202e") {
				t.Errorf("%q %q", out, errs)
			}
		}
	}
}

// A payload of 4 KB that decodes to more than the bound of its file ends there. The next record is printed.
func TestCat_boundsWhatIsDecoded(t *testing.T) {
	const blocks = 5000 // of 128 KiB, a repeated byte
	packed := append([]byte("\x28\xb5\x2f\xfd"), 0, 10<<3)
	for i := range blocks {
		head := uint32(1<<1 | 128<<10<<3)
		if i == blocks-1 {
			head |= 1
		}
		packed = append(packed, byte(head), byte(head>>8), byte(head>>16), 'A')
	}
	var file []byte
	for _, rest := range []string{"Content-Encoding: zstd\r\n\r\n" + string(packed), "\r\nthe end"} {
		block := "HTTP/1.1 200 OK\r\n" + rest
		file = fmt.Appendf(file, "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.test/\r\nContent-Type: "+
			"application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n", len(block), block)
	}
	fsys := vfs.NewMem(1)
	vfstest.WriteAll(t, fsys, "a.warc", file)
	out, errs := new(counted), new(bytes.Buffer)
	tool := &Tool{FS: fsys, Out: out, Err: errs}
	err := tool.Cat(CatOptions{Offset: -1, Payload: true, Decode: true}, "a.warc")
	most := member.UnpackedFree + member.UnpackedMost*len(file) + 1<<20
	said := errs.String()
	if err == nil || out.n > most || !strings.HasSuffix(out.end, "the end") || !strings.Contains(said, "too large") {
		t.Errorf("%d bytes of at most %d, ending in %q: %v\n%s", out.n, most, out.end, err, said)
	}
}

// counted counts bytes and keeps the last ones.
type counted struct {
	n   int
	end string
}

func (c *counted) Write(p []byte) (int, error) {
	c.n += len(p)
	c.end = string(p[max(0, len(p)-10):])
	return len(p), nil
}
