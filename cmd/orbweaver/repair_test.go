package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/derive/derivetest"
	"orbweaver/internal/cli/command"
)

// A damaged file: repair writes what is whole and names the rest. A second call does not replace the new file.
func TestRepairWritesWhatIsWhole(t *testing.T) {
	dir := t.TempDir()
	var a derivetest.Archive
	for _, page := range []string{"1", "2", "3"} {
		a.Response("http://a.test/"+page, 200, "text/html", "<p>page "+page)
	}
	a.Damage(2)
	damaged, whole := filepath.Join(dir, "damaged.warc.gz"), filepath.Join(dir, "whole.warc.gz")
	writeFile(t, damaged, a.String())
	r := call("warc", "repair", damaged, "-o", whole).want(t, command.ExitFailed, "damaged.warc.gz at ")
	if !strings.Contains(r.out, "2 records") || !strings.Contains(r.out, "1 place left out") {
		t.Error(r.out)
	}
	if r := call("warc", "ls", whole).want(t, command.ExitDone); strings.Count(r.out, "response") != 2 {
		t.Error(r.out)
	}
	call("warc", "repair", damaged, "-o", whole).want(t, command.ExitUsage, "the file exists")
	call("warc", "repair", whole, "-o", whole).want(t, command.ExitUsage, "the file exists")
	call("warc", "repair", whole, "-o", filepath.Join(dir, "again")).want(t, command.ExitUsage, ".warc.zst")
	r = call("warc", "--json", "repair", damaged, "-o", dir+"/made/").want(t, command.ExitFailed)
	if !strings.Contains(r.out, `"reason":"`) || !strings.Contains(r.out, `"left_out":1`) {
		t.Error(r.out)
	}
}

// An index cannot give the places of records in a plain file that is packed as a whole: recompress gives them members.
func TestRecompressMakesRecordsAddressable(t *testing.T) {
	dir := t.TempDir()
	var a derivetest.Archive
	a.Response("http://a.test/1", 200, "text/html", "<p>first")
	a.Response("http://a.test/2", 200, "text/html", "<p>second")
	members, plain := filepath.Join(dir, "a.warc.gz"), filepath.Join(dir, "b.warc")
	writeFile(t, members, a.String())
	call("warc", "recompress", members, "-o", plain).want(t, command.ExitDone)
	text, err := os.ReadFile(plain)
	if err != nil {
		t.Fatal(err)
	}
	whole, zst := filepath.Join(dir, "whole.gz"), filepath.Join(dir, "new.warc.zst")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(text) // a Buffer does not fail
	_ = z.Close()
	writeFile(t, whole, packed.String())
	call("warc", "index", whole).want(t, command.ExitFailed, "warc recompress")
	call("warc", "recompress", whole, "-o", zst).want(t, command.ExitDone)
	if r := call("warc", "get", zst, "http://a.test/2").want(t, command.ExitDone); r.out != "<p>second" {
		t.Error(r.out)
	}
	call("wacz", zst, "-o", filepath.Join(dir, "x.wacz")).want(t, command.ExitFailed, "warc recompress")
}
