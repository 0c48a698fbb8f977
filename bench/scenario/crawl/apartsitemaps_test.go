package crawl

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
)

// A host may call files of a host out of scope its sitemaps. Each costs that host one request, within its robots.txt
// and at most a thousand for each file that names them. Nothing follows from what they are.
func TestHostile_X11_filesOfAnotherHostThatAreCalledSitemaps(t *testing.T) {
	const named = 3000
	synctest.Test(t, func(t *testing.T) {
		var robots, index strings.Builder
		for i := range named {
			fmt.Fprintf(&robots, "Sitemap: http://victim.test/%d\n", i)
			fmt.Fprintf(&index, "<sitemap><loc>http://third.test/%d</loc></sitemap>", i)
		}
		page := "<p>victim<img src=/picture.png><a href=/page>x</a><a href=http://" + testbed.FirstHost + "/of-victim>x</a>"
		s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
			testbed.FirstHost: testbed.HostWithRobots(300, testbed.AlwaysRespond(200, "", "Sitemap: http://victim.test/secret\n"+
				"Sitemap: http://victim.test/index.xml\n"+robots.String())),
			"third.test": func(path string, _ int, c net.Conn) { testbed.Respond(c, 404, "", path) },
			"victim.test": func(path string, _ int, c net.Conn) {
				switch path {
				case "/robots.txt":
					testbed.Respond(c, 200, "", "User-agent: *\nDisallow: /secret\nSitemap: http://victim.test/own.xml\n")
				case "/index.xml":
					testbed.Respond(c, 200, "", "<sitemapindex>"+index.String()+"</sitemapindex>")
				default:
					testbed.Respond(c, 200, "", page)
				}
			},
		}}
		r, _ := s.Crawl(t, func(c *engine.Config) {
			c.Seeds = testbed.Seeds{"http://" + testbed.FirstHost + "/"}
			c.Admission.Sitemaps, c.Filters.Scope = true, "host"
		})
		asked := map[string]int{}
		for _, request := range s.All() {
			asked[request.Host]++
			switch {
			case request.Host == testbed.FirstHost:
			case request.Path == "/secret", request.Path == "/picture.png", request.Path == "/page", request.Path == "/own.xml":
				t.Errorf("%s%s was asked for", request.Host, request.Path)
			}
		}
		// its robots.txt, and a thousand files but the one that it forbids
		if asked["victim.test"] != 1000 || asked["third.test"] != 0 {
			t.Errorf("requests: %v, outcomes %v", asked, r.Outcomes)
		}
		if r.NoSitemaps != 998 {
			t.Errorf("%d files are said to be no sitemaps", r.NoSitemaps)
		}
	})
}
