//go:build scenario

package crawl

import (
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/internal/simnet"
	"orbweaver/internal/simweb"
)

// A crawl that has nothing to do for longer than it waits for failing sites goes on all the same if all that it waits
// for is politeness.
func TestPatience_delaysLongerThanTheStallWaitAreKeptAndNothingIsGivenUp(t *testing.T) {
	for name, change := range map[string]func(*simweb.Config, *engine.Config){
		"Crawl-delay": func(w *simweb.Config, _ *engine.Config) {
			w.Robots.CrawlDelay, w.Timing.CrawlDelay = 1,
				3*time.Minute
		},
		"host delay": func(_ *simweb.Config, c *engine.Config) { c.Politeness.HostDelay = 3 * time.Minute },
		"IP delay":   func(_ *simweb.Config, c *engine.Config) { c.Politeness.IPDelay = 3 * time.Minute },
	} {
		t.Run(name, func(t *testing.T) {
			world := simweb.Plain()
			world.Robots = simweb.Robots{}
			cfg := engine.Config{}
			change(&world, &cfg)
			testbed.CrawlAndJudge(t, testbed.SmallWorld(*testbed.FirstSeed+500, world), true, func(c *engine.Config) {
				c.Limits.StallWait = 20 * time.Second
				change(&world, c)
			})
		})
	}
}

// The delays are raised in mid-crawl to more than the stall wait.
func TestPatience_aDelayThatIsRaisedMeanwhileIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig, cfg, report := testbed.CrawlDuring(t, true, testbed.NoChange, func(_ *testbed.Rig, e *engine.Engine) {
			testbed.Wait(20 * time.Second)
			if err := testbed.Set(t, e, "host-delay", "2m"); err != nil {
				t.Error(err)
			}
		})
		testbed.JudgeSound(t, rig, cfg, testbed.Promise(cfg))
		if report.Outcomes["given-up"] > 0 {
			t.Errorf("%s: %s %v", report.State, report.Reason, report.Outcomes)
		}
	})
}

// When all sites fail, the crawl stops as stalled after the stall wait, with everything queued, and goes on when they
// are back.
func TestPatience_sitesThatDoNotAnswerStallTheCrawl(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		rig, cfg, report := testbed.CrawlDuring(t, false, func(c *engine.Config) { c.Limits.StallWait = 20 * time.Second },
			func(rig *testbed.Rig, _ *engine.Engine) {
				testbed.Wait(5 * time.Second)
				for h := range rig.World.Config().Hosts {
					rig.Net.SetHost(rig.World.Host(h), simnet.Refused)
				}
			})
		// All sites are tried once more, and some wait for the back-off of their address: ten minutes at most.
		if wall := time.Since(start); wall > cfg.Limits.StallWait+10*time.Minute {
			t.Errorf("it took %v with a stall wait of %v", wall, cfg.Limits.StallWait)
		}
		cfg.Limits.StallWait = time.Hour // there are sites that answer 503 to the first request for a page
		goesOn(t, rig, cfg, report)
	})
}

// One large site without delays: between the last item in memory and the next from disk nothing is due, and nothing is
// over.
func TestPatience_oneLargeSiteWithoutDelaysIsCrawledToItsEnd(t *testing.T) {
	for seed := range uint64(testbed.Reduce(5, 2)) {
		world := simweb.Plain()
		world.Robots = simweb.Robots{}
		world.Seed, world.Hosts, world.IPs, world.PagesPerHostMean, world.PagesPerHostMax = seed, 1, 1, 1000, 1000
		world.PageBytesMean = 1000
		testbed.CrawlAndJudge(t, world, true, func(c *engine.Config) {
			c.Politeness.HostDelay, c.Politeness.IPDelay, c.Limits.StallWait = 0, 0, time.Nanosecond
		})
	}
}
