package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"orbweaver/internal/cli/command"
)

// filesOfEachSetting writes two files for each setting that names files, and a TOML file that lists them. Names may
// have a comma.
func filesOfEachSetting(t *testing.T, dir string) (config string) {
	t.Helper()
	var text strings.Builder
	for setting, contents := range map[string][]string{
		"seeds":         {"http://www.example/\n", "http://www.example/second\n"},
		"exclude-hosts": {"one.example\n", "two.example\n"},
		"include-hosts": {".example\n", "\n127.0.0.1\n"},
		"surts":         {"+http://(example,\n", "-http://(example,www,)/private\n"},
		"host-rules":    {"www.example host-delay=9s\n", ".example max-per-host=7\n"},
		"netrc":         {"machine a.example login a password b\n", "machine b.example login a password b\n"},
		"load-cookies":  {"a.example\tFALSE\t/\tFALSE\t0\ta\tb\n", "b.example\tFALSE\t/\tFALSE\t0\ta\tb\n"},
	} {
		var names []string
		for i, content := range contents {
			name := filepath.Join(dir, fmt.Sprintf("%s,%d.txt", setting, i+1))
			writeFile(t, name, content)
			if err := os.Chmod(name, 0o600); err != nil {
				t.Fatal(err)
			}
			names = append(names, fmt.Sprintf("%q", name))
		}
		fmt.Fprintf(&text, "%s = [%s]\n", setting, strings.Join(names, ", "))
	}
	config = filepath.Join(dir, "lists.toml")
	writeFile(t, config, text.String()+"cookies = 'site'\n")
	return config
}

// Each setting that names files of rules takes several. All of them decide, and each rule has its own place.
func TestListsOfFiles(t *testing.T) {
	dir := t.TempDir()
	config := filesOfEachSetting(t, dir)
	said := call("crawl", "--dir", filepath.Join(dir, "c"), "--config", config, "--dry-run", "http://one.example/",
		"http://two.example/", "http://www.example/private/x", "http://www.example/").want(t, command.ExitDone).out
	for _, want := range []string{
		"one.example (" + dir + "/exclude-hosts,1.txt:1)", "two.example (" + dir + "/exclude-hosts,2.txt:1)",
		dir + "/surts,2.txt:1)", dir + "/surts,1.txt:1)", dir + "/host-rules,1.txt:1", dir + "/host-rules,2.txt:1",
	} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said:\n%s", want, said)
		}
	}
	writeFile(t, filepath.Join(dir, "exclude-hosts,2.txt"), "no host\n")
	writeFile(t, filepath.Join(dir, "host-rules,2.txt"), "www.example colour=red\n")
	call("crawl", "--dir", filepath.Join(dir, "c"), "--config", config, "--dry-run", "http://one.example/").want(
		t, command.ExitUsage, dir+"/exclude-hosts,2.txt:1: ", dir+"/host-rules,2.txt:1: ")
}

// A crawl keeps the lists with absolute names, reads all files again when it is told, and goes on with them. An empty
// name takes a list away.
func TestListsOfFiles_areKept(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	crawl := filepath.Join(dir, "crawl")
	first, second := filepath.Join(dir, "first,a.txt"), filepath.Join(dir, "second.txt")
	writeFile(t, first, "one.example\n")
	writeFile(t, second, "two.example\nthree.example\n")
	line := w.crawl(crawl, time.Second, "--exclude-hosts", first, "--exclude-hosts", second)
	done := make(chan result, 1)
	go func() { done <- call(line...) }()
	soon(t, "the crawl answers", func() bool {
		return call("ctl", "--dir", crawl, "set", "--reload").code == command.ExitDone
	})
	call("ctl", "--dir", crawl, "set", "--reload").want(t, command.ExitDone, "3 rules")
	call("ctl", "--dir", crawl, "set", "exclude-hosts="+second).want(t, command.ExitFailed, "the files that it was given")
	call("ctl", "--dir", crawl, "stop").want(t, command.ExitDone)
	<-done
	kept := func() string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(crawl, settingsName))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if want := fmt.Sprintf("exclude-hosts = ['%s', '%s']\n", first, second); !strings.Contains(kept(), want) {
		t.Errorf("%s is not in:\n%s", want, kept())
	}
	call("crawl", "--dir", crawl, "--max-pages", "1", "--progress", "none").want(t, command.ExitDone)
	call("crawl", "--dir", crawl, "--exclude-hosts", "", "--progress", "none").want(t, command.ExitDone)
	if strings.Contains(kept(), "exclude-hosts") {
		t.Errorf("the list was taken away:\n%s", kept())
	}
}

// A list where a setting has one value is refused, as is a list in a list. All are named at once.
func TestListsOfFiles_whereNoneFits(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "my.toml")
	writeFile(t, config, "warc-dictionary = ['a', 'b']\nproxy = ['a']\nsurts = [['a']]\nheader = [{a = 1}]\n")
	r := call("crawl", "--dir", dir, "--config", config, "http://a.example/").want(t, command.ExitUsage,
		"warc-dictionary: takes one value, not a list", "proxy: takes one value, not a list",
		"surts: takes a list of values, without lists or tables in it",
		"header: takes a list of values, without lists or tables in it")
	if strings.Contains(r.err, "many lines") {
		t.Error(r.err)
	}
}
