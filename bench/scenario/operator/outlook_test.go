package operator

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/doctor"
)

// What a crawl waits for is said in the same words by its status line and by doctor: the sites that fail, and not
// politeness, with the time when they are given up. That time is true, and the outlook knows that it takes as long.
func TestOutlook_namesFailingSitesAndTheEndOfTheirTries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &testbed.OutageWeb{Sites: 9, Pages: 60, Condition: testbed.Lasting(
			testbed.Condition{Status: 503}, 0, 1, 2, 3, 4, 5, 6, 7, 8)}
		o.Begin()
		rig, cfg := o.Config(t)
		cfg.Politeness.HostDelay = 10 * time.Second
		e := o.Engine(t, rig, cfg, rig.FS)
		done := make(chan error, 1)
		go func() { done <- e.Run(t.Context()) }()
		testbed.Wait(9*time.Minute + 55*time.Second) // the healthy site has a URL or two left
		r := e.Report()
		if !strings.HasPrefix(r.Waiting, "8 sites fail or ask to slow down: robots-unreachable; 8 of ") ||
			!strings.Contains(r.Waiting, "; given up ") {
			t.Errorf("waiting for %s", r.Waiting)
		}
		said := diagnoses(t, e)
		if said[0].Cause != doctor.FailingSite || !strings.HasPrefix(r.Waiting, said[0].Text) ||
			!strings.Contains(said[0].Remedy, "tries=N") {
			t.Errorf("doctor says %+v\nreport says %s", said[0], r.Waiting)
		}
		least := time.Duration(r.Outlook.SecondsLeast * float64(time.Second))
		asked := time.Now()
		if err := <-done; err != nil {
			t.Error(err)
		}
		took := time.Since(asked)
		if err := e.Close(); err != nil {
			t.Error(err)
		}
		if took < least-time.Minute || took > least+10*time.Minute {
			t.Errorf("it took %v more, at least %v were foreseen", took, least)
		}
	})
}

// --tries N gives a site up sooner that has never answered: its robots.txt and its connections count, too.
func TestOutlook_triesEndTheTailOfDeadSites(t *testing.T) {
	for name, bad := range map[string]testbed.Condition{"503": {Status: 503}, "refused": {Refused: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := &testbed.OutageWeb{Sites: 5, Pages: 1, Condition: testbed.Lasting(bad, 0, 1, 2, 3, 4)}
				o.Begin()
				rig, cfg := o.Config(t)
				cfg.Politeness.Tries = 2
				r := o.Crawl(t, rig, cfg, rig.FS)
				if took := time.Since(o.Began); r.URLsQueued != 0 || took > 2*time.Minute {
					t.Errorf("%s after %v: %s", r.State, took, r.Reason)
				}
			})
		})
	}
}

// alikeHosts are healthy hosts whose root links to so many pages of one text: most of them are delayed.
func alikeHosts(hosts, pages int) *testbed.ScriptedHosts {
	s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{}}
	for n := range hosts {
		s.Hosts[fmt.Sprintf("h%d.test", n)] = func(path string, _ int, c net.Conn) {
			switch path {
			case "/robots.txt":
				testbed.Respond(c, 404, "", "")
			case "/":
				testbed.Respond(c, 200, "", testbed.LinksPage(pages))
			default:
				testbed.Respond(c, 200, "", "<p>the same text as ever")
			}
		}
	}
	return s
}

// Of a crawl without a failing site no sentence says that sites fail, while its seeds wait for their first answer and
// while nothing but delayed URLs is left. What report.json lists and what it counts is the same.
func TestOutlook_callsNoHealthySiteFailing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := alikeHosts(5, 400)
		wrong, seen := map[string]bool{}, 0
		s.Watch = func(e *engine.Engine) {
			r := e.Report()
			seen++
			if r.FailingSites != nil || strings.Contains(r.Waiting, "fail") || r.Outlook.Failing > 0 {
				wrong[fmt.Sprintf("%s (outlook: %d of %d sites fail)", r.Waiting, r.Outlook.Failing, r.Outlook.Sites)] = true
			}
		}
		r, _ := s.Crawl(t, func(c *engine.Config) { c.Workers.SiteItems = 8 })
		for what := range wrong {
			t.Error(what)
		}
		if r.NoveltyDelayed < 300 || seen < 300 {
			t.Errorf("%d URLs were delayed, %d reports: the test checks nothing", r.NoveltyDelayed, seen)
		}
	})
}
