package crawl

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/state/limits"
)

// Hosts share the registrable domain of an honest one. They are endless mazes, or fail. The honest host is asked as
// if it were alone.
func TestHostile_X10_hostsOfOneDomainAreApart(t *testing.T) {
	for name, evil := range map[string]testbed.Responder{
		"mazes": func(path string, n int, c net.Conn) {
			testbed.Respond(c, 200, "", fmt.Sprintf("<a href=%s1/>x</a><a href=%s2/>x</a>", path, path))
		},
		"silent": func(_ string, _ int, _ net.Conn) {},
		"503":    hostOf(testbed.AlwaysRespond(503, "", "")),
		"403":    hostOf(testbed.AlwaysRespond(403, "", "")),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				links := ""
				s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{testbed.FirstHost: honestHost(nil)}}
				for i := range 100 {
					host := fmt.Sprintf("n%d.%s", i, testbed.FirstHost)
					s.Hosts[host] = evil
					links += fmt.Sprintf("<a href=http://%s/>x</a>", host)
				}
				s.Hosts["hub.test"] = func(path string, _ int, c net.Conn) {
					if path == "/" {
						testbed.Respond(c, 200, "", links+strings.Repeat("word ", 3))
						return
					}
					testbed.Respond(c, 404, "", "")
				}
				r, _ := s.Crawl(t, func(c *engine.Config) { c.Limits.MaxTime = limits.For(aloneTime + time.Minute) })
				wantApart(t, s, r, 1)
			})
		})
	}
}

// Each host of a domain leads to two others, and none says anything. An honest host among these is new in a domain that
// looks like a trap. It waits until the hosts before it had their turn, and then has all its own.
func TestHostile_X10_aNewHostOfASuspectedDomain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{testbed.FirstHost: honestHost(nil)}}
		const hosts = 1000
		for i := range hosts {
			links := ""
			for _, to := range []int{2*i + 1, 2*i + 2} {
				if to < hosts {
					links += fmt.Sprintf("<a href=http://n%d.%s/>x</a>", to, testbed.FirstHost)
				}
			}
			if i == 400 {
				links += "<a href=http://" + testbed.FirstHost + "/>x</a>"
			}
			s.Hosts[fmt.Sprintf("n%d.%s", i, testbed.FirstHost)] = hostOf(testbed.AlwaysRespond(200, "", links))
		}
		s.Seeds = []string{"n0." + testbed.FirstHost}
		r, _ := s.Crawl(t, testbed.NoChange)
		pages := s.Pages(testbed.FirstHost)
		if len(pages) != 301 || r.Outcomes["ok"] != hosts+301 {
			t.Fatalf("%d pages of the honest host were asked for, outcomes %v", len(pages), r.Outcomes)
		}
		if wait := pages[0].At.Sub(s.All()[0].At); wait > hosts*aDelay {
			t.Errorf("the honest host waited %v for its first page", wait)
		}
		if took := pages[300].At.Sub(pages[0].At); took > aloneTime {
			t.Errorf("the honest host took %v from its first page on", took)
		}
	})
}

// A site redirects its robots.txt to one that waits for an hour itself, behind a crowd that redirects to a third one.
// The first site waits as well, and is crawled in the end.
func TestHostile_X02_aSiteThatWaitsForOneThatWaitsIsNotGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		allow := testbed.AlwaysRespond(200, "", "User-agent: *\nAllow: /\n")
		third := testbed.HostWithRobots(2000, allow)
		s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
			testbed.FirstHost: redirects("http://two.test/rules"),
			"two.test": func(path string, n int, c net.Conn) {
				switch path {
				case "/rules":
					allow(n, c)
				default:
					redirects("http://three.test/rules/two")(path, n, c)
				}
			},
			"three.test": func(path string, n int, c net.Conn) {
				if strings.HasPrefix(path, "/rules/") {
					allow(n, c)
					return
				}
				third(path, n, c)
			},
		}}
		s.Seeds = []string{"three.test"}
		for i := range 90 {
			host := fmt.Sprintf("crowd%d.test", i)
			s.Hosts[host], s.Seeds = redirects(fmt.Sprintf("http://three.test/rules/%d", i)), append(s.Seeds, host)
		}
		s.Seeds = append(s.Seeds, "two.test", testbed.FirstHost)
		r, _ := s.Crawl(t, func(c *engine.Config) { c.Limits.StallWait = 12 * time.Hour })
		if n := len(s.Pages(testbed.FirstHost)); n < 4 {
			t.Errorf("%d pages of the site that waits were asked for: %v", n, r.Outcomes)
		}
	})
}
