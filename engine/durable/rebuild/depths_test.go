package rebuild

import "testing"

// The fields of a metadata record say how many links a page is from a seed: those of Orbweaver and of Heritrix.
func TestDepthIn(t *testing.T) {
	for block, want := range map[string]int{
		"seed: \r\nfetchTimeMs: 7\r\n": 0, "hopsFromSeed: \r\n": 0, "hopsFromSeed: R\r\n": 0, "hopsFromSeed: LLER\r\n": 2,
		"via: http://a.test/\r\nhopsFromSeed: PMLX\r\nfetchTimeMs: 7\r\n": 3,
		"": -1, "fetchTimeMs: 7\r\nattempt: 2\r\n": -1, "via: http://a.test/hopsFromSeed:LLL\r\n": -1,
	} {
		got, isKnown := depthIn([]byte(block))
		if !isKnown {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %d, want %d", block, got, want)
		}
	}
}
