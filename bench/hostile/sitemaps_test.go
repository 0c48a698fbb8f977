package hostile

import (
	"strings"
	"testing"

	"orbweaver/engine"
	"orbweaver/internal/outcome"
)

// Sitemaps are read to the limits of their protocol, an index that an index names leads nowhere, and every file is
// asked for once.
func TestHostile_Z06_sitemapsEnd(t *testing.T) {
	play(t, "Z06", func(c *engine.Config) {
		c.Admission.Sitemaps = true
		c.Filters.Scope = `not (path matches "^/many/")`
	}, func(tr *trial) {
		tried := map[string]int{}
		for _, l := range tr.lines {
			if strings.HasPrefix(l.url, "http://z06.test/") {
				tried[l.url]++
			}
		}
		for url, n := range tried {
			if n > 1 && !strings.HasSuffix(url, "/robots.txt") {
				tr.Errorf("%s was asked for %d times", url, n)
			}
		}
		for _, path := range []string{
			"/self.xml", "/self.xml?again", "/ring.xml", "/ring2.xml", "/deep/1.xml", "/deep/2.xml", "/bomb/found",
			"/packed-twice/found",
		} {
			tr.wants("http://z06.test"+path, outcome.OK)
		}
		tr.never("http://z06.test/deep/3.xml", "http://z06.test/ring.xml?2")
		if n := tr.report.Dropped["scope"]; n != 50_000 {
			tr.Errorf("%d of 60,000 URLs of one sitemap were taken", n)
		}
	})
}
