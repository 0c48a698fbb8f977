package robots_test

import (
	"slices"
	"testing"
	"time"

	"orbweaver/engine/net/robots"
	"orbweaver/internal/golden"
)

// The encoded rules must equal the golden file, and must decode to the original rules. The file of the version before
// decodes to rules that decide the same, without the line of the Crawl-delay.
func TestGolden_rules(t *testing.T) {
	rules := robots.Parse([]byte("User-agent: *\nDisallow: /a\n\nUser-agent: orbweaver\nCrawl-delay: "+
		"2.5\nDisallow: /private/\nAllow: /private/open$\n"+
		"Disallow: /*.cgi\nDisallow: /%7Euser\nDisallow: /\u00e9t\u00e9\n\nSitemap: http://a.test/map.xml\n"), "orbweaver")
	back, err := robots.Decode(golden.Compare(t, "rules-2",
		"d8b6bb1075e1aa144a7fca10ec5ff32b9a63eb134415b09f5db81b6e493b8f4f", rules.Append(nil)))
	if err != nil {
		t.Fatal(err)
	}
	if !back.Equal(rules) || back.CrawlDelayLine() != 5 {
		t.Errorf("the Crawl-delay is in line %d", back.CrawlDelayLine())
	}
	checkGolden(t, back)
	old, err := robots.Decode(golden.Read(t, "rules-1",
		"0a0a83092e386d8d209c8a63e17c740b9345dadf71377c49638c5eb47395f15f"))
	if err != nil || old.CrawlDelayLine() != 0 {
		t.Fatal(old.CrawlDelayLine(), err)
	}
	checkGolden(t, old)
}

func checkGolden(t *testing.T, back *robots.Rules) {
	t.Helper()
	delay, given := back.CrawlDelay()
	if delay != 2500*time.Millisecond || !given ||
		!slices.Equal(back.Sitemaps(), []string{"http://a.test/map.xml"}) {
		t.Errorf("Crawl-delay %v (%v), sitemaps %v", delay, given, back.Sitemaps())
	}
	for path, want := range map[string]bool{"/": true, "/a": true, "/private/x": false, "/private/open": true,
		"/x.cgi?a": false, "/~user/": false} {
		if back.Allowed([]byte(path)) != want {
			t.Errorf("%s is allowed: %v", path, !want)
		}
	}
}
