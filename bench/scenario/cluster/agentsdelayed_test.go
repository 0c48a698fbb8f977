package cluster

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

// similarHosts are hosts whose root links to so many pages of one text. Pages from number late on link to one page each
// with new text.
func similarHosts(hosts, pages, late int) *testbed.ScriptedHosts {
	s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{}, Counts: map[string]int{}}
	for h := range hosts {
		s.Hosts[fmt.Sprintf("h%d.test", h)] = func(path string, _ int, c net.Conn) {
			var n int
			_, err := fmt.Sscanf(path, "/%d", &n)
			switch {
			case path == "/robots.txt":
				testbed.Respond(c, 404, "", "")
			case path == "/":
				testbed.Respond(c, 200, "", testbed.LinksPage(pages))
			case err != nil:
				testbed.Respond(c, 200, "", "<p>"+wordOf(h, path))
			case n >= late:
				testbed.Respond(c, 200, "", fmt.Sprintf("<p>the same text as ever<a href=/news/%d>", n))
			default:
				testbed.Respond(c, 200, "", "<p>the same text as ever")
			}
		}
	}
	return s
}

// wordOf is a word of letters that no other page has: its address and numbers would be no new text.
func wordOf(host int, path string) string {
	return "word" + strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return r - '0' + 'a'
		}
		return -1
	}, fmt.Sprint(host, path))
}

// Delayed URLs move with their site, once when an agent joins and once when an agent leaves. None is lost or fetched
// twice, and the new owner fetches the URLs that it finds on the site before them.
func TestAgents_delayedURLsMoveWithTheirSite(t *testing.T) {
	const hosts, pages, late = 8, 260, 220
	synctest.Test(t, func(t *testing.T) {
		s := similarHosts(hosts, pages, late)
		b := newScriptedCluster(t, s, 3)
		b.least = 2
		slow := b.change
		b.change = func(agent string, c *engine.Config, seams *engine.Seams) {
			slow(agent, c, seams)
			c.Workers.SiteItems = 8
		}
		first := b.start(t.Context(), b.names[0])
		second := b.start(t.Context(), b.names[1])
		time.Sleep(10 * time.Minute)
		delayed := first.report().NoveltyDelayed + second.report().NoveltyDelayed
		b.start(t.Context(), b.names[2])
		time.Sleep(3 * time.Minute)
		first.mustLeave(t)
		b.wait()
		s.Done.Wait()
		moved := 0
		for host := range s.Hosts {
			if movedWithDelayed(t, s, host, pages, pages-late) {
				moved++
			}
		}
		t.Logf("%d URLs were delayed before the third agent joined; %d hosts moved", delayed, moved)
		if delayed < hosts*pages/3 || moved < hosts/3 {
			t.Errorf("%d URLs were delayed, %d hosts moved: the test checks nothing", delayed, moved)
		}
	})
}

// movedWithDelayed compares the requests to a host with its pages, and says whether several agents made them.
func movedWithDelayed(t *testing.T, s *testbed.ScriptedHosts, host string, pages, news int) bool {
	t.Helper()
	times, at, by := map[string]int{}, map[string]int{}, map[string]int{}
	asked := s.Pages(host)
	for i, a := range asked {
		times[a.Path]++
		at[a.Path] = i
		by[a.Agent]++
	}
	if len(asked) != 1+pages+news || len(times) != len(asked) {
		t.Errorf("%s: %d pages of %d in %d requests", host, len(times), 1+pages+news, len(asked))
	}
	const soon = 8 // pages: two delayed ones that are in memory, and what the sieve holds back meanwhile
	for path, i := range at {
		if number, isNews := strings.CutPrefix(path, "/news/"); isNews && i-at["/"+number] > soon {
			t.Errorf("%s%s was fetched %d pages after its link, behind delayed ones", host, path, i-at["/"+number])
		}
	}
	return len(by) > 1
}
