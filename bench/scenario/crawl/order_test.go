package crawl

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/derive/quality"
	"orbweaver/engine"
	"orbweaver/engine/frontier/admission"
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

// orderOfSites crawls a web with many sites, and compares the figures of the archive with the truth.
func orderOfSites(t *testing.T, change func(*engine.Config)) (truth, archive *quality.Report) {
	t.Helper()
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
		change(&cfg)
		rig.MustCrawl(t, cfg, rig.FS)
		truth, archive = testbed.OrderOfAll(t, rig), testbed.Order(t, rig.FS)
		sameFigures(t, truth, archive)
	})
	return truth, archive
}

// Within a site, pages are fetched in the order of discovery. Page requisites go first, so that with them the
// correlation is lower.
func TestOrder_withinSites(t *testing.T) {
	r, archive := orderOfSites(t, func(*engine.Config) {})
	t.Logf("pages %+v, with requisites %+v", r.Sites, r.SitesAll)
	if r.Unvisited > 0 || r.Sites.Sites < 50 || r.Sites.Least < 0.999 || archive.Unlinked > 0 {
		t.Errorf("%d pages not visited, %d unlinked; tau %+v", r.Unvisited, archive.Unlinked, r.Sites)
	}
	if all := r.SitesAll; all.Mean < 0.82 || all.Mean > 0.93 || r.Requisites == 0 {
		t.Errorf("with %d requisites: %+v", r.Requisites, all)
	}
}

// Pages that no link of the archive leads to, here those of strings in scripts, are no part of the orders.
func TestOrder_speculativeFinds(t *testing.T) {
	_, r := orderOfSites(t, func(cfg *engine.Config) { cfg.Admission.Speculative = admission.SpeculativeOn })
	if t.Logf("%d pages, %d unlinked", r.Documents, r.Unlinked); r.Unlinked*100 < r.Documents {
		t.Errorf("only %d of %d pages are unlinked", r.Unlinked, r.Documents)
	}
}
