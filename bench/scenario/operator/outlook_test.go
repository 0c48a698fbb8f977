package operator

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
)

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
