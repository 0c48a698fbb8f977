package crawl

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/net/cookie"
)

// withCookies is a crawl that sends cookies back.
func withCookies(c *engine.Config) { c.Cookies.Mode = cookie.Site }

// A wall of a site redirects until a cookie comes back: to itself, or over a check and back. What is behind it is
// reached. A site that redirects without end, with a new cookie each time, costs eleven requests. A start page to which
// all old addresses redirect with a new cookie is not fetched for each of them.
func TestCookieWalls_areAskedAgain(t *testing.T) {
	moved := func(c net.Conn, to, value string) {
		testbed.Respond(c, 302, fmt.Sprintf("Location: %s\r\nSet-Cookie: seen=%s\r\n", to, value), "")
	}
	s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
		testbed.FirstHost: func(path string, n int, c net.Conn) {
			switch {
			case path == "/robots.txt":
				testbed.Respond(c, 404, "", "")
			case path == "/":
				testbed.Respond(c, 200, "", "<a href=/self>a</a><a href=/bounce>b</a><a href=/loop>c</a>"+testbed.LinksPage(30))
			case path == "/self" && n == 0:
				moved(c, "/self", "self")
			case path == "/bounce" && n == 0:
				testbed.Respond(c, 302, "Location: /check\r\n", "")
			case path == "/check":
				moved(c, "/bounce", "check")
			case path == "/loop":
				moved(c, "/loop", fmt.Sprint("loop", n))
			case strings.Trim(path, "/0123456789") == "":
				moved(c, "/", "old"+strings.Trim(path, "/"))
			default:
				testbed.Respond(c, 200, "", "<a href=/behind"+path+">x</a>"+path)
			}
		},
	}}
	synctest.Test(t, func(t *testing.T) {
		r, _ := s.Crawl(t, withCookies)
		asked := map[string]int{}
		for _, request := range s.Pages(testbed.FirstHost) {
			asked[request.Path]++
		}
		for path, want := range map[string]int{
			"/": 1, "/self": 2, "/bounce": 2, "/check": 1, "/behind/self": 1, "/behind/bounce": 1, "/loop": 11, "/7": 1,
		} {
			if asked[path] != want {
				t.Errorf("%s was asked for %d times, want %d", path, asked[path], want)
			}
		}
		finished := int64(0)
		for _, n := range r.Outcomes {
			finished += n
		}
		if r.URLsAdmitted != finished || r.URLsQueued != 0 || r.Outcomes["too-many-redirects"] != 1 {
			t.Errorf("admitted %d, queued %d, outcomes %v", r.URLsAdmitted, r.URLsQueued, r.Outcomes)
		}
	})
}

// Without cookies nothing would change: the wall is not asked again.
func TestCookieWalls_withoutCookiesAreNotAskedAgain(t *testing.T) {
	s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
		testbed.FirstHost: func(path string, _ int, c net.Conn) {
			switch path {
			case "/robots.txt":
				testbed.Respond(c, 404, "", "")
			case "/":
				testbed.Respond(c, 200, "", "<a href=/wall>a</a>")
			default:
				testbed.Respond(c, 302, "Location: "+path+"\r\nSet-Cookie: seen=1\r\n", "")
			}
		},
	}}
	synctest.Test(t, func(t *testing.T) {
		r, _ := s.Crawl(t, testbed.NoChange)
		if n := len(s.Pages(testbed.FirstHost)); n != 2 || r.Outcomes["redirect"] != 1 {
			t.Errorf("%d requests, outcomes %v", n, r.Outcomes)
		}
	})
}
