//go:build unix

package main

import (
	"runtime/debug"
	"testing"

	"orbweaver/engine"
	"orbweaver/engine/admission"
	"orbweaver/internal/invariants"
	"orbweaver/sieve"
	"orbweaver/workbench"
)

// The sum of the caps is what the collector is told to stay under, and what a crawl stays under in fact.
func TestHostile_S11_theCapsAreToldToTheCollectorAndKept(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	cfg := engine.Config{Workers: engine.Workers{Fetchers: 16}, Workbench: workbench.Options{MemoryMax: 4 << 20}, Admission: admission.Options{CacheMemory: 1 << 20}, Sieve: sieve.Options{BucketBytes: 1 << 20}}.WithDefaults()
	cfg.Fetch = cfg.Fetch.WithDefaults()
	var sum int64
	for _, p := range memoryParts(cfg) {
		if p.bytes <= 0 {
			t.Errorf("%s: %d bytes", p.name, p.bytes)
		}
		sum += p.bytes
	}
	setMemoryLimit(cfg, 0, 0)
	if got := debug.SetMemoryLimit(-1); got != sum {
		t.Errorf("the limit is %d, the caps are %d", got, sum)
	}
	w, dir := serve(t), t.TempDir()
	cmd, errs := child(t, w.crawl(dir, 0)...)
	if err := cmd.Wait(); err != nil {
		t.Fatal(err, errs)
	}
	if peak := number(t, readReport(t, dir), "rss_peak_bytes"); !invariants.Race && (peak == 0 || peak > sum) {
		t.Errorf("at most %d bytes were resident, the caps are %d", peak, sum)
	}
}
