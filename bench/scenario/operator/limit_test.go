package operator

import (
	"testing"
	"testing/synctest"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb"
)

func TestLimit_maxPagesIsExactAndCanBeRaised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig, cfg, report := testbed.CrawlDuring(t, true, func(c *engine.Config) {
			c.Limits.MaxPages, c.Admission.Requisites = 50, admission.RequisitesOff
		},
			func(*testbed.Rig, *engine.Engine) {})
		if n := report.PagesStored + report.RevisitsStored; n != 50 || report.State != lifecycle.Finished {
			t.Errorf("%d pages stored, %s: %s", n, report.State, report.Reason)
		}
		rig.Connect()
		cfg.Limits.MaxPages = 0
		report, err := rig.Crawl(t.Context(), cfg, rig.FS)
		if err != nil {
			t.Fatal(err)
		}
		if err := rig.Net.Close(); err != nil {
			t.Error(err)
		}
		testbed.CheckConservation(t, report)
		v, err := rig.Judge(testbed.Promise(cfg), rig.FS)
		if err != nil {
			t.Fatal(err)
		}
		// Pages that came after the fiftieth were asked for once more.
		v.Repeated, v.Overlap = 0, 0
		if !v.Sound() {
			v.Print(t.Output())
			t.Errorf("after raising the limit: %v", report.Outcomes)
		}
	})
}

// The limit of the disk is for archive, frontier and logs together. It is passed by no more than what was on its way
// and what frontier and logs grow between two measurements, holds for the crawl and not for the run, and can be raised.
func TestLimit_maxDiskEndsTheCrawlAtOnceAndCanBeRaised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit, grow = 400_000, 300_000
		rig := testbed.MustRig(t, testbed.SmallWorld(*testbed.FirstSeed+450, simweb.Plain()), true)
		cfg := rig.Config()
		again := func(limit int64) report.Report {
			rig.Connect()
			cfg.Limits.MaxDisk = limit
			report := rig.MustCrawl(t, cfg, rig.FS)
			testbed.CheckConservation(t, report)
			return report
		}
		report := again(limit)
		if n := testbed.DiskUsed(t, rig.FS); report.Reason != "max-disk reached" || report.PagesStored == 0 ||
			n > limit+grow {
			t.Errorf("%d bytes used, %d pages stored, %s: %s", n, report.PagesStored, report.State, report.Reason)
		}
		same := again(limit) // what only the run needed is gone, so there may be room for some pages
		if n := testbed.DiskUsed(t, rig.FS); same.Reason != report.Reason || n > limit+grow {
			t.Errorf("the same limit again: %d bytes used, %s: %s", n, same.State, same.Reason)
		}
		if more := again(limit + grow); more.BytesStored <= same.BytesStored {
			t.Errorf("a higher limit: %d bytes stored, %s: %s", more.BytesStored, more.State, more.Reason)
		}
		again(0)
		testbed.JudgeSound(t, rig, cfg, testbed.Promise(cfg))
	})
}
