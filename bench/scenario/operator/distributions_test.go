package operator

import (
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/internal/simweb"
)

// The histograms agree with the log of the web: each request has its phases, and each but the first one of a site has
// its gap, which is at least the host delay.
func TestDistributions_agreeWithTheLogOfTheWeb(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, testbed.SmallWorld(*testbed.FirstSeed+960, simweb.Plain()), true)
		cfg := rig.Config()
		cfg.Workers.KeepAlive = -1
		d := rig.MustCrawl(t, cfg, rig.FS).Distributions
		requests, sites := int64(0), map[string]bool{}
		for a := range rig.Log.All() {
			requests++
			sites[a.Site] = true
		}
		gaps, firstBytes, bodies := d.Gap.Load(), d.FirstByte.Load(), d.Body.Load()
		connects, sizes, syncs := d.Connect.Load(), d.BodySize.Load(), d.Sync.Load()
		if gaps.Count() != requests-int64(len(sites)) {
			t.Errorf("%d gaps for %d requests to %d sites", gaps.Count(), requests, len(sites))
		}
		for i, end := range gaps.Ends {
			if end < cfg.Politeness.HostDelay.Seconds() && gaps.Counts[i] > 0 {
				t.Errorf("%d gaps of at most %v s", gaps.Counts[i], end)
			}
		}
		if firstBytes.Count() != requests || bodies.Count() != requests || connects.Count() != requests ||
			sizes.Count() != requests || syncs.Count() == 0 {
			t.Errorf("of %d requests there are %d connections, %d first bytes, %d bodies and %d sizes; %d syncs", requests,
				connects.Count(), firstBytes.Count(), bodies.Count(), sizes.Count(), syncs.Count())
		}
		mean := time.Duration(connects.Sum / float64(requests) * float64(time.Second))
		if want := 4 * time.Millisecond; mean.Round(time.Millisecond) != want {
			t.Errorf("connecting took %v on average, want %v: there and back", mean, want)
		}
	})
}
