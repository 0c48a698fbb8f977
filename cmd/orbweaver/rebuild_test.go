package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/internal/cli/command"
)

// A crawl that lost its frontier is rebuilt from the command line and goes on to the last page.
func TestFsckRebuild(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	call(w.crawl(dir, 0, "--max-pages", "20")...).want(t, command.ExitDone)
	sound := call("fsck", "--rebuild", "--quiet", dir).want(t, command.ExitDone)
	if !strings.HasSuffix(sound.out, "\nsound\n") || strings.Contains(sound.out, "rebuilt") {
		t.Errorf("a sound crawl: %s", sound.out)
	}
	if r := call("fsck", dir).want(t, command.ExitDone); r.err != "" {
		t.Errorf("progress is for a terminal alone: %s", r.err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "frontier")); err != nil {
		t.Fatal(err)
	}
	call("fsck", "--quiet", dir).want(t, command.ExitUsage, "has no directory frontier", "fsck --rebuild")
	call("crawl", "--dir", dir, w.roots[0]).want(t, command.ExitFailed, "no frontier", "fsck --rebuild")
	other := filepath.Join(t.TempDir(), "other.toml")
	writeFile(t, other, "normal-form = 'sorted'\n")
	call("fsck", "--rebuild", "--config", other, dir).want(t, command.ExitUsage,
		"knows URLs in the form whatwg and cannot change to sorted; give --normal-form whatwg")
	r := call("fsck", "--rebuild", dir, w.roots[0], w.roots[1]).want(t, command.ExitDone)
	for _, word := range []string{
		"rebuilt from 1 archive files", "20 pages", "2 seeds are kept", "note: ", "stopped, checkpoint", "\nsound\n",
	} {
		if !strings.Contains(r.out, word) {
			t.Errorf("stdout lacks %q:\n%s", word, r.out)
		}
	}
	call("crawl", "--dir", dir, "--max-pages", "0").want(t, command.ExitDone, "finished: complete")
	if m := readReport(t, dir); number(t, m, "pages_stored") != w.pages {
		t.Errorf("%d pages stored, the web has %d", number(t, m, "pages_stored"), w.pages)
	}

	manifest := filepath.Join(dir, "frontier", "MANIFEST")
	b, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 0x41
	writeFile(t, manifest, string(b))
	call("fsck", "--quiet", dir).want(t, command.ExitFailed, "is not sound")
	m := call("fsck", "--rebuild", "--json", "--quiet", dir).want(t, command.ExitDone).object(t)
	rebuilt, ok := m["rebuilt"].(map[string]any)
	if !ok || number(t, rebuilt, "pages") != w.pages || rebuilt["aside"] != "frontier.broken-1" {
		t.Errorf("%v", m)
	}
	if after, ok := m["after"].(map[string]any); !ok || number(t, after, "errors") != 0 {
		t.Errorf("%v", m["after"])
	}
	if kept, err := os.ReadFile(filepath.Join(dir, "frontier.broken-1", "MANIFEST")); err != nil ||
		string(kept) != string(b) {
		t.Errorf("the old manifest was not kept: %v", err)
	}
	call("crawl", "--dir", dir).want(t, command.ExitDone, "finished: complete")
	if m := readReport(t, dir); number(t, m, "pages_stored") != w.pages {
		t.Errorf("%d pages stored at last, the web has %d", number(t, m, "pages_stored"), w.pages)
	}
	call("fsck", "--quiet", dir).want(t, command.ExitDone)
}

// Where only an index is wrong, only that is written: the frontier knows more than the archive does.
func TestFsckRebuildWritesIndexes(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	call(w.crawl(dir, 0)...).want(t, command.ExitDone)
	names, err := filepath.Glob(filepath.Join(dir, "warc", "*.cdxj"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	want, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(names[0]); err != nil {
		t.Fatal(err)
	}
	call("fsck", "--quiet", dir).want(t, command.ExitFailed)
	r := call("fsck", "--rebuild", "--quiet", dir).want(t, command.ExitDone)
	if !strings.Contains(r.out, "written: warc/") || strings.Contains(r.out, "rebuilt") {
		t.Errorf("%s", r.out)
	}
	if got, err := os.ReadFile(names[0]); err != nil || string(got) != string(want) {
		t.Errorf("another index: %v", err)
	}
}

func TestFsckRebuildWantsSettingsAndAnArchive(t *testing.T) {
	dir := t.TempDir()
	call("fsck", "--rebuild", dir).want(t, command.ExitUsage, "no crawl.toml", "--config")
	writeFile(t, filepath.Join(dir, "crawl.toml"), "contact = 'https://example.org/'\nresolver = ['127.0.0.1:5353']\n")
	call("fsck", "--rebuild", "--trust-dir", dir).want(t, command.ExitUsage, "no archive to rebuild from")
	call("fsck", dir, "http://example.org/").want(t, command.ExitUsage, "unexpected argument http://example.org/")
}
