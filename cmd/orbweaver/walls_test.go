package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/derive/derivetest"
	"orbweaver/internal/cli/command"
	"orbweaver/warc"
)

// aPage is the response with a page of HTML that has a text and a link with a word.
func aPage(word string) string {
	return "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>" + word + "</title><p>" +
		strings.Repeat("The "+word+" stands on a hill and looks at the sea. ", 40) + `<a href="/` + word + `">more</a>`
}

// archiveWith writes an archive with a page, and behind it a wall if there is one.
func archiveWith(t *testing.T, hasWall bool) (file string) {
	t.Helper()
	var a derivetest.Archive
	a.Record("response", "http://a.test/", "application/http;msgtype=response", aPage("lighthouse"))
	if hasWall {
		a.Record("response", "http://a.test/closed", "application/http;msgtype=response", aPage("watchman"),
			warc.WallField+": cloudflare")
	}
	file = filepath.Join(t.TempDir(), "x.warc.gz")
	writeFile(t, file, a.String())
	return file
}

// unpackedFiles are the files below a directory, unpacked.
func unpackedFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if z, zerr := gzip.NewReader(bytes.NewReader(b)); zerr == nil && err == nil {
			b, err = io.ReadAll(z)
		}
		all[strings.TrimPrefix(path, dir)] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// An archive with a wall has the derived data of the same archive without it. A WAT file alone has a record of each
// record of the archive, and of the wall no link.
func TestWalls_haveNoRowInDerivedData(t *testing.T) {
	var of [2]map[string]string
	for i := range of {
		out := filepath.Join(t.TempDir(), "out")
		call("derive", "--parquet", "--wet", "--wat", "--corpus", "--minhash", "--graph", "--nodes", "all", "--crawl", "C",
			"--out", out, archiveWith(t, i == 1)).want(t, command.ExitDone)
		of[i] = unpackedFiles(t, out)
	}
	rows := 0
	for name, plain := range of[0] {
		walled := of[1][name]
		switch {
		case strings.HasPrefix(name, "/.done/"):
		case strings.HasSuffix(name, ".wat.gz"):
			if !strings.Contains(walled, "http://a.test/closed") || strings.Contains(walled, "/watchman") {
				t.Errorf("%s: %s", name, walled)
			}
		case len(plain) != len(walled) || strings.Contains(walled, "watchman") || strings.Contains(walled, "closed"):
			t.Errorf("%s: %d bytes with a wall, %d without: %.2000q", name, len(walled), len(plain), walled)
		default:
			rows++
		}
	}
	if rows < 5 || len(of[0]) != len(of[1]) {
		t.Errorf("%d outputs compared, of %d and %d", rows, len(of[0]), len(of[1]))
	}
}

// An index that is made again from the WARC file, and the index and the list of pages of a WACZ file, have no line of a
// wall.
func TestWalls_areInNoIndexThatIsMadeAgain(t *testing.T) {
	file := archiveWith(t, true)
	r := call("warc", "index", file).want(t, command.ExitDone)
	index, _ := os.ReadFile(strings.TrimSuffix(file, ".warc.gz") + ".cdxj")
	if said := r.out + string(index); !strings.Contains(said, "http://a.test/") || strings.Contains(said, "closed") {
		t.Errorf("the index is %q", said)
	}
	packed := filepath.Join(t.TempDir(), "x.wacz")
	call("wacz", "-o", packed, file).want(t, command.ExitDone)
	z, err := zip.OpenReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		if strings.HasPrefix(f.Name, "archive/") {
			continue
		}
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if u, zerr := gzip.NewReader(bytes.NewReader(text)); zerr == nil && err == nil {
			text, err = io.ReadAll(u)
		}
		if err != nil || strings.Contains(string(text), "closed") || strings.Contains(string(text), "watchman") {
			t.Errorf("%s: %v: %s", f.Name, err, text)
		}
	}
}
