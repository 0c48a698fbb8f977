package main

import (
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/derive/derivetest"
	"orbweaver/internal/cli/command"
)

// What packs an archive is read by all commands that read one: a WACZ is a directory of WARC files. A file with any
// name is read alone, too.
func TestEachCommandReadsAWACZ(t *testing.T) {
	dir := t.TempDir()
	var a derivetest.Archive
	a.Response("http://a.test/", 200, "text/html", "<title>first</title>")
	a.Response("http://a.test/2", 200, "text/html", "<title>second</title>")
	single := filepath.Join(dir, "rec-20200102030405.warc.gz")
	writeFile(t, single, a.String())
	wacz := filepath.Join(dir, "site.wacz")
	call("wacz", single, "-o", wacz).want(t, command.ExitDone)
	for _, name := range []string{single, wacz, dir} {
		for _, c := range []struct{ words, says string }{
			{"warc ls " + name, "http://a.test/2"},
			{"warc cat --payload " + name, "<title>second</title>"},
			{"warc get " + name + " http://a.test/2", "<title>second</title>"},
			{"warc get --dir " + name + " http://a.test/2", "<title>second</title>"},
			{"warc index " + name, `"url":"http://a.test/2"`},
			{"derive --wet --out " + filepath.Join(dir, filepath.Base(name)+".out") + " " + name, "2 records, 0 faults"},
		} {
			if r := call(strings.Fields(c.words)...).want(t, command.ExitDone); !strings.Contains(r.out, c.says) {
				t.Errorf("%s: %s", c.words, r.out)
			}
		}
	}
	for _, name := range []string{wacz, dir} {
		r := call("feed", name).want(t, command.ExitDone)
		if strings.Count(r.out, `"kind":"new"`) != 2 {
			t.Errorf("feed %s: %s", name, r.out)
		}
	}
}

// A file that is no WARC file is named, so that its captures are not taken for missing.
func TestGetNamesWhatItCannotRead(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.arc")
	writeFile(t, file, "filedesc://a.arc 0.0.0.0 20200102030405 text/plain 76\n1 0 X\n")
	call("warc", "get", file, "http://a.test/").want(t, command.ExitFailed, "a.arc", "not all could be read")
}
