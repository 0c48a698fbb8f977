package invitro

import (
	"context"
	"flag"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/simweb"
	"orbweaver/engine"
)

var (
	firstSeed = flag.Uint64("seed", 1, "first seed of the worlds")
	seedCount = flag.Int("worlds", 6, "how many seeds")
)

func smallWorld(seed uint64, c simweb.Config) simweb.Config {
	c.Seed, c.Hosts, c.IPs, c.PagesPerHostMean, c.PagesPerHostMax, c.PageBytesMean = seed, 24, 7, 8, 30, 2000
	return c
}

func promise(cfg engine.Config) simweb.Promise {
	return simweb.Promise{HostDelay: cfg.Politeness.HostDelay, IPDelay: cfg.Politeness.IPDelay, Contact: "https://example.org/bot"}
}

// crawlAndJudge runs one whole crawl, fails the test if the oracle finds anything at all, and gives the crawl's report.
func crawlAndJudge(t *testing.T, world simweb.Config, proxy bool, change func(*engine.Config)) (report engine.Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		rig, err := NewRig(world, proxy)
		if err != nil {
			t.Fatal(err)
		}
		cfg := rig.Config()
		change(&cfg)
		start := time.Now()
		report, err = rig.Crawl(t.Context(), cfg, rig.FS)
		if cerr := rig.Net.Close(); cerr != nil {
			t.Error(cerr)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("virtual time %v, %d pages, %s: %s", time.Since(start), report.PagesStored, report.State, report.Reason)
		v, err := rig.Judge(promise(cfg), rig.FS)
		if err != nil {
			t.Fatal(err)
		}
		checkBalance(t, report)
		if !v.Sound() {
			v.Print(t.Output())
			t.Errorf("the oracle complains; outcomes %v", report.Outcomes)
		}
	})
	return report
}

// checkBalance holds the report against E1 at rest.
func checkBalance(t *testing.T, r engine.Report) {
	t.Helper()
	var outcomes int64
	for _, n := range r.Outcomes {
		outcomes += n
	}
	if r.URLsAdmitted != outcomes+r.URLsQueued+r.URLsInFlight || r.URLsInFlight != 0 {
		t.Errorf("E1: admitted %d, outcomes %d, queued %d, in flight %d", r.URLsAdmitted, outcomes, r.URLsQueued, r.URLsInFlight)
	}
	if r.ParseFaults > 0 {
		t.Errorf("%d pages panicked the parser", r.ParseFaults)
	}
}

func unchanged(*engine.Config) {}

func TestCrawl_aPlainWebIsFetchedWholeOnceAndPolitely(t *testing.T) {
	crawlAndJudge(t, smallWorld(*firstSeed, simweb.Plain()), true, unchanged)
}

func TestCrawl_everyFaultAtOnceEndsInCountedOutcomes(t *testing.T) {
	for i := range worlds() {
		seed := *firstSeed + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			crawlAndJudge(t, smallWorld(seed, simweb.Faulty()), true, unchanged)
		})
	}
}

// Connections that are kept change neither what is fetched nor when: the oracle sees the same delays. Without a proxy a connection
// waits for its site; with one, any site takes any connection.
func TestCrawl_keptConnectionsAreUsedAgainAndAsPolite(t *testing.T) {
	for _, proxy := range []bool{false, true} {
		t.Run(fmt.Sprintf("proxy %v", proxy), func(t *testing.T) {
			world := smallWorld(*firstSeed, simweb.Faulty())
			if proxy {
				world.HTTPSShare = 0
			}
			r := crawlAndJudge(t, world, proxy, func(c *engine.Config) {
				c.KeepAlive = c.Politeness.HostDelay + 2*time.Second
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
		"one fetcher":   func(c *engine.Config) { c.Fetchers, c.Parsers, c.Resolves = 1, 1, 1 },
		"many fetchers": func(c *engine.Config) { c.Fetchers, c.Parsers = 300, 4 },
		"tiny sieve":    func(c *engine.Config) { c.SieveMemory = 1 << 16 },
		"tiny map":      func(c *engine.Config) { c.SeenMemory = 1 << 14 },
		"often a cut":   func(c *engine.Config) { c.Checkpoint = time.Second },
		"small files":   func(c *engine.Config) { c.WARC.SizeMax = 1 << 16 },
		"long delays":   func(c *engine.Config) { c.Politeness.HostDelay, c.Politeness.IPDelay = 30*time.Second, 7*time.Second },
		"hardly a delay": func(c *engine.Config) {
			c.Politeness.HostDelay, c.Politeness.IPDelay = 50*time.Millisecond, 10*time.Millisecond
		},
		"no IP delay":       func(c *engine.Config) { c.Politeness.IPDelay = 0 },
		"tiny fingerprints": func(c *engine.Config) { c.CacheMemory = 1 << 16 },
	}
	for name, change := range someOf(options) {
		t.Run(name, func(t *testing.T) {
			crawlAndJudge(t, smallWorld(*firstSeed+100, simweb.Faulty()), true, change)
		})
	}
}

func TestResume_tenOrderlyStopsLoseAndRepeatNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig, err := NewRig(smallWorld(*firstSeed+200, simweb.Faulty()), true)
		if err != nil {
			t.Fatal(err)
		}
		cfg := rig.Config()
		var report engine.Report
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
		p := promise(cfg)
		v, err := rig.Judge(p, rig.FS)
		if err != nil {
			t.Fatal(err)
		}
		checkBalance(t, report)
		if !v.Sound() || report.State != engine.StateFinished {
			v.Print(t.Output())
			t.Errorf("after ten stops: %s %s %v", report.State, report.Reason, report.Outcomes)
		}
	})
}
