package crawl

import (
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/workers/parsers"
)

// Bodies that are too long for memory take long to store. Other pages are stored meanwhile, also if as many long ones
// wait as there are parse workers.
func TestLongBodies_otherPagesDoNotWaitForThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const long, short = 5, 60
		hosts := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{}}
		for i := range long {
			body := strings.Repeat("a long page ", 3<<20/12)
			hosts.Hosts[fmt.Sprintf("long%d.test", i)] = func(path string, _ int, c net.Conn) {
				if path == "/robots.txt" {
					testbed.Respond(c, 404, "", "")
					return
				}
				testbed.Respond(c, 200, "", path+body)
			}
		}
		hosts.Hosts["short.test"] = testbed.HostWithRobots(short-1, testbed.AlwaysRespond(404, "", ""))
		var seen atomic.Int64
		allSeen := make(chan struct{})
		hosts.OnPage = func(p *parsers.SeenPage) {
			if !strings.Contains(p.URL, "long") {
				if seen.Add(1) == short {
					close(allSeen)
				}
				return
			}
			select {
			case <-allSeen:
			case <-time.After(time.Hour):
				t.Errorf("%s is stored for an hour: %d of %d other pages are stored", p.URL, seen.Load(), short)
			}
		}
		r, _ := hosts.Crawl(t, func(c *engine.Config) { c.Workers.Parsers = 2 })
		if r.Outcomes["ok"] != long+short {
			t.Errorf("%v, want %d pages", r.Outcomes, long+short)
		}
	})
}
