package cluster

import (
	"context"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/state/lifecycle"
)

// redirected are hosts whose robots.txt redirects to another host, which takes a while to answer.
func redirected(takes time.Duration, hosts ...int) *testbed.ScriptedHosts {
	s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{}, Counts: map[string]int{}}
	for _, i := range hosts {
		file := fmt.Sprintf("http://rules%d.test/of.txt", i)
		redirect := testbed.AlwaysRespond(302, "Location: "+file+"\r\n", "")
		s.Hosts[fmt.Sprintf("waits%d.test", i)] = testbed.HostWithRobots(0, redirect)
		s.Hosts[fmt.Sprintf("rules%d.test", i)] = func(_ string, _ int, c net.Conn) {
			time.Sleep(takes)
			testbed.Respond(c, 200, "", "User-agent: *\nDisallow:\n")
		}
	}
	return s
}

// crawlRedirected lets two agents crawl the hosts to the end, and wants the page of each host to be fetched.
func crawlRedirected(t *testing.T, s *testbed.ScriptedHosts, change func(b *testCluster)) {
	t.Helper()
	b := newScriptedCluster(t, s, 2)
	b.rig.Seeds = slices.DeleteFunc(b.rig.Seeds, func(url string) bool { return url[len("http://")] != 'w' })
	change(b)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
	defer cancel()
	for _, name := range b.names {
		b.start(ctx, name)
	}
	b.wait()
	s.Done.Wait()
	for host := range s.Hosts {
		if host[0] == 'w' && len(s.Pages(host)) != 1 {
			t.Errorf("%s: %d pages were requested", host, len(s.Pages(host)))
		}
	}
	for _, name := range b.names {
		if r := b.final(name); r.State != lifecycle.Finished || r.Reason != "complete" {
			t.Errorf("%s: %s (%s)", name, r.State, r.Reason)
		}
	}
}

// A site waits for a robots.txt that another agent fetches. It continues when the result arrives, although nothing else
// happens any more.
func TestAgents_aRobotsResultArrivesLast(t *testing.T) {
	for i := range 6 { // some are of two agents
		synctest.Test(t, func(t *testing.T) { crawlRedirected(t, redirected(20*time.Second, i), func(*testCluster) {}) })
	}
}

// The result may be lost while agents have different views. Then the owner of the site asks again.
func TestAgents_aRobotsResultIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := 0
		crawlRedirected(t, redirected(time.Second, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9), func(b *testCluster) {
			var mu sync.Mutex
			b.hub.acknowledgesUnread = func(message []byte) bool {
				mu.Lock()
				defer mu.Unlock()
				for item := range items(message) {
					if item[0] != 'V' || lost >= 4 {
						return false
					}
				}
				lost++
				return true
			}
		})
		if lost == 0 {
			t.Error("no result was lost")
		}
	})
}
