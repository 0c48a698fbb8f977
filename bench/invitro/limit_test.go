package invitro

import (
	"testing"
	"testing/synctest"

	"orbweaver/bench/simweb"
	"orbweaver/engine"
)

func TestLimit_maxPagesIsExactAndCanBeRaised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig, cfg, report := during(t, true, func(c *engine.Config) { c.MaxPages = 50 }, func(*Rig, *engine.Engine) {})
		if n := report.PagesStored + report.RevisitsStored; n != 50 || report.State != engine.StateFinished {
			t.Errorf("%d pages stored, %s: %s", n, report.State, report.Reason)
		}
		rig.Connect()
		cfg.MaxPages = 0
		report, err := rig.Crawl(t.Context(), cfg, rig.FS)
		if err != nil {
			t.Fatal(err)
		}
		if err := rig.Net.Close(); err != nil {
			t.Error(err)
		}
		checkBalance(t, report)
		v, err := rig.Judge(promise(cfg), rig.FS)
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

// The limit of the disk is passed by no more than what was on its way, holds for the crawl and not for the run, and can
// be raised.
func TestLimit_maxDiskEndsTheCrawlAtOnceAndCanBeRaised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const limit, page = 100_000, 8000
		rig, err := NewRig(smallWorld(*firstSeed+450, simweb.Plain()), true)
		if err != nil {
			t.Fatal(err)
		}
		cfg := rig.Config()
		again := func(limit int64) engine.Report {
			rig.Connect()
			cfg.MaxDisk = limit
			report, err := rig.Crawl(t.Context(), cfg, rig.FS)
			if err != nil {
				t.Fatal(err)
			}
			if err := rig.Net.Close(); err != nil {
				t.Error(err)
			}
			checkBalance(t, report)
			return report
		}
		report := again(limit)
		if over := report.BytesStored - limit; report.Reason != "max-disk reached" || over < 0 || over > int64(cfg.Fetchers*page) {
			t.Errorf("%d bytes stored, %s: %s", report.BytesStored, report.State, report.Reason)
		}
		if same := again(limit); same.BytesStored != report.BytesStored || same.Reason != report.Reason {
			t.Errorf("the same limit again: %d bytes stored, %s: %s", same.BytesStored, same.State, same.Reason)
		}
		if more := again(2 * limit); more.BytesStored < 2*limit || more.Reason != report.Reason {
			t.Errorf("twice the limit: %d bytes stored, %s: %s", more.BytesStored, more.State, more.Reason)
		}
		again(0)
		sound(t, rig, cfg, promise(cfg))
	})
}
