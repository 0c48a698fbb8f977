package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// What becomes part of a file's name leads nowhere, whatever the machine is called.
func TestHostile_A06_theMachinesNameIsNoPath(t *testing.T) {
	for name, want := range map[string]string{
		"crawler-1.example.org": "crawler-1.example.org", "../../etc": "etc", "..": "localhost", "": "localhost", "/": "localhost", "a/b\\c": "a-b-c",
		"-rf": "rf", ".hidden": "hidden", "a\x00\r\nb": "a-b", strings.Repeat("x", 300): strings.Repeat("x", 100), "n\u00e4me": "n-me",
	} {
		if got := fileName(name); got != want {
			t.Errorf("%q became %q", name, got)
		}
	}
}

// A seed is asked for over the network or not at all: no file of this machine is read for it, from the command line,
// from a file of seeds, or over the control port. Who the operator says he is goes into the archive and not into the
// name of a file.
func TestHostile_A06_filesAreNoSeedsAndOperatorsNoPaths(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	secret := filepath.Join(dir, "secret")
	write(t, secret, "http://not.to.be.read.test/\n")
	ours := filepath.Join(dir, "ours")
	urls := []string{"file://" + secret, "file:" + secret, "FILE:///" + secret, secret, "../secret", "gopher://a.test/", "data:text/html,x", "javascript:1"}
	for _, url := range urls {
		call(append(w.crawl(ours, 0), url)...).want(t, exitUsage, "seed")
	}
	list := filepath.Join(dir, "list")
	write(t, list, strings.Join(urls, "\n")+"\n")
	done := make(chan result, 1)
	go func() {
		done <- call(w.crawl(ours, 300*time.Millisecond, "--seeds", list, "--operator", "../../x\r\nWARC-Type: response\r\n\r\n")...)
	}()
	soon(t, "pages in the crawl", func() bool {
		r := call("ctl", "status", "--dir", ours, "--json")
		return r.code == exitDone && number(t, r.object(t), "pages_stored") >= 3
	})
	for _, url := range urls {
		call("ctl", "add", "--dir", ours, url).want(t, exitFailed, url[strings.LastIndex(url, "/")+1:])
	}
	call("ctl", "stop", "--dir", ours).want(t, exitDone)
	if r := <-done; r.code != exitStopped {
		t.Fatalf("%+v", r)
	}
	call("fsck", ours).want(t, exitDone)
	archive, err := filepath.Glob(filepath.Join(ours, "warc", "orbweaver-*.warc.gz"))
	if err != nil || len(archive) == 0 {
		t.Fatal(archive, err)
	}
	call(append([]string{"warc", "verify"}, archive...)...).want(t, exitDone)
	err = filepath.WalkDir(ours, func(name string, _ os.DirEntry, err error) error {
		if b, rerr := os.ReadFile(name); rerr == nil && strings.Contains(string(b), "not.to.be.read") {
			t.Errorf("%s has what was in a file of this machine", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
