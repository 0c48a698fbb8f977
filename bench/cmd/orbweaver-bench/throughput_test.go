package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"orbweaver/internal/cli/command"
)

// TestThroughput runs a small one: what a page costs in the crawl and in the bare loop is there, and its parts add up
// to it.
func TestThroughput(t *testing.T) {
	if testing.Short() {
		t.Skip("takes five seconds") // -short is for the seconds between two edits; it runs in CI
	}
	dir := t.TempDir()
	m := call(
		"throughput", "--hosts", "200", "--ips", "200", "--per-host", "20", "--host-delay", "20ms", "--ip-delay", "5ms",
		"--fetchers", "32", "--bare-pages", "1000", "--dir", filepath.Join(dir, "throughput"),
		"--profile", filepath.Join(dir, "profiles"), "--progress", "none", "--json",
	).want(t, command.ExitDone).object(t)
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
		loops[l.(map[string]any)["name"].(string)] = l.(map[string]any)["us_per_page"].(float64)
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
