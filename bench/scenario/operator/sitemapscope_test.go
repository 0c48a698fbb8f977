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
)

// A robots.txt names sitemaps on another host. While they are queued, the scope becomes narrower: they are read all the
// same, since what is called a sitemap need not be in the scope, and their URLs within it are fetched.
func TestSettings_aNarrowerScopeKeepsQueuedSitemaps(t *testing.T) {
	const files = 8
	synctest.Test(t, func(t *testing.T) {
		var robots strings.Builder
		for i := range files {
			fmt.Fprintf(&robots, "Sitemap: http://maps.test/%d.xml\n", i)
		}
		isNarrow := false
		s := &testbed.ScriptedHosts{
			Hosts: map[string]testbed.Responder{
				testbed.FirstHost: func(path string, _ int, c net.Conn) {
					if path == "/robots.txt" {
						testbed.Respond(c, 200, "", robots.String())
						return
					}
					testbed.Respond(c, 200, "", "<p>page "+path)
				},
				"maps.test": func(path string, _ int, c net.Conn) {
					name, isMap := strings.CutSuffix(path, ".xml")
					if !isMap {
						testbed.Respond(c, 404, "", "")
						return
					}
					testbed.Respond(c, 200, "", "<urlset><url><loc>http://"+testbed.FirstHost+"/listed"+name+"</loc></url>"+
						"<url><loc>http://maps.test/page"+name+"</loc></url></urlset>")
				},
			},
			Watch: func(e *engine.Engine) {
				if isNarrow || e.Report().PagesStored < 3 {
					return
				}
				isNarrow = true
				if err := testbed.Set(t, e, "scope", "host"); err != nil {
					t.Error(err)
				}
			},
		}
		r, _ := s.Crawl(t, func(c *engine.Config) {
			c.Seeds = testbed.Seeds{"http://" + testbed.FirstHost + "/"}
			c.Admission.Sitemaps, c.Filters.Scope = true, "all"
			c.Politeness.HostDelay = 5 * time.Second
		})
		maps, listed := 0, 0
		for _, request := range s.All() {
			if strings.HasSuffix(request.Path, ".xml") {
				maps++
			}
			if strings.HasPrefix(request.Path, "/listed") {
				listed++
			}
		}
		if !isNarrow || maps != files || listed != files {
			t.Errorf("narrower: %v; %d sitemaps and %d of their pages; outcomes %v", isNarrow, maps, listed, r.Outcomes)
		}
	})
}
