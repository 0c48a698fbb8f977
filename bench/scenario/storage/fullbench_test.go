//go:build scenario

package storage

import (
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/internal/simweb"
)

// A bench that holds a small part of what is queued: the rest waits on disk, and sites that are not due for long give
// back what they have in memory. It is the same crawl, and the bench keeps to its size.
func TestHostile_S11_onAFullBenchEverythingIsFetchedInOrderAndMemoryIsKept(t *testing.T) {
	for name, change := range testbed.SampleMap(map[string]func(w *simweb.Config){
		"many sites":   func(w *simweb.Config) { w.Hosts, w.IPs, w.PagesPerHostMean = 250, 200, 10 },
		"slow sites":   func(w *simweb.Config) { w.Robots.CrawlDelay, w.Timing.CrawlDelay = 0.5, 3*time.Minute },
		"broken sites": func(w *simweb.Config) { w.Faults.Unavailable, w.Timing.RetryAfter = 0.2, 4*time.Minute },
	}) {
		fetchers := 32
		if name == "many sites" {
			fetchers = 2 // need a small front: what they do not need stays on disk
		}
		t.Run(name, func(t *testing.T) { crawlOnAFullBench(t, name, fetchers, change) })
	}
}

func crawlOnAFullBench(t *testing.T, name string, fetchers int, change func(w *simweb.Config)) {
	const limit = 16 << 10
	synctest.Test(t, func(t *testing.T) {
		world := testbed.SmallWorld(*testbed.FirstSeed+600, simweb.Plain())
		world.Hosts, world.IPs, world.PagesPerHostMean, world.PagesPerHostMax = 60, 40, 40, 100
		change(&world)
		rig := testbed.MustRig(t, world, true)
		cfg := rig.Config()
		cfg.Workbench.MemoryMax, cfg.Limits.StallWait = limit, time.Hour
		cfg.Workers.Fetchers = fetchers
		e, err := engine.Open(cfg, rig.Seams(rig.FS))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- e.Run(t.Context()) }()
		full, most := 0, int64(0)
		for running := true; running; {
			select {
			case err = <-done:
				running = false
			case <-time.After(time.Second):
				r := e.Report()
				if most = max(most, r.BenchBytes); r.BenchBytes >= limit {
					full++
				}
			}
		}
		report := e.Report()
		if cerr := e.Close(); err != nil || cerr != nil {
			t.Fatal(err, cerr)
		}
		if err := rig.Net.Close(); err != nil {
			t.Error(err)
		}
		testbed.CheckConservation(t, report)
		testbed.JudgeSound(t, rig, cfg, testbed.Promise(cfg))
		t.Logf("%s: the bench weighed %d bytes at most, was full in %d looks, %d items were spilled", name, most, full,
			report.Spilled)
		if full == 0 || most > limit+24<<10 { // one batch of ready URLs more
			t.Errorf("the bench weighed %d bytes at most and was full in %d looks; its limit is %d", most, full, limit)
		}
		if name != "many sites" && report.Spilled == 0 {
			t.Error("nobody gave memory back")
		}
	})
}
