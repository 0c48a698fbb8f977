package crawl

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simnet"
	"orbweaver/internal/simweb"
)

func TestCrawl_withoutAProxyNamesAndAddressesAreRight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig, cfg, report := testbed.CrawlDuring(t, false, testbed.NoChange, func(*testbed.Rig, *engine.Engine) {})
		testbed.JudgeSound(t, rig, cfg, testbed.Promise(cfg))
		if report.Outcomes["name-not-found"] == 0 {
			t.Errorf("no host without an address was met: %v", report.Outcomes)
		}
	})
}

func TestHostile_D03_anOutageOfTheNameServersPostponesAndBlamesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig, cfg, report := testbed.CrawlDuring(t, false, func(c *engine.Config) { c.Limits.StallWait = 20 * time.Minute },
			func(rig *testbed.Rig, e *engine.Engine) {
				testbed.Wait(3 * time.Second)
				rig.Net.SetDNS(false)
				testbed.Wait(10 * time.Minute)
				// a site whose address is known may still have pages
				if w := e.Report().Waiting; !strings.Contains(w, "DNS: no answer from 127.0.0.1 for 9m") {
					t.Errorf("it waits for %s", w)
				}
				rig.Net.SetDNS(true)
			})
		testbed.JudgeSound(t, rig, cfg, testbed.Promise(cfg))
		if report.Outcomes["name-fault"] > 0 {
			t.Errorf("hosts were given up: %v", report.Outcomes)
		}
		for _, line := range []string{"no name server answers", "the name servers answer again"} {
			if n := strings.Count(rig.EngineLog.String(), line); n != 1 {
				t.Errorf("%q was said %d times", line, n)
			}
		}
	})
}

// goesOn resumes a crawl that has stalled, on a network that is well again, and wants its end.
func goesOn(t *testing.T, rig *testbed.Rig, cfg engine.Config, before report.Report) {
	t.Helper()
	if before.State != lifecycle.Stalled || before.URLsQueued == 0 || before.FailingSites == nil ||
		before.FailingSites.URLs < before.URLsQueued {
		t.Fatalf("%s: %s, %d queued, %v, %+v", before.State, before.Reason, before.URLsQueued, before.Outcomes,
			before.FailingSites)
	}
	for _, site := range before.FailingSites.List {
		if site.Outcome == "" || site.Outcome == "none" || site.URLs == 0 {
			t.Errorf("a site in trouble: %+v", site)
		}
	}
	rig.Connect()
	r, err := rig.Crawl(t.Context(), cfg, rig.FS)
	if err = errors.Join(err, rig.Net.Close()); err != nil {
		t.Fatal(err)
	}
	testbed.CheckConservation(t, r)
	if r.State != lifecycle.Finished || r.URLsQueued != 0 || r.FailingSites != nil {
		t.Errorf("resumed: %s: %s %v", r.State, r.Reason, r.Outcomes)
	}
	testbed.JudgeSound(t, rig, cfg, testbed.Promise(cfg))
}

func TestOutage_ofTheProxyStallsTheCrawlAndCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig, cfg, report := testbed.CrawlDuring(t, true, testbed.NoChange, func(rig *testbed.Rig, _ *engine.Engine) {
			testbed.Wait(20 * time.Second)
			rig.Net.SetProxy(simnet.Refused)
		})
		goesOn(t, rig, cfg, report)
	})
}

func TestOutage_ofAHostThatHasAnsweredStallsTheCrawlAndCostsNothing(t *testing.T) {
	for _, state := range []simnet.State{simnet.Refused, simnet.BlackHole, simnet.Reset} {
		synctest.Test(t, func(t *testing.T) {
			// In this web all sites of the host's address have answered by then. One that has not would be given up.
			rig, cfg, report := testbed.CrawlWebDuring(t, testbed.SmallWorld(401, simweb.Faulty()), false, testbed.NoChange,
				func(rig *testbed.Rig, _ *engine.Engine) {
					testbed.Wait(10 * time.Second)
					rig.Net.SetHost(rig.World.Host(0), state)
				})
			goesOn(t, rig, cfg, report)
		})
	}
}

func TestPause_nothingIsAskedUntilResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig, cfg, _ := testbed.CrawlDuring(t, true, testbed.NoChange, func(rig *testbed.Rig, e *engine.Engine) {
			testbed.Wait(10 * time.Second)
			e.Operator().Pause()
			testbed.Wait(5 * time.Minute) // what was under way has ended
			before := rig.Log.Len()
			testbed.Wait(time.Hour)
			if got := rig.Log.Len(); got != before {
				t.Errorf("%d requests during the pause", got-before)
			}
			if r := e.Report(); r.State != lifecycle.Paused {
				t.Errorf("state %s", r.State)
			}
			e.Operator().Resume()
		})
		testbed.JudgeSound(t, rig, cfg, testbed.Promise(cfg))
	})
}

func TestDiskFull_pausesAndGoesOnByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig, cfg, report := testbed.CrawlDuring(t, true, testbed.NoChange, func(rig *testbed.Rig, e *engine.Engine) {
			testbed.Wait(15 * time.Second)
			rig.FS.SetLimit(1)
			testbed.Wait(10 * time.Minute)
			if r := e.Report(); r.State != lifecycle.Paused || r.Reason != "disk full" {
				t.Errorf("on a full disk: %s: %s", r.State, r.Reason)
			}
			rig.FS.SetLimit(1 << 40)
		})
		testbed.JudgeSound(t, rig, cfg, testbed.Promise(cfg))
		if report.State != lifecycle.Finished {
			t.Errorf("%s: %s", report.State, report.Reason)
		}
	})
}

// aSiteOverItsQuota says that a crawl of three pages a site leaves out some of host 0, a seed: four of its pages that a
// link of the root leads to are sound, and its robots.txt allows them.
func aSiteOverItsQuota(m *simweb.Model) bool {
	h, sound := m.HostAt(0), 0
	for p := range min(h.Pages, m.Config().PageFanout+1) {
		if h.PageAt(p).Shape == simweb.ShapePlain {
			sound++
		}
	}
	return h.Robots == simweb.RobotsNone && sound > 3
}

func TestE1_everyAdmittedURLEndsInOneOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := testbed.DrawWorld(t, testbed.SmallWorld(*testbed.FirstSeed+400, simweb.Faulty()), aSiteOverItsQuota)
		rig, cfg, report := testbed.CrawlWebDuring(t, world, true, func(c *engine.Config) {
			c.Limits.MaxPerHost,
				c.Admission.MaxDepth = 3, 1
		},
			func(_ *testbed.Rig, e *engine.Engine) {
				for range 20 { // and while it runs nothing is counted twice
					testbed.Wait(5 * time.Second)
					if r := e.Report(); r.URLsQueued < 0 || r.URLsInFlight < 0 {
						t.Errorf("queued %d, in flight %d", r.URLsQueued, r.URLsInFlight)
					}
				}
			})
		if report.URLsQueued != 0 || report.Outcomes["quota-host"] == 0 || report.Dropped["depth"] == 0 {
			t.Errorf("queued %d, outcomes %v, dropped %v", report.URLsQueued, report.Outcomes, report.Dropped)
		}
		p := testbed.Promise(cfg)
		p.MaxPerHost, p.Partial = 3, true
		testbed.JudgeSound(t, rig, cfg, p)
	})
}
