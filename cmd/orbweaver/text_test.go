package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/internal/cli/command"
)

func TestURLNormalize(t *testing.T) {
	in := "HTTP://Example.COM:80/a/../b#c\n../x?y\thttp://user:pass@example.org/dir/page\nnonsense\n\n" +
		"ftp://example.org/\nx\tnonsense\n"
	r := callWith(in, "url", "normalize").want(t, command.ExitDone)
	lines := strings.Split(strings.TrimSuffix(r.out, "\n"), "\n")
	want := []string{"http://example.com/b", "http://example.org/x?y", "! ", "! ", "! ", "! "}
	if len(lines) != len(want) {
		t.Fatalf("%d lines for %d:\n%s", len(lines), len(want), r.out)
	}
	for i, w := range want {
		if w == "! " && (!strings.HasPrefix(lines[i], w) || len(lines[i]) < 5) || w != "! " && lines[i] != w {
			t.Errorf("line %d is %q, want %q", i+1, lines[i], w)
		}
	}
	r = callWith(strings.Repeat("x", 2<<20)+"\rhttp://a.test", "url", "normalize").want(t, command.ExitDone)
	if !strings.HasPrefix(r.out, "! ") || !strings.HasSuffix(r.out, "\nhttp://a.test/\n") {
		t.Errorf("a long line: %.200s", r.out)
	}
}

func TestRobotsTest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "robots.txt")
	writeFile(
		t, file, "User-agent: *\nDisallow: /all\n\nUser-agent: orbweaver\nDisallow: /private\nAllow: /private/open\n",
	)
	in := "https://example.org/private/x\nhttps://example.org/private/open/\nhttps://example.org/all\nnonsense\n"
	r := callWith(in, "robots", "test", "--robots", file).want(t, command.ExitDone)
	want := "disallow\tline 5: Disallow: /private\nallow\tline 6: Allow: /private/open\nallow\tno rule matches\n! "
	if !strings.HasPrefix(r.out, want) {
		t.Errorf("got:\n%swant:\n%s", r.out, want)
	}
	r = callWith("https://example.org/all/x", "robots", "test", "--agent", "otherbot", "--robots", file).want(
		t, command.ExitDone,
	)
	if !strings.HasPrefix(r.out, "disallow\tline 2") {
		t.Errorf("another agent: %s", r.out)
	}
	call("robots", "test", "--robots", file+"x").want(t, command.ExitFailed, "--robots", "no such file")
}

func TestLinks(t *testing.T) {
	file := filepath.Join(t.TempDir(), "page.html")
	writeFile(
		t,
		file,
		`<base href="/base/"><a href="a?x=1&amp;y=2">A</a> <a rel="nofollow" href="//other.example/">B</a> `+
			`<img src="i.png"><a href="mailto:x@y">C</a>`,
	)
	args := []string{"links", "--base", "https://example.org/dir/page", file}
	r := call(args...).want(t, command.ExitDone)
	if r.out != "https://example.org/base/a?x=1&y=2\nhttps://other.example/\nhttps://example.org/base/i.png\n" {
		t.Errorf("%s\n%s", r.out, r.err)
	}
	r = call(append(args, "--json")...).want(t, command.ExitDone)
	found := 0
	for line := range strings.Lines(r.out) {
		var l struct {
			URL      string `json:"url"`
			Kind     string `json:"kind"`
			NoFollow bool   `json:"nofollow"`
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil || l.URL == "" || l.Kind == "" {
			t.Errorf("%s: %v", line, err)
		}
		if l.NoFollow != (l.URL == "https://other.example/") {
			t.Errorf("nofollow of %s", line)
		}
		found++
	}
	if found != 3 {
		t.Errorf("%d objects", found)
	}
	call("links", "--base", "https://example.org/", file+"x").want(t, command.ExitFailed, "no such file")
}

// The links of a PDF document are printed, too. Of an encrypted one, the command says why there are none.
func TestLinks_ofPDF(t *testing.T) {
	file := filepath.Join(t.TempDir(), "report.pdf")
	args := []string{"links", "--kinds", "--base", "https://example.org/dir/", "--content-type", "application/pdf", file}
	const object = "%PDF-1.4\n1 0 obj<</S/URI/URI(a)>>endobj\ntrailer"
	writeFile(t, file, object+"<<>>")
	r := call(args...).want(t, command.ExitDone)
	if r.out != "pdf         https://example.org/dir/a\n" || r.err != "" {
		t.Errorf("%s\n%s", r.out, r.err)
	}
	writeFile(t, file, object+"<</Encrypt 2 0 R>>")
	if r = call(args...).want(t, command.ExitDone, "it is encrypted"); r.out != "" {
		t.Errorf("%s\n%s", r.out, r.err)
	}
}

func TestWarcTools(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	call(w.crawl(dir, 0, "--max-pages", "20", "--warc-size", "64Ki")...).want(t, command.ExitDone)
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if err != nil || len(files) < 1 {
		t.Fatal(files, err)
	}
	objects := func(r result) (all []map[string]any) {
		t.Helper()
		in := json.NewDecoder(strings.NewReader(r.want(t, command.ExitDone).out))
		for in.More() {
			var m map[string]any
			if err := in.Decode(&m); err != nil {
				t.Fatalf("%v:\n%s", err, r.out)
			}
			all = append(all, m)
		}
		return all
	}
	with := func(args ...string) []string { return append(append([]string{"warc"}, args...), files...) }
	if records := objects(call(with("ls", "--json")...)); len(records) < 60 {
		t.Errorf("%d records in %v", len(records), records)
	}
	if plain := call(with("ls")...).want(t, command.ExitDone); strings.Count(plain.out, "\n") < 60 {
		t.Errorf("ls:\n%s", plain.out)
	}
	if reports := objects(call(with("verify", "--json")...)); len(reports) == 0 {
		t.Error("verify --json prints nothing")
	}
	index := call(with("index")...).want(t, command.ExitDone)
	if n := strings.Count(index.out, "\n"); n < 20 {
		t.Errorf("index of %d lines:\n%s", n, index.out)
	}
	head := call("warc", "cat", "--offset", "0", files[0]).want(t, command.ExitDone)
	if !strings.HasPrefix(head.out, "WARC/1.1\r\n") || !strings.Contains(head.out, "WARC-Type: warcinfo") {
		t.Errorf("the first record: %q", head.out)
	}
	call("warc", "cat", "--uri", "http://nowhere.test/", files[0]).want(
		t, command.ExitFailed, "'orbweaver warc ls' shows what is there",
	)
	call("warc", "verify", files[0]+"x").want(t, command.ExitFailed)
	broken := filepath.Join(t.TempDir(), "broken.warc.gz")
	writeFile(t, broken, "this is no archive")
	call("warc", "verify", broken).want(t, command.ExitFailed)
}

// An archive makes the dictionary for the next crawl, which is stopped, goes on, and is whole.
func TestWarcDictionary(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	first, second, words := filepath.Join(dir, "first"), filepath.Join(dir, "second"), filepath.Join(dir, "words")
	call(w.crawl(first, 0, "--warc-outlinks", "--warc-via", "--warc-metadata", "all")...).want(t, command.ExitDone)
	files, err := filepath.Glob(filepath.Join(first, "warc", "*.warc.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	meta := call("warc", "cat", "--type", "metadata", files[0]).want(t, command.ExitDone)
	for _, field := range []string{"via: http", "outlink: http", "fetchTimeMs: ", "seed: \r\n"} {
		if !strings.Contains(meta.out, "\r\n"+field) {
			t.Errorf("no %q in the metadata", field)
		}
	}
	call(append([]string{"warc", "train", "--out", words, "--size", "8Ki"}, files...)...).want(t, command.ExitDone)
	zstd := []string{"--warc-compression", "zstd", "--warc-dictionary", words}
	call(w.crawl(second, 0, append(zstd, "--max-pages", "10")...)...).want(t, command.ExitDone)
	call(w.crawl(second, 0, append(zstd, "--max-pages", "30")...)...).want(t, command.ExitDone)
	call("fsck", second).want(t, command.ExitDone)
	packed, err := filepath.Glob(filepath.Join(second, "warc", "*.warc.zst"))
	if err != nil || len(packed) == 0 {
		t.Fatal(packed, err)
	}
	if v := call(append([]string{"warc", "verify"}, packed...)...).want(t, command.ExitDone); !strings.Contains(
		v.out,
		"no errors",
	) {
		t.Errorf("verify: %s", v.out)
	}
	list := call("warc", "ls", packed[0]).want(t, command.ExitDone)
	row := strings.Fields(strings.Split(list.out, "\n")[3])
	one := call("warc", "cat", "--offset", row[0], packed[0]).want(t, command.ExitDone)
	if !strings.HasPrefix(one.out, "WARC/1.1\r\n") {
		t.Errorf("the record at %s: %.100q", row[0], one.out)
	}
}
