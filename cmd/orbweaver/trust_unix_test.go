//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/internal/cli/command"
)

// A crawl directory whose settings run a command is resumed, and sent by upload, without a flag by the account that
// wrote them. The same directory of another account, and one whose settings were changed, run nothing: the error has
// each setting that reaches beyond the directory.
func TestTrust_aForeignDirectoryRunsNoCommand(t *testing.T) {
	w := serve(t)
	dir, ran := filepath.Join(t.TempDir(), "crawl"), filepath.Join(t.TempDir(), "ran")
	call(w.crawl(dir, 0, "--max-pages", "5", "--on-warc-close", "false", "--upload-wait", "1s")...).
		want(t, command.ExitUnsent)
	resume := []string{"crawl", "--dir", dir, "--upload-wait", "1s", "--max-pages", "9"}
	call(resume...).want(t, command.ExitUnsent)
	file := filepath.Join(dir, "crawl.toml")
	own := readText(t, file)
	if !strings.Contains(own, "\n# mark: ") {
		t.Fatalf("crawl.toml has no mark:\n%s", own)
	}

	hostile := strings.Replace(own, "on-warc-close = 'false'", "on-warc-close = 'touch "+ran+"'", 1) +
		"trust-dir = true\n"
	writeFile(t, file, hostile)
	commands := [][]string{
		resume, {"upload", dir}, {"fsck", "--rebuild", dir}, {"fsck", "--remote", dir},
		{"crawl", "--dir", dir, "--dry-run", "http://a.test/"},
	}
	for _, args := range commands {
		call(args...).want(t, command.ExitUsage, "this account did not write", "on-warc-close = touch "+ran, "--trust-dir")
	}
	call("explain", "--dir", dir, "http://a.test/").want(t, command.ExitDone)
	if _, err := os.Stat(ran); err == nil {
		t.Fatal("the command ran")
	}

	writeFile(t, file, own)
	call(append(resume, "--max-pages", "12")...).want(t, command.ExitUnsent)
	own = readText(t, file)
	home := os.Getenv("XDG_CONFIG_HOME")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // another account
	call("upload", dir).want(t, command.ExitUsage, "this account did not write", "on-warc-close = false", "proxy = ")
	writeFile(t, file, hostile)
	call("upload", "--trust-dir", dir).want(t, command.ExitDone)
	if _, err := os.Stat(ran); err != nil {
		t.Error("the command did not run, though the directory is trusted")
	}
	call(append(resume, "--trust-dir")...).want(t, command.ExitDone)
	call(resume...).want(t, command.ExitDone) // it has the mark of this account now
	if now := readText(t, file); strings.Contains(now, "trust-dir") {
		t.Errorf("crawl.toml trusts itself:\n%s", now)
	}
	t.Setenv("XDG_CONFIG_HOME", home)
	call(resume...).want(t, command.ExitUsage, "this account did not write")
	writeFile(t, file, own)
	call("fsck", "--rebuild", dir).want(t, command.ExitDone)
}

// A setting that stands on the command line is not that of the directory.
func TestTrust_flagsNeedNone(t *testing.T) {
	w := serve(t)
	dir := filepath.Join(t.TempDir(), "crawl")
	call(w.crawl(dir, 0, "--max-pages", "3")...).want(t, command.ExitDone)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	call("crawl", "--dir", dir).want(t, command.ExitUsage, "proxy = "+w.proxy, "resolver = hashed:8")
	t.Setenv("ORBWEAVER_RESOLVER", "hashed:8")
	call("crawl", "--dir", dir, "--proxy", w.proxy).want(t, command.ExitDone)
}

// What links out of a foreign directory is not written to. An archive may be put elsewhere by a link before the crawl.
func TestTrust_linksOfAForeignDirectoryLeadNowhere(t *testing.T) {
	w := serve(t)
	dir, other := filepath.Join(t.TempDir(), "crawl"), t.TempDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, filepath.Join(dir, "warc")); err != nil {
		t.Fatal(err)
	}
	args := w.crawl(dir, 0, "--max-pages", "3")
	call(args...).want(t, command.ExitDone)
	call("crawl", "--dir", dir).want(t, command.ExitDone)

	victim, log := filepath.Join(t.TempDir(), "profile"), filepath.Join(dir, "logs", "crawl.log")
	writeFile(t, victim, "mine\n")
	for _, target := range []string{victim, "../warc/../profile"} {
		if err := os.Remove(log); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, log); err != nil {
			t.Fatal(err)
		}
		call(args...).want(t, command.ExitUsage, "logs/crawl.log -> "+target, "warc -> "+other)
	}
	if err := os.Remove(filepath.Join(dir, "crawl.toml")); err != nil {
		t.Fatal(err)
	}
	call(args...).want(t, command.ExitUsage, "logs/crawl.log -> ", "there is no crawl.toml")
	if got := readText(t, victim); got != "mine\n" {
		t.Errorf("the file elsewhere has %q", got)
	}
}
