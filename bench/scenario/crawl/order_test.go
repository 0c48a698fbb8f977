package crawl

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/derive/quality"
	"orbweaver/internal/simweb"
)

// sameFigures compares what is known from the servers with what the crawl directory says. It does not know the start of
// a request to the nanosecond.
func sameFigures(t *testing.T, truth, archive *quality.Report) {
	t.Helper()
	area := archive.Area[quality.Visited] - truth.Area[quality.Visited]
	if truth.Documents != archive.Documents || truth.Requisites != archive.Requisites || truth.Links != archive.Links ||
		math.Abs(area) > 0.002 || math.Abs(truth.Sites.Mean-archive.Sites.Mean) > 0.01 {
		t.Errorf("truth: %d pages, %d requisites, %d links, area %.4f, %+v; archive: %d, %d, %d, %.4f, %+v",
			truth.Documents, truth.Requisites, truth.Links, truth.Area[quality.Visited], truth.Sites,
			archive.Documents, archive.Requisites, archive.Links, archive.Area[quality.Visited], archive.Sites)
	}
	for _, name := range []string{quality.BreadthFirst, quality.DepthFirst, quality.Visited} {
		if truth.Roots != archive.Roots || math.Abs(truth.Area[name]-archive.Area[name]) > 0.002 ||
			math.Abs(truth.Gain[name]-archive.Gain[name]) > 0.02 || math.Abs(truth.Tau[name]-archive.Tau[name]) > 0.01 {
			t.Errorf("%s: truth: area %.4f, gain %.3f, tau %.4f, %d roots; archive: %.4f, %.3f, %.4f, %d", name,
				truth.Area[name], truth.Gain[name], truth.Tau[name], truth.Roots,
				archive.Area[name], archive.Gain[name], archive.Tau[name], archive.Roots)
		}
	}
}

// Within a site, pages are fetched in the order of discovery. Page requisites go first, so that with them the
// correlation is lower.
func TestOrder_withinSites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := simweb.Plain()
		world.Seed, world.Hosts, world.PageBytesMean, world.Latency = *testbed.FirstSeed, 100, 2000, 100*time.Millisecond
		world.PagesPerHostMean, world.PagesPerHostMax = 40, 110
		world.CopyShare = 0.05 // revisits, which have links
		rig := testbed.MustRig(t, world, true)
		rig.Seeds = rig.World.Seeds(60) // others link to most of them before they are fetched
		cfg := rig.Config()
		cfg.Politeness.HostDelay, cfg.Politeness.IPDelay = 400*time.Millisecond, 50*time.Millisecond
		cfg.Workers.Fetchers = 2
		rig.MustCrawl(t, cfg, rig.FS)
		r := testbed.OrderOfAll(t, rig)
		sameFigures(t, r, testbed.Order(t, rig.FS))
		t.Logf("pages %+v, with requisites %+v", r.Sites, r.SitesAll)
		if r.Unvisited > 0 || r.Sites.Sites < 50 || r.Sites.Mean < 0.999 {
			t.Errorf("%d pages not visited; tau %+v", r.Unvisited, r.Sites)
		}
		if all := r.SitesAll; all.Mean < 0.82 || all.Mean > 0.93 || r.Requisites == 0 {
			t.Errorf("with %d requisites: %+v", r.Requisites, all)
		}
	})
}
