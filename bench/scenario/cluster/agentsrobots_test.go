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
	"orbweaver/engine/lifecycle"
)

// redirected are hosts whose robots.txt is a file of another host, which takes a while to answer.
func redirected(takes time.Duration, hosts ...int) *testbed.ScriptedHosts {
	s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{}, Counts: map[string]int{}}
	for _, i := range hosts {
		file := fmt.Sprintf("http://rules%d.test/of.txt", i)
		s.Hosts[fmt.Sprintf("waits%d.test", i)] = testbed.HostWithRobots(0, testbed.AlwaysRespond(302, "Location: "+file+"\r\n", ""))
		s.Hosts[fmt.Sprintf("rules%d.test", i)] = func(_ string, _ int, c net.Conn) {
			time.Sleep(takes)
			testbed.Respond(c, 200, "", "User-agent: *\nDisallow:\n")
		}
	}
	return s
}

// crawlRedirected has two agents crawl them to the end, and wants each host's page asked for.
func crawlRedirected(t *testing.T, s *testbed.ScriptedHosts, change func(b *band)) {
	t.Helper()
	b := among(t, s, 2)
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
			t.Errorf("%s is asked for %d pages", host, len(s.Pages(host)))
		}
	}
	for _, name := range b.names {
		if r := b.reports[name]; r.State != lifecycle.Finished || r.Reason != "complete" {
			t.Errorf("%s: %s (%s)", name, r.State, r.Reason)
		}
	}
}

// A site that waits for what another agent asks for goes on when that has said what came of it, though nothing else
// happens any more.
func TestAgents_robotsFromAnotherAgentComeLast(t *testing.T) {
	for i := range 6 { // some are of two agents
		synctest.Test(t, func(t *testing.T) { crawlRedirected(t, redirected(20*time.Second, i), func(*band) {}) })
	}
}

// What came of it may go astray when agents do not agree on who is there: then it is asked for again.
func TestAgents_robotsFromAnotherAgentGetLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := 0
		crawlRedirected(t, redirected(time.Second, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9), func(b *band) {
			var mu sync.Mutex
			b.hub.eats = func(letter []byte) bool {
				mu.Lock()
				defer mu.Unlock()
				for item := range items(letter) {
					if item[0] != 'V' || lost >= 4 {
						return false
					}
				}
				lost++
				return true
			}
		})
		if lost == 0 {
			t.Error("nothing was lost")
		}
	})
}
