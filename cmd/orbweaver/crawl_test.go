package main

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"orbweaver/internal/cli/command"
)

func TestCrawlToTheEndAndAgain(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	r := call(w.crawl(dir, 0)...).want(t, command.ExitDone,
		"crawling into "+dir+": scope ", "memory limit ", "run it again to resume", "finished: complete",
		"  result    "+dir+"/warc has the archive")
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
		t, command.ExitDone, "resuming the crawl of this directory", "new_seeds=1 known_seeds=1",
	).object(t)
	if number(t, m, "urls_admitted") != 4 || number(t, m, "pages_stored") != 4 {
		t.Errorf("a known seed and a new one: %v", m)
	}
}

// The warning that a proxy makes the address rules advisory is all that is said.
func TestQuietCrawlSaysNothingButTheWarning(t *testing.T) {
	w := serve(t)
	r := call(w.crawl(t.TempDir(), 0, "--quiet")...).want(t, command.ExitDone)
	var said []string
	for line := range strings.Lines(r.err) {
		if !strings.Contains(line, "the disk is slow") { // as it is on a machine with much to do
			said = append(said, line)
		}
	}
	if r.out != "" || len(said) != 1 ||
		!strings.Contains(said[0], "level=WARN msg=\"--proxy: the address rules are advisory") {
		t.Errorf("stdout %q, stderr %q", r.out, r.err)
	}
}

// Without a progress line the summary at the end stays.
func TestCrawl_withoutProgressStillSumsUp(t *testing.T) {
	w := serve(t)
	r := call(w.crawl(t.TempDir(), 0, "--progress", "none")...).want(t, command.ExitDone, "finished: complete", "pages ")
	if strings.Contains(r.err, "memory limit") {
		t.Errorf("stderr %q", r.err)
	}
}

// Log lines are JSON objects if that is asked for, and only those of the level.
func TestCrawl_logsInTheFormatAndLevelThatAreAskedFor(t *testing.T) {
	w := serve(t)
	r := call(w.crawl(t.TempDir(), 0, "--progress", "none", "--log-format", "json")...).want(t, command.ExitDone)
	first, _, _ := strings.Cut(r.err, "\n")
	var line struct{ Time, Level, Msg string }
	if err := json.Unmarshal([]byte(first), &line); err != nil || line.Level != "WARN" ||
		!strings.HasPrefix(line.Msg, "--proxy: ") {
		t.Errorf("%q: %v", first, err)
	}
	r = call(w.crawl(t.TempDir(), 0, "--log-level", "error")...).want(t, command.ExitDone, "finished: complete")
	if strings.Contains(r.err, "level=") {
		t.Errorf("stderr %q", r.err)
	}
	call(w.crawl(t.TempDir(), 0, "--log-level", "loud")...).want(t, command.ExitUsage, `--log-level: "loud" is none of`)
}

// A second crawl in the directory of another says what it resumes, and that a limit leaves no room for new seeds.
func TestCrawl_saysWhatItResumes(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	call(w.crawl(dir, 0, "--max-pages", "3")...).want(t, command.ExitDone, "max-pages reached")
	call(append(small(dir, w.proxy, 0), "http://other.test/")...).want(
		t, command.ExitDone, "resuming the crawl of this directory", "first_seed="+w.roots[0], "new_seeds=1 known_seeds=0",
		"has reached --max-pages", "max-pages reached",
	)
}

// A directory that holds something else is refused, and a control port that cannot be opened leaves no directory.
func TestCrawl_refusesWhatWouldLeaveAMess(t *testing.T) {
	w, dir := serve(t), t.TempDir()
	thesis := filepath.Join(dir, "work", "thesis.txt")
	if err := os.Mkdir(filepath.Dir(thesis), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, thesis, "precious")
	call(w.crawl(filepath.Dir(thesis), 0)...).want(t, command.ExitUsage, `holds "thesis.txt" and no crawl`)
	for listen, status := range map[string]int{
		"nowhere.invalid:80": command.ExitFailed, "127.0.0.1:http-but-wrong": command.ExitUsage,
		"192.0.2.1:9": command.ExitFailed, "unix:/none/x": command.ExitFailed,
	} {
		crawl := filepath.Join(dir, "new")
		call(w.crawl(crawl, 0, "--listen", listen)...).want(t, status, "--listen")
		if _, err := os.Stat(crawl); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s left a directory: %v", listen, err)
		}
	}
}

// A misspelt variable or key is refused with the name that was meant, and a single address is a range.
func TestUsage_saysWhatWasMeant(t *testing.T) {
	dir := t.TempDir()
	config := filepath.Join(dir, "my.toml")
	writeFile(t, config, "hsot-delay = '4s'\n")
	t.Setenv("ORBWEAVER_CONTCT", "me@site.test")
	t.Setenv("ORBWEAVER_SERVICE_HOST", "10.0.0.1") // as a container platform sets it
	call("crawl", "--dir", filepath.Join(dir, "c"), "--config", config, "--allow-net", "127.0.0.1,10.0.0.0/8x",
		"--contact", "nonsense", "http://127.0.0.1/").want(
		t, command.ExitUsage, "ORBWEAVER_CONTCT: no flag has this variable; did you mean ORBWEAVER_CONTACT?",
		"unknown key: hsot-delay", "did you mean host-delay?", `"10.0.0.0/8x" is neither an address nor a range`,
		`--contact: "nonsense" is neither a URL`, "the variable ORBWEAVER_SERVICE_HOST is ignored",
	)
}
