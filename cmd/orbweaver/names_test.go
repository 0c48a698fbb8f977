package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/cli/command"
)

// A seed is asked for over the network or not at all: no file of this machine is read for it, from the command line,
// from a file of seeds, or over the control port. The name of the operator goes into the archive and not into the
// name of a file.
func TestHostile_A06_filesAreNoSeedsAndOperatorsNoPaths(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	secret := filepath.Join(dir, "secret")
	writeFile(t, secret, "http://not.to.be.read.test/\n")
	ours := filepath.Join(dir, "ours")
	urls := []string{
		"file://" + secret, "file:" + secret, "FILE:///" + secret, secret, "../secret", "gopher://a.test/",
		"data:text/html,x", "javascript:1",
	}
	for _, url := range urls {
		call(append(w.crawl(ours, 0), url)...).want(t, command.ExitUsage, "seed")
	}
	list := filepath.Join(dir, "list")
	writeFile(t, list, strings.Join(urls, "\n")+"\n")
	done := make(chan result, 1)
	go func() {
		done <- call(
			w.crawl(ours, 300*time.Millisecond, "--seeds", list, "--operator", "../../x\r\nWARC-Type: response\r\n\r\n")...,
		)
	}()
	soon(t, "pages in the crawl", func() bool {
		r := call("ctl", "status", "--dir", ours, "--json")
		return r.code == command.ExitDone && number(t, r.object(t), "pages_stored") >= 3
	})
	for _, url := range urls {
		call("ctl", "add", "--dir", ours, url).want(t, command.ExitFailed, url[strings.LastIndex(url, "/")+1:])
	}
	call("ctl", "stop", "--dir", ours).want(t, command.ExitDone)
	if r := <-done; r.code != command.ExitStopped {
		t.Fatalf("%+v", r)
	}
	call("fsck", ours).want(t, command.ExitDone)
	archive, err := filepath.Glob(filepath.Join(ours, "warc", "orbweaver-*.warc.gz"))
	if err != nil || len(archive) == 0 {
		t.Fatal(archive, err)
	}
	call(append([]string{"warc", "verify"}, archive...)...).want(t, command.ExitDone)
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
