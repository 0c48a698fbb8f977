package lookup

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/waczfs"
)

// waczWith writes a WACZ of a WARC file with the pages 1 and 2, with an index that says where they are. edit changes
// the index; isSigned says that datapackage.json has its digest.
func waczWith(t *testing.T, edit func(index string) string, isSigned bool) vfs.FS {
	t.Helper()
	var archive, index bytes.Buffer
	for n := 1; n <= 2; n++ {
		block := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\npage %d", n)
		record := fmt.Sprintf("WARC/1.0\r\nWARC-Type: response\r\n"+
			"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-%012d>\r\nWARC-Date: 2020-01-02T03:04:05Z\r\n"+
			"WARC-Target-URI: http://a.test/%d\r\nContent-Type: application/http\r\n"+
			"Content-Length: %d\r\n\r\n%s\r\n\r\n", n, n, len(block), block)
		fmt.Fprintf(&index, `test,a)/%d 20200102030405 {"url":"http://a.test/%d","mime":"text/html","status":200,`+
			`"offset":%d,"length":%d,"filename":"a.warc"}`+"\n", n, n, archive.Len(), len(record))
		archive.WriteString(record)
	}
	text := edit(index.String())
	sum := sha256.Sum256([]byte(text))
	if !isSigned {
		sum[0]++
	}
	fsys := vfs.NewMem(1)
	err := vfs.WriteAtomic(fsys, "x.wacz", func(to io.Writer) error {
		z := zip.NewWriter(to)
		for name, text := range map[string]string{
			"archive/a.warc": archive.String(), "indexes/index.cdx": text, "datapackage.json": fmt.Sprintf(
				`{"resources":[{"path":"indexes/index.cdx","hash":"sha256:%x"}]}`, sum),
		} {
			w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Store})
			if err == nil {
				_, err = io.WriteString(w, text)
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
	return waczfs.Over(fsys)
}

// The index in a WACZ is used in place of reading its WARC files, as long as it is whole and says the truth. Otherwise
// that is a fault, and the files are read.
func TestIndexOfAWACZ(t *testing.T) {
	first := func(index string) string { return index[:strings.IndexByte(index, '\n')+1] }
	for name, c := range map[string]struct {
		edit     func(string) string
		isSigned bool
		found    string // of the pages
		faults   int
	}{
		"used":          {first, true, "1", 0},
		"wrong offset":  {func(s string) string { return strings.Replace(s, `"offset":0`, `"offset":7`, 1) }, true, "12", 1},
		"other time":    {func(s string) string { return strings.ReplaceAll(s, " 2020", " 2021") }, true, "12", 1},
		"changed":       {first, false, "12", 1},
		"of other file": {func(s string) string { return strings.ReplaceAll(s, "a.warc", "b.warc") }, true, "12", 0},
	} {
		faults := 0
		a := New(NewFiles(Options{
			FS: waczWith(t, c.edit, c.isSigned), Dirs: []string{"x.wacz"}, OnFault: func(*warc.Fault) { faults++ },
		}))
		found := ""
		for _, page := range []string{"1", "2"} {
			capture, err := a.Closest(t.Context(), "http://a.test/"+page, time.Time{})
			if err != nil {
				continue
			}
			p, err := a.Read(t.Context(), capture)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if body, err := io.ReadAll(p.Body); string(body) != "page "+page || err != nil {
				t.Errorf("%s: %q, %v", name, body, err)
			}
			found += page
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		}
		if found != c.found || faults != c.faults {
			t.Errorf("%s: found %s, want %s; %d faults, want %d", name, found, c.found, faults, c.faults)
		}
	}
}
