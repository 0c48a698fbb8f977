package crawl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/state/lifecycle"
)

// An application is down for as long as a deploy takes, and the server in front of it answers robots.txt from its disk.
// That costs no URL.
func TestOutage_ofAnApplicationBehindAServerCostsNoURL(t *testing.T) {
	for _, status := range []int{500, 502, 503, 504} {
		for _, last := range []time.Duration{time.Minute, 10 * time.Minute, 25 * time.Minute} {
			synctest.Test(t, func(t *testing.T) {
				o := &testbed.OutageWeb{Sites: 1, Pages: 100, Condition: appDown(status, 100*time.Second, last)}
				o.Begin()
				rig, cfg := o.Config(t)
				if o.Complete(t, o.Crawl(t, rig, cfg, rig.FS)); t.Failed() {
					t.Logf("status %d for %v", status, last)
				}
			})
		}
	}
}

// appDown is the condition of an application that is down from a moment on for so long, behind a server that answers
// robots.txt.
func appDown(status int, from, lasts time.Duration) func(int, time.Duration) testbed.Condition {
	return func(_ int, since time.Duration) testbed.Condition {
		if since >= from && since < from+lasts {
			return testbed.Condition{Status: status, RobotsUp: true}
		}
		return testbed.Condition{}
	}
}

// The same for a day. The root page was served before the outage and is not served during it: so the site is down, and
// its URLs are not broken.
func TestOutage_ofAnApplicationForADayCostsNoURL(t *testing.T) {
	for _, status := range testbed.Sample([]int{429, 500, 502, 503, 504, 521}) {
		synctest.Test(t, func(t *testing.T) {
			o := &testbed.OutageWeb{Sites: 1, Pages: 300, Condition: appDown(status, 100*time.Second, 24*time.Hour)}
			o.Begin()
			rig, cfg := o.Config(t)
			r, stalls := o.UntilEnd(t, rig, cfg)
			if o.Complete(t, r); t.Failed() || stalls == 0 {
				t.Errorf("status %d: it stalled %d times", status, stalls)
			}
			if o.Tried > 300+200 {
				t.Errorf("status %d: %d connections for 300 pages: the site is not left alone", status, o.Tried)
			}
		})
	}
}

// Nothing tells such an outage from broken URLs if the root page was never served. A site that says that it is down
// loses few of its URLs in a day.
func TestOutage_ofAnApplicationWithoutRootPageForADayCostsFewURLs(t *testing.T) {
	for _, status := range testbed.Sample([]int{502, 503, 521}) {
		synctest.Test(t, func(t *testing.T) {
			o := &testbed.OutageWeb{Sites: 1, Pages: 300, First: "start",
				Condition: appDown(status, 100*time.Second, 24*time.Hour)}
			o.Begin()
			rig, cfg := o.Config(t)
			r, _ := o.UntilEnd(t, rig, cfg)
			if r.State != lifecycle.Finished || r.PagesStored+r.RevisitsStored < 200 {
				t.Errorf("status %d: %s, %d of 300 stored, outcomes %v", status, r.State, r.PagesStored, r.Outcomes)
			}
		})
	}
}

// Up to three pages of a small site never answer, and there are too few others to try in between. The site serves its
// root page, so the crawl ends soon and asks for these pages a few times only.
func TestOutage_theBrokenPagesOfASmallSiteEndSoon(t *testing.T) {
	for _, by := range []testbed.Condition{{Status: 500}, {Status: 503}, {Reset: true}} {
		for pages, broken := range map[int][][]int{
			3: {{1}}, 4: {{1}, {2}}, 6: {{2, 4}}, 10: {{1}, {5}, {8}}, 20: {{6, 12, 18}, {5, 10, 15}, {18}},
		} {
			for _, which := range broken {
				synctest.Test(t, func(t *testing.T) {
					o := &testbed.OutageWeb{Sites: 1, Pages: pages, BrokenBy: by}
					o.Condition = func(int, time.Duration) testbed.Condition { return testbed.Condition{} }
					o.Broken = func(page int) bool { return slices.Contains(which, page) }
					o.Begin()
					rig, cfg := o.Config(t)
					r := o.Crawl(t, rig, cfg, rig.FS)
					took := time.Since(o.Began) - time.Duration(pages)*cfg.Politeness.HostDelay
					if r.State != lifecycle.Finished || r.Outcomes["ok"] != int64(pages-len(which)) ||
						took > 5*time.Minute || o.Tried > pages+16 {
						t.Errorf("%+v, pages %v of %d: %s, %v longer, %d connections, outcomes %v",
							by, which, pages, r.State, took, o.Tried, r.Outcomes)
					}
				})
			}
		}
	}
}

// The same, while the operator stops the crawl again and again: its root page is still asked for.
func TestOutage_aBrokenPageEndsOverManyStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &testbed.OutageWeb{Sites: 1, Pages: 3, BrokenBy: testbed.Condition{Reset: true}}
		o.Condition = func(int, time.Duration) testbed.Condition { return testbed.Condition{} }
		o.Broken = func(page int) bool { return page == 1 }
		o.Begin()
		rig, cfg := o.Config(t)
		var r report.Report
		for range 12 {
			ctx, cancel := context.WithTimeout(t.Context(), 13*time.Second)
			e := o.Engine(t, rig, cfg, rig.FS)
			if err := errors.Join(e.Run(ctx), e.Close()); err != nil {
				t.Error(err)
			}
			cancel()
			if r = e.Report(); r.State == lifecycle.Finished {
				break
			}
		}
		o.Open.Wait()
		if r.State != lifecycle.Finished || r.Outcomes["reset"] != 1 || o.Tried > 16 {
			t.Errorf("%s: %s, %d connections, outcomes %v", r.State, r.Reason, o.Tried, r.Outcomes)
		}
	})
}

// A page of a site has images that never answer. Images are fetched first, but these do not keep the site from its
// other pages: each fails once before those come.
func TestOutage_brokenImagesDoNotHoldTheirSite(t *testing.T) {
	for _, by := range []testbed.Condition{{Status: 500}, {Status: 503}, {Reset: true}} {
		synctest.Test(t, func(t *testing.T) {
			const pages = 40
			o := &testbed.OutageWeb{Sites: 1, Pages: pages, BrokenBy: by}
			o.Condition = func(int, time.Duration) testbed.Condition { return testbed.Condition{} }
			o.Broken = func(page int) bool { return page > pages }
			o.Elsewhere = func(page int) string {
				if page != 3 {
					return "/1"
				}
				return "/1><img src=/77><img src=/78><img src=/79"
			}
			o.Begin()
			rig, cfg := o.Config(t)
			r := o.Crawl(t, rig, cfg, rig.FS)
			took := time.Since(o.Began) - pages*cfg.Politeness.HostDelay
			if r.State != lifecycle.Finished || r.Outcomes["ok"] != pages || took > 10*time.Minute || o.Tried > pages+20 {
				t.Errorf("%+v: %s, %v longer, %d connections, outcomes %v", by, r.State, took, o.Tried, r.Outcomes)
			}
		})
	}
}

// Some pages of a site in a row never answer, in the middle of its queue or at its end. The crawl gets all others and
// ends: after half an hour and more if the site serves its root page, which proves that these pages are broken.
func TestOutage_pagesInARowThatAreBrokenEndAlone(t *testing.T) {
	const pages = 300
	type brokenPages struct {
		by      testbed.Condition
		outcome string
		n       int
		most    time.Duration // beyond the time of a crawl without broken pages
	}
	for _, c := range testbed.Sample([]brokenPages{
		{testbed.Condition{Status: 500}, "server-error", 1, time.Minute},
		{testbed.Condition{Status: 500}, "server-error", 10, time.Hour},
		{testbed.Condition{Status: 500}, "server-error", 100, 2 * time.Hour},
		{testbed.Condition{Reset: true}, "reset", 10, time.Hour},
		{testbed.Condition{Status: 503}, "unavailable", 1, time.Minute},
		{testbed.Condition{Status: 503}, "unavailable", 10, 70 * time.Minute},
		{testbed.Condition{Status: 503}, "unavailable", 100, 4 * time.Hour},
		{testbed.Condition{Status: 502}, "unavailable", 10, 70 * time.Minute},
		{testbed.Condition{Status: 429}, "too-many-requests", 1, 5 * time.Minute},
		{testbed.Condition{Status: 429}, "too-many-requests", 10, 13 * time.Hour},
	}) {
		for _, from := range []int{pages / 2, pages - c.n} {
			t.Run(fmt.Sprintf("%d %s from %d", c.n, c.outcome, from), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					o := &testbed.OutageWeb{Sites: 1, Pages: pages, Condition: func(int,
						time.Duration) testbed.Condition {
						return testbed.Condition{}
					}, BrokenBy: c.by}
					o.Broken = func(page int) bool { return page >= from && page < from+c.n }
					o.Begin()
					rig, cfg := o.Config(t)
					r := o.Crawl(t, rig, cfg, rig.FS)
					// the last page is pages-1
					took, broken := time.Since(o.Began)-pages*cfg.Politeness.HostDelay, int64(min(c.n, pages-from-1))
					t.Logf("%v longer, %d connections", took, o.Tried)
					if r.State != lifecycle.Finished || r.Outcomes[c.outcome] < broken ||
						r.Outcomes["ok"]+r.Outcomes[c.outcome] != pages || took > c.most {
						t.Errorf("%s, %v longer than without, outcomes %v", r.State, took, r.Outcomes)
					}
				})
			})
		}
	}
}

// A server is away for hours and is back then, but its last page never answers. The long waits of the outage do not go
// on: the next run that finds the server ends, and does not stall over that page.
func TestOutage_aBrokenPageAfterAnOutageDoesNotStallTheCrawl(t *testing.T) {
	const away = 5 * time.Hour
	synctest.Test(t, func(t *testing.T) {
		o := &testbed.OutageWeb{Sites: 1, Pages: 40, Condition: between(testbed.Condition{Refused: true}, 158*time.Second,
			away), BrokenBy: testbed.Condition{Status: 503}}
		o.Broken = func(page int) bool { return page == 38 }
		o.Begin()
		rig, cfg := o.Config(t)
		r, stalls := o.UntilEnd(t, rig, cfg)
		if took := time.Since(o.Began) - away; r.Outcomes["ok"] != 39 || r.Outcomes["unavailable"] != 1 ||
			took > 100*time.Minute {
			t.Errorf("%s after %d stalls, %v after the outage, outcomes %v", r.State, stalls, took, r.Outcomes)
		}
	})
}

// The operator's fetch filter refuses the root page: it is not asked for as a proof either, and robots.txt must do.
func TestOutage_aRootPageThatTheFilterRefusesIsNoProof(t *testing.T) {
	for refuses, asked := range map[string]bool{`path != "/"`: false, "all": true} {
		synctest.Test(t, func(t *testing.T) {
			o := &testbed.OutageWeb{Sites: 1, Pages: 20, First: "start",
				Condition: func(int, time.Duration) testbed.Condition { return testbed.Condition{} }}
			o.Broken = func(page int) bool { return page >= 15 }
			o.Begin()
			rig, cfg := o.Config(t)
			e := o.Engine(t, rig, cfg, rig.FS)
			if err := testbed.Set(t, e, "fetch", refuses); err != nil {
				t.Fatal(err)
			}
			err := e.Run(t.Context())
			r := e.Report()
			if err = errors.Join(err, e.Close()); err != nil {
				t.Error(err)
			}
			o.Open.Wait()
			if got := o.Served[testbed.OutageHost(0)+"/"] > 0; got != asked {
				t.Errorf("with the filter %s the root page is asked for: %v", refuses, got)
			}
			if r.State != lifecycle.Finished {
				t.Errorf("%s: %s", r.State, r.Reason)
			}
		})
	}
}
