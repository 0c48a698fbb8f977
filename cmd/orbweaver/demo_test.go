package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"orbweaver/engine/filter"
	"orbweaver/engine/report"
)

func TestDemoRemovesNothingOfOthers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"thesis.txt", effectiveName} {
		file := filepath.Join(dir, name)
		write(t, file, "")
		write(t, filepath.Join(dir, "report.json"), "{}")
		for _, command := range [][]string{{"demo", "--small"}, {"bench", "vitro"}, {"bench", "soak"}, {"bench", "frontier"}} {
			call(append(command, "--dir", dir)...).want(t, exitUsage, "--dir", "give another directory")
		}
		t.Setenv("ORBWEAVER_DIR", dir)
		call("demo", "--small").want(t, exitUsage, "--dir", "give another directory")
		if err := os.Remove(file); err != nil {
			t.Error("gone already:", err)
		}
	}
}

type still struct{ pages int64 }

func (s still) Report() report.Report {
	return report.Report{PagesStored: s.pages, HostsKnown: 3, URLsQueued: 7, WallSeconds: 61, Waiting: "politeness"}
}

func TestProgressLines(t *testing.T) {
	out := new(buffer)
	p := startProgress(t.Context(), out, false, "auto", still{})
	p.crawl, p.lastAt = still{pages: 20}, time.Now().Add(-10*time.Second)
	p.print()
	p.Close()
	if want := "1m1s  20 pages  2 pages/s  0.0 MB/s  3 hosts  7 queued  0 fetching | politeness\n"; out.String() != want {
		t.Errorf("got %q, want %q", out, want)
	}
	p = startProgress(t.Context(), out, false, "none", still{})
	p.Close()
}

func TestIsTerminal(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if isTerminal(file) || isTerminal(new(buffer)) {
		t.Error("a file or a buffer is taken for a terminal")
	}
}

func TestRules(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules.txt")
	write(t, file, "# away\nexample.org\n.example.com # and below\n10.0.0.0/8\n\n")
	rules, list, err := readList(file, filter.CompileHosts)
	if err != nil || list.Len() != 3 || rules.Texts[1] != ".example.com" || rules.Where(1) != file+":3" {
		t.Errorf("%v, %v", rules, err)
	}
	write(t, file, "good.example\nnot a host\n10.0.0.0/99\n")
	if _, _, err = readList(file, filter.CompileHosts); err == nil {
		t.Fatal("two bad rules are taken")
	}
	call("crawl", "--dir", t.TempDir(), "--exclude-hosts", file, "http://a.test/").want(t, exitUsage, "rules.txt:2:", "rules.txt:3:")
}

// TestBenchVitro runs a small one: what a page costs in the crawl and in the bare loop is there, and its parts add up
// to it.
func TestBenchVitro(t *testing.T) {
	if testing.Short() {
		t.Skip("takes five seconds") // -short is for the seconds between two edits; the long test runs in CI
	}
	t.Setenv(asProgram, "1")
	dir := t.TempDir()
	m := call("bench", "vitro", "--hosts", "200", "--ips", "200", "--per-host", "20", "--host-delay", "20ms", "--ip-delay", "5ms", "--fetchers", "32",
		"--bare-pages", "1000", "--dir", filepath.Join(dir, "vitro"), "--profile", filepath.Join(dir, "profiles"), "--progress", "none", "--json").
		want(t, exitDone).object(t)
	loop, crawl := m["loop_cpu_us_per_page"].(float64), m["cpu_us_per_page"].(float64)
	where, ok := m["where"].([]any)
	if !ok || loop <= 0 || crawl <= 0 {
		t.Fatalf("a page takes %v microseconds in the loop and %v in the crawl, here: %v", loop, crawl, m["where"])
	}
	loopParts, crawlParts := 0.0, 0.0
	for _, w := range where {
		part := w.(map[string]any)
		loopParts += part["loop_us_per_page"].(float64)
		crawlParts += part["crawl_us_per_page"].(float64)
	}
	if math.Abs(loopParts-loop) > 0.01*loop || math.Abs(crawlParts-crawl) > 0.01*crawl {
		t.Errorf("the parts are %v and %v in all, a page takes %v and %v", loopParts, crawlParts, loop, crawl)
	}
	loops := map[string]float64{}
	for _, l := range m["loops"].([]any) {
		loops[l.(map[string]any)["loop"].(string)] = l.(map[string]any)["us_per_page"].(float64)
	}
	if both := loops["fetch"] + loops["parse"]; both < crawl/4 || both > crawl {
		t.Errorf("fetch and parse take %v of %v: %v", both, crawl, loops)
	}
	for _, name := range []string{"loop.pprof", "crawl.pprof"} {
		if info, err := os.Stat(filepath.Join(dir, "profiles", name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
