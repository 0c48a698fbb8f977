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

// An error page is shown as it is: with its style sheet, and where it refreshes to. Its links are not followed. A site
// whose error pages have relative requisites and links is asked for few URLs that do not exist: those of 32 pages.
func TestErrorPages_areShownAndLeadNowhere(t *testing.T) {
	const dead = 200
	synctest.Test(t, func(t *testing.T) {
		s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
			testbed.FirstHost: func(path string, _ int, c net.Conn) {
				switch path {
				case "/robots.txt":
					testbed.Respond(c, 404, "", "")
				case "/":
					var list strings.Builder
					for i := range dead {
						fmt.Fprintf(&list, "<a href=/dead%d/>x</a>", i)
					}
					testbed.Respond(c, 200, "", list.String()+"<a href=/choices>x</a><a href=/moved>x</a><a href=/away>x</a>")
				case "/choices":
					testbed.Respond(c, 300, "", "<a href=/choice1>1</a><a href=/choice2>2</a>")
				case "/moved":
					testbed.Respond(c, 302, "", "<a href=/target>here</a>")
				case "/away":
					testbed.Respond(c, 403, "", "<meta http-equiv=refresh content='0;url=/login'>")
				case "/choice1", "/choice2", "/target", "/login", "/error.css":
					testbed.Respond(c, 200, "", "<p>"+path)
				default:
					testbed.Respond(c, 404, "", "<link rel=stylesheet href=/error.css><img src=img/logo.png>"+
						"<a href=more/>more</a>no page at "+path)
				}
			},
		}}
		r, _ := s.Crawl(t, func(c *engine.Config) { c.Filters.Scope = "host" })
		asked := map[string]int{}
		for _, request := range s.Pages(testbed.FirstHost) {
			asked[request.Path]++
		}
		for _, path := range []string{"/choice1", "/choice2", "/target", "/login", "/error.css", "/dead0/"} {
			if asked[path] != 1 {
				t.Errorf("%s was asked for %d times", path, asked[path])
			}
		}
		// The pages of dead links, and one picture of each of 32; the page of /away is one of these.
		if n := r.Outcomes["client-error"]; n < dead+1+30 || n > dead+1+32 {
			t.Errorf("%d answers are errors: %v", n, r.Outcomes)
		}
	})
}

// A site may refresh from one error page to the next without end. It is left out like any other endless part.
func TestErrorPages_thatRefreshWithoutEndAreLeftOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
			testbed.FirstHost: func(path string, _ int, c net.Conn) {
				var n int
				if path == "/" {
					testbed.Respond(c, 200, "", "<a href=/e0>x</a>")
					return
				}
				if _, err := fmt.Sscanf(path, "/e%d", &n); err == nil {
					testbed.Respond(c, 404, "", fmt.Sprintf("<meta http-equiv=refresh content='0;url=/e%d'>", n+1))
					return
				}
				testbed.Respond(c, 404, "", "")
			},
		}}
		r, _ := s.Crawl(t, func(c *engine.Config) { c.Traps.TrapFloor = 20 })
		if n := len(s.All()); n < 100 || n > 2000 || r.Outcomes["novelty"] == 0 {
			t.Errorf("%d requests: %v", n, r.Outcomes)
		}
	})
}
