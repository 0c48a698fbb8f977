package crawl

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/report"
)

// honestHost is a host with 300 pages, which also responds at other paths. The measure of all tests here is how
// long its crawl takes.
func honestHost(beside map[string]func(n int, c net.Conn)) testbed.Responder {
	host := testbed.HostWithRobots(300, testbed.AlwaysRespond(200, "", "User-agent: *\nDisallow: /secret\n"))
	return func(path string, n int, c net.Conn) {
		if respond := beside[path]; respond != nil {
			respond(n, c)
			return
		}
		host(path, n, c)
	}
}

// aDelay is the time that a polite request takes.
const aDelay = 4 * time.Second

// crawlTime is how long the crawl of the honest host took, from its first request to its last page.
func crawlTime(t *testing.T, s *testbed.ScriptedHosts, r report.Report) time.Duration {
	t.Helper()
	var pages []testbed.Request
	for _, page := range s.Pages(testbed.FirstHost) {
		if len(page.Path) < 5 { // "/" to "/299"
			pages = append(pages, page)
		}
	}
	if len(pages) != 301 {
		t.Fatalf("%d pages of the honest host were asked for: %v, it waits for %s", len(pages), r.Outcomes, r.Waiting)
	}
	return pages[300].At.Sub(s.All()[0].At)
}

// aloneTime is how long the crawl of the honest host takes alone: robots.txt, the root page, and then the others.
const aloneTime = 301 * aDelay

// wantApart checks that the honest host was served as if it were alone, except for so many requests.
func wantApart(t *testing.T, s *testbed.ScriptedHosts, r report.Report, requests int) {
	t.Helper()
	if took, most := crawlTime(t, s, r), aloneTime+time.Duration(requests)*aDelay+time.Second; took > most {
		t.Errorf("the honest host took %v, and should take at most %v; outcomes %v", took, most, r.Outcomes)
	}
}

// redirects is a host whose robots.txt redirects.
func redirects(to string) testbed.Responder {
	return testbed.HostWithRobots(3, testbed.AlwaysRespond(302, "Location: "+to+"\r\n", ""))
}

// A robots.txt that redirects to an honest host costs that host one request, whatever it answers there. What it answers
// there is not taken for its state, and the host that redirects pays for it.
func TestHostile_X01_aRedirectOfRobotsCostsOneRequest(t *testing.T) {
	for name, answer := range map[string]func(n int, c net.Conn){
		"503":                testbed.AlwaysRespond(503, "", ""),
		"503 for a day":      testbed.AlwaysRespond(503, "Retry-After: 86400\r\n", ""),
		"429":                testbed.AlwaysRespond(429, "", ""),
		"500":                testbed.AlwaysRespond(500, "", ""),
		"404":                testbed.AlwaysRespond(404, "", ""),
		"rules":              testbed.AlwaysRespond(200, "", "User-agent: *\nDisallow: /1$\n"),
		"reset":              func(_ int, _ net.Conn) {},
		"a body that is cut": func(_ int, c net.Conn) { fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nUser") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
					testbed.FirstHost: honestHost(map[string]func(n int, c net.Conn){"/target": answer}),
					"evil.test":       redirects("http://" + testbed.FirstHost + "/target"),
				}}
				r, _ := s.Crawl(t, testbed.NoChange)
				wantApart(t, s, r, 1)
			})
		})
	}
}

// 200 hosts that redirect their robots.txt to one host share a tenth of its turns, also if each has a URL of its own
// there. A single request is enough for all that name the same URL, and none is needed if that is its robots.txt. Each
// gets its rules in the end.
func TestHostile_X02_aCrowdThatRedirectsToOneHostSharesATenthOfItsTurns(t *testing.T) {
	const crowd = 200
	for name, c := range map[string]struct {
		target   string // with the number of the host
		requests int    // that the honest host may notice
	}{
		"its robots.txt?":   {"/robots.txt?%d", 40},
		"one URL":           {"/target", 1},
		"a URL for each":    {"/target?%d", 40},
		"the same rules":    {"/robots.txt", 0},
		"what it disallows": {"/secret?%d", 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rules := testbed.AlwaysRespond(200, "", "User-agent: *\nDisallow: /1$\n")
				s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
					testbed.FirstHost: honestHost(map[string]func(n int, c net.Conn){"/target": rules}),
				}}
				for i := range crowd {
					target := "http://" + testbed.FirstHost + c.target
					if strings.Contains(target, "%") {
						target = fmt.Sprintf(target, i)
					}
					s.Hosts[fmt.Sprintf("evil%d.test", i)] = redirects(target)
				}
				r, _ := s.Crawl(t, testbed.NoChange)
				wantApart(t, s, r, c.requests)
				if n := r.Outcomes["robots-unreachable"]; name != "what it disallows" && n > 0 {
					t.Errorf("%d of %d hosts got no rules", n, crowd)
				}
			})
		})
	}
}
