package crawl

import (
	"runtime/debug"
	"testing"

	"orbweaver/engine"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/workers/fetchers"
	"orbweaver/sieve"
	"orbweaver/workbench"
)

// The sum of the caps is the limit of the garbage collector.
func TestHostile_S11_theCapsAreToldToTheCollector(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	cfg := engine.Config{
		Workers: fetchers.Counts{Fetchers: 16}, Workbench: workbench.Options{MemoryMax: 4 << 20},
		Admission: admission.Options{CacheMemory: 1 << 20}, Sieve: sieve.Options{BucketBytes: 1 << 20},
	}.WithDefaults()
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
}
