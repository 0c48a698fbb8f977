package main

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/cmd/orbweaver/internal/command"
)

func TestCrawlToTheEndAndAgain(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	r := call(w.crawl(dir, 0)...).want(t, command.ExitDone, "memory caps:", "total", "finished: complete")
	if r.out != "" {
		t.Errorf("stdout without --json: %s", r.out)
	}
	m := readReport(t, dir)
	for _, key := range strings.Fields(`
		state reason urls_found urls_admitted urls_fetched pages_stored revisits_stored urls_queued outcomes statuses
		bytes_received bytes_stored hosts_known hosts_cold ips_known robots_fetched robots_denied cache_hits cache_lookups
		sieve_size wall_seconds cpu_seconds rss_peak_bytes resumed`) {
		if _, ok := m[key]; !ok {
			t.Errorf("report.json lacks %s", key)
		}
	}
	balanced(t, m)
	if stored := number(t, m, "pages_stored"); stored != w.pages {
		t.Errorf("%d pages stored, the web has %d", stored, w.pages)
	}
	if number(t, m, "hosts_known") != 20 || number(t, m, "ips_known") > 8 || number(t, m, "resumed") != 0 {
		t.Errorf("hosts_known, ips_known or resumed: %v", m)
	}
	again := call("crawl", "--dir", dir, "--json").want(t, command.ExitDone).object(t)
	if again["state"] != "finished" || number(t, again, "pages_stored") != w.pages {
		t.Errorf("running it again: %v", again)
	}
	call("crawl", "--dir", dir, "--warc-compression", "zstd").want(
		t, command.ExitUsage, "--warc-compression", "writes gzip and cannot change to zstd",
	)
	call("fsck", "--quiet", dir).want(t, command.ExitDone)
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	call(append([]string{"warc", "verify"}, files...)...).want(t, command.ExitDone)
}

func TestMaxPagesIsExactAndCanBeRaised(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	for i, c := range []struct {
		args   []string
		pages  int64
		reason string
	}{
		{w.crawl(dir, 0, "--max-pages", "17", "--json"), 17, "max-pages reached"},
		{[]string{"crawl", "--dir", dir, "--json"}, 17, "max-pages reached"},
		{[]string{"crawl", "--dir", dir, "--max-pages", "30", "--json"}, 30, "max-pages reached"},
		{[]string{"crawl", "--dir", dir, "--max-pages", "0", "--json"}, w.pages, "complete"},
	} {
		m := call(c.args...).want(t, command.ExitDone).object(t)
		if got := number(t, m, "pages_stored") + number(t, m, "revisits_stored"); got != c.pages {
			t.Errorf("run %d: %d pages, want %d", i, got, c.pages)
		}
		if m["state"] != "finished" || m["reason"] != c.reason {
			t.Errorf("run %d: %v: %v", i, m["state"], m["reason"])
		}
		balanced(t, m)
	}
}

func TestSeedsFromEverywhere(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	zipped := filepath.Join(dir, "seeds.txt.gz")
	f, err := os.Create(zipped)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	if _, err := z.Write([]byte(w.roots[1] + "\n# one\n")); err != nil {
		t.Fatal(err)
	}
	if z.Close() != nil || f.Close() != nil {
		t.Fatal("cannot write", zipped)
	}
	args := append(
		small(filepath.Join(dir, "c"), w.proxy, 0), "--max-depth", "0", "--seeds", zipped, "--seeds", "-", "--json",
		w.roots[0],
	)
	m := callWith(w.roots[2]+"\nbad seed\n\n", args...).want(t, command.ExitDone, "-:2").object(t)
	if number(t, m, "urls_admitted") != 3 || number(t, m, "pages_stored") != 3 {
		t.Errorf("three seeds, depth 0: %v", m)
	}
	m = callWith("", "crawl", "--dir", filepath.Join(dir, "c"), "--json", w.roots[0], w.roots[3]).want(
		t, command.ExitDone, "it goes on",
	).object(t)
	if number(t, m, "urls_admitted") != 4 || number(t, m, "pages_stored") != 4 {
		t.Errorf("a known seed and a new one: %v", m)
	}
}

// The warning that a proxy makes the address rules advisory is all that is said.
func TestQuietCrawlSaysNothingButTheWarning(t *testing.T) {
	w := serve(t)
	r := call(w.crawl(t.TempDir(), 0, "--progress", "none")...).want(t, command.ExitDone)
	if r.out != "" || strings.Count(r.err, "\n") != 1 ||
		!strings.Contains(r.err, "level=WARN msg=\"--proxy: the address rules are advisory") {
		t.Errorf("stdout %q, stderr %q", r.out, r.err)
	}
}
