package crawl

import (
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/internal/simweb"
)

// Within a site, pages are fetched in the order of discovery. Page requisites go first, so that with them the
// correlation is lower.
func TestOrder_withinSites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := simweb.Plain()
		world.Seed, world.Hosts, world.PageBytesMean, world.Latency = *testbed.FirstSeed, 100, 2000, 100*time.Millisecond
		world.PagesPerHostMean, world.PagesPerHostMax = 40, 110
		rig := testbed.MustRig(t, world, true)
		cfg := rig.Config()
		cfg.Politeness.HostDelay, cfg.Politeness.IPDelay = 400*time.Millisecond, 50*time.Millisecond
		rig.MustCrawl(t, cfg, rig.FS)
		r := testbed.OrderOfAll(t, rig)
		t.Logf("pages %+v, with requisites %+v", r.Sites, r.SitesAll)
		if r.Unvisited > 0 || r.Sites.Sites < 50 || r.Sites.Mean < 0.999 {
			t.Errorf("%d pages not visited; tau %+v", r.Unvisited, r.Sites)
		}
		if all := r.SitesAll; all.Mean < 0.82 || all.Mean > 0.93 || r.Requisites == 0 {
			t.Errorf("with %d requisites: %+v", r.Requisites, all)
		}
	})
}
