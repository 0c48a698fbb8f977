package urlx

import (
	"fmt"
	"testing"
)

// URLs with equal fingerprints under a known seed have different ones under the crawl's secret seed.
func TestHostile_U10_urlsThatCollideUnderOneSeedDoNotUnderAnother(t *testing.T) {
	const buckets, wanted = 1 << 12, 256
	var chosen [][]byte
	for n := 0; len(chosen) < wanted; n++ {
		url := fmt.Appendf(nil, "http://evil.test/%d", n)
		if fp := Fingerprint(0, url); fp.Hi%buckets == 0 {
			chosen = append(chosen, url)
		}
	}
	for seed := uint64(1); seed <= 8; seed++ {
		filled, most := map[uint64]int{}, 0
		for _, url := range chosen {
			at := Fingerprint(seed*0x9e3779b97f4a7c15, url).Hi % buckets
			filled[at]++
			most = max(most, filled[at])
		}
		if most > 6 || len(filled) < wanted*9/10 {
			t.Errorf("seed %d: %d URLs in %d of %d buckets, up to %d in one", seed, wanted, len(filled), buckets, most)
		}
	}
}
