package crawl

import (
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/internal/simweb"
)

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
