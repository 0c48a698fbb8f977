package crawl

import (
	"crypto/sha1"
	"testing"
	"testing/synctest"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/internal/simweb"
	"orbweaver/internal/trial/captures"
)

// The web of today: pages of many kilobytes, packed and inside TLS, in chunks or not, beside some of before that are
// neither. The archive holds what came over the wire; the links are those of what was packed.
func TestCrawl_packedPagesInsideTLSAreFetchedWholeOnceAndPolitely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		world := testbed.SmallWorld(*testbed.FirstSeed+300, simweb.Today())
		world.PageBytesMean, world.HTTPSShare, world.GzipShare, world.CopyShare = 60_000, 0.8, 0.9, 0.1
		world.Faults = simweb.Harmless(0.05)
		rig := testbed.MustRig(t, world, false)
		if err := rig.Secure(); err != nil {
			t.Fatal(err)
		}
		cfg := rig.Config()
		report, err := rig.Crawl(t.Context(), cfg, rig.FS)
		if cerr := rig.Net.Close(); cerr != nil {
			t.Error(cerr)
		}
		if err != nil {
			t.Fatal(err)
		}
		v := rig.MustJudge(t, testbed.Promise(cfg), rig.FS)
		testbed.CheckConservation(t, report)
		if !v.Sound() || v.Fetched < 100 {
			v.Print(t.Output())
			t.Errorf("%d pages fetched, the oracle complains; outcomes %v", v.Fetched, report.Outcomes)
		}
		list, err := captures.All(rig.FS, "crawl/warc")
		if err != nil {
			t.Fatal(err)
		}
		all, packed := 0, 0
		for c := range list {
			all++
			sent, _ := rig.World.Payload(c.URL, true)
			if bare, _ := rig.World.Payload(c.URL, false); len(sent) < len(bare) && sha1.Sum(sent) == c.Digest {
				packed++
			}
		}
		if packed < all/4 || packed == all {
			t.Errorf("%d of %d answers in the archive are packed", packed, all)
		}
	})
}
