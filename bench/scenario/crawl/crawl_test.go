package crawl

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb"
)

func TestCrawl_aPlainWebIsFetchedWholeOnceAndPolitely(t *testing.T) {
	testbed.CrawlAndJudge(t, testbed.SmallWorld(*testbed.FirstSeed, simweb.Plain()), true, testbed.NoChange)
}

func TestCrawl_everyFaultAtOnceEndsInCountedOutcomes(t *testing.T) {
	for i := range testbed.WorldSeeds() {
		seed := *testbed.FirstSeed + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			testbed.CrawlAndJudge(t, testbed.SmallWorld(seed, simweb.Faulty()), true, testbed.NoChange)
		})
	}
}

// Connections that are kept change neither what is fetched nor when: the oracle sees the same delays. Without a proxy a
// connection waits for its site; with one, any site takes any connection.
func TestCrawl_keptConnectionsAreUsedAgainAndAsPolite(t *testing.T) {
	for _, proxy := range []bool{false, true} {
		t.Run(fmt.Sprintf("proxy %v", proxy), func(t *testing.T) {
			world := testbed.SmallWorld(*testbed.FirstSeed, simweb.Faulty())
			if proxy {
				world.HTTPSShare = 0
			}
			r := testbed.CrawlAndJudge(t, world, proxy, func(c *engine.Config) {
				c.Workers.KeepAlive = c.Politeness.HostDelay + 2*time.Second
			})
			if pages := r.PagesStored + r.RevisitsStored; r.ConnsReused < pages/2 || r.ConnsReused > r.Attempts+r.RobotsFetched {
				t.Errorf("%d connections used again, %d pages", r.ConnsReused, pages)
			}
		})
	}
}

// The same web under other bucket sizes, worker counts and memory must give the same set of pages: the oracle says so
// for each.
func TestCrawl_optionsChangeSpeedAndNothingElse(t *testing.T) {
	options := map[string]func(*engine.Config){
		"one fetcher":   func(c *engine.Config) { c.Workers.Fetchers, c.Workers.Parsers, c.Workers.Resolvers = 1, 1, 1 },
		"many fetchers": func(c *engine.Config) { c.Workers.Fetchers, c.Workers.Parsers = 300, 4 },
		"tiny sieve":    func(c *engine.Config) { c.Sieve.BucketBytes = 1 << 16 },
		"tiny map":      func(c *engine.Config) { c.Seen.MemoryBytes = 1 << 14 },
		"often a cut":   func(c *engine.Config) { c.Intervals.Checkpoint = time.Second },
		"small files":   func(c *engine.Config) { c.Archive.SizeMax = 1 << 16 },
		"long delays": func(c *engine.Config) {
			c.Politeness.HostDelay, c.Politeness.IPDelay = 30*time.Second,
				7*time.Second
		},
		"hardly a delay": func(c *engine.Config) {
			c.Politeness.HostDelay, c.Politeness.IPDelay = 50*time.Millisecond, 10*time.Millisecond
		},
		"no IP delay":       func(c *engine.Config) { c.Politeness.IPDelay = 0 },
		"tiny fingerprints": func(c *engine.Config) { c.Admission.CacheMemory = 1 << 16 },
	}
	for name, change := range testbed.SampleMap(options) {
		t.Run(name, func(t *testing.T) {
			testbed.CrawlAndJudge(t, testbed.SmallWorld(*testbed.FirstSeed+100, simweb.Faulty()), true, change)
		})
	}
}

func TestResume_tenOrderlyStopsLoseAndRepeatNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig, err := testbed.NewRig(testbed.SmallWorld(*testbed.FirstSeed+200, simweb.Faulty()), true)
		if err != nil {
			t.Fatal(err)
		}
		cfg := rig.Config()
		var report report.Report
		for stop := range 11 {
			ctx, cancel := context.WithTimeout(t.Context(), 13*time.Second)
			if stop == 10 {
				ctx = t.Context()
			}
			report, err = rig.Crawl(ctx, cfg, rig.FS)
			cancel()
			if err != nil {
				t.Fatalf("stop %d: %v", stop, err)
			}
			if report.Resumed != stop {
				t.Errorf("resumed %d times, not %d", report.Resumed, stop)
			}
		}
		if err := rig.Net.Close(); err != nil {
			t.Error(err)
		}
		p := testbed.Promise(cfg)
		v, err := rig.Judge(p, rig.FS)
		if err != nil {
			t.Fatal(err)
		}
		testbed.CheckConservation(t, report)
		if !v.Sound() || report.State != lifecycle.Finished {
			v.Print(t.Output())
			t.Errorf("after ten stops: %s %s %v", report.State, report.Reason, report.Outcomes)
		}
	})
}
