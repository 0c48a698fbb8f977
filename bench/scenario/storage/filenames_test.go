package storage

import (
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
)

// What comes from the network never becomes the name of a file: URLs that climb are asked for like others, and all
// there is in the crawl directory has names of ours.
func TestHostile_A06_nothingFromTheNetworkNamesAFile(t *testing.T) {
	ours := regexp.MustCompile(
		`^crawl/(report\.json|logs/(crawl\.log|progress\.tsv)|warc/manifest(\.jsonl|-sha256\.txt)|` +
			`warc/orbweaver-\d{17}-\d{5}-localhost\.(warc\.gz|cdxj)|` +
			`frontier/(MANIFEST|lock|owner|seeds|seeds-added|cache|host-rules|(bench|aloft|journal)-\d{8}|` +
			`(sieve|ready|queues|seen|near|cold)/[a-z]*-?[0-9a-f]*))$`,
	)
	synctest.Test(t, func(t *testing.T) {
		rig, _, _ := testbed.CrawlDuring(t, true, func(c *engine.Config) { c.Limits.MaxPages = 60 },
			func(rig *testbed.Rig, e *engine.Engine) {
				testbed.Wait(time.Second)
				host := rig.World.Host(0)
				urls := []string{
					"http://" + host + "/..%2f..%2f..%2fetc/passwd", "http://" + host + "/..%5c..%5cwindows",
					"http://" + host + "/a/%2e%2e/%2e%2e/x", "http://" + host + "/%00/x",
					"http://..%2f..%2f.test/", "http://con.test/aux", "http://x.warc.gz.open/",
					"http://" + host + "/crawl/frontier/MANIFEST",
				}
				_, _ = e.Operator().AddURLs(t.Context(), func(yield func(string) bool) { // some are no URLs
					for _, url := range urls {
						if !yield(url) {
							return
						}
					}
				})
				if _, err := e.Operator().HostRule([]string{"../../x.test exclude", "con.test exclude"}); err == nil {
					t.Error("a host that is a path is taken")
				}
			})
		for name := range testbed.FileContents(t, rig.FS) {
			if !ours.MatchString(name) {
				t.Errorf("a file is called %q", name)
			}
		}
	})
}
