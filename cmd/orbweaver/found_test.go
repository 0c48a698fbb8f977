package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orbweaver/engine/operate/control"
	"orbweaver/internal/cli/command"
)

// A running crawl is found by its directory alone, whatever --listen says, and no command says that it does not run.
func TestCrawl_isFoundByItsDirectoryWithListen(t *testing.T) {
	for name, listen := range map[string]func(dir string) string{
		"a port":         func(string) string { return freePort(t) },
		"another socket": func(dir string) string { return "unix:" + dir + "-other" },
		"its own socket": func(dir string) string { return "unix:" + filepath.Join(dir, ".", "control.sock") },
		"no other":       func(string) string { return "" },
	} {
		t.Run(name, func(t *testing.T) {
			w, dir := serve(t), filepath.Join(t.TempDir(), "crawl")
			args := w.crawl(dir, time.Second)
			if at := listen(dir); at != "" {
				args = append(args, "--listen", at)
			}
			done := make(chan result, 1)
			go func() { done <- call(args...) }()
			soon(t, "pages", func() bool {
				r := call("ctl", "--dir", dir, "status", "--json")
				return r.code == command.ExitDone && number(t, r.object(t), "pages_stored") >= 1
			})
			if r := call("ctl", "--dir", dir, "status").want(t, command.ExitDone); !strings.HasPrefix(r.out, "running") {
				t.Errorf("status: %s%s", r.out, r.err)
			}
			call("doctor", "--dir", dir).want(t, command.ExitDone)
			call("ctl", "--dir", dir, "hosts").want(t, command.ExitDone)
			call("explain", "--dir", dir, w.roots[0]).want(t, command.ExitDone)
			call("fsck", dir).want(t, command.ExitFailed, "in use by another process", "ctl --dir "+dir+" stop")
			call(args...).want(t, command.ExitFailed, "in use by another process", "ctl --dir "+dir+" stop")
			call("ctl", "--dir", dir, "stop").want(t, command.ExitDone)
			if r := <-done; r.code != command.ExitStopped {
				t.Errorf("the crawl: %+v", r)
			}
		})
	}
}

// A crawl whose socket is gone runs all the same: what it answered last is said with this, and nothing more is said
// than is known.
func TestCrawl_withoutASocketIsNotSaidToBeStopped(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	cmd, _ := child(t, w.crawl(dir, time.Second)...)
	soon(t, "a report", func() bool { return call("ctl", "--dir", dir, "status").code == command.ExitDone })
	soon(t, "report.json", func() bool { _, err := os.Stat(filepath.Join(dir, "report.json")); return err == nil })
	if err := os.Remove(strings.TrimPrefix(control.SocketOf(dir), "unix:")); err != nil {
		t.Fatal(err)
	}
	said := "a crawl runs there and does not answer"
	r := call("ctl", "--dir", dir, "status").want(t, command.ExitDone, said)
	if strings.Contains(r.err, "not running") {
		t.Error(r.err)
	}
	for _, args := range [][]string{
		{"ctl", "--dir", dir, "stop"}, {"doctor", "--dir", dir}, {"ctl", "--dir", dir, "seeds"},
		{"explain", "--dir", dir, w.roots[0]},
	} {
		call(args...).want(t, command.ExitFailed, said)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	call("ctl", "--dir", dir, "stop").want(t, command.ExitFailed, "no crawl is running there",
		"orbweaver crawl --dir "+dir)
	call("ctl", "--dir", dir, "status").want(t, command.ExitDone, "not running any more")
}

// A name that is not there is called that, by all commands, with the name that may have been meant.
func TestCommands_sayThatADirectoryIsMissing(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "museums"), 0o700); err != nil {
		t.Fatal(err)
	}
	typo := filepath.Join(dir, "museum")
	for _, args := range [][]string{
		{"ctl", "--dir", typo, "status"}, {"ctl", "--dir", typo, "stop"}, {"ctl", "--dir", typo, "seeds"},
		{"doctor", "--dir", typo}, {"ui", typo}, {"ui", "--dir", typo}, {"view", typo}, {"view", "--dir", typo},
		{"explain", "--dir", typo, "http://x/"}, {"fsck", typo}, {"fsck", "--rebuild", typo}, {"audit", "copies", typo},
		{"audit", "politeness", typo}, {"report", typo}, {"skipped", typo}, {"feed", typo}, {"upload", typo},
		{"manifest", typo}, {"wacz", typo, "-o", filepath.Join(dir, "x.wacz")},
		{"warc", "get", "--dir", typo, "http://x/"}, {"derive", "--wet", "--out", dir, typo},
		{"graph", "stats", typo}, {"botpage", "--dir", typo, "--contact", "me@site.test"},
	} {
		call(args...).want(t, command.ExitUsage, "no such ", typo+"; did you mean "+filepath.Join(dir, "museums")+"?")
	}
}
