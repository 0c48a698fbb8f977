package cluster

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
)

// slowHosts are hosts with so many pages. A third of them have a Crawl-delay of a minute. A third answer the fifth page
// with a Retry-After of five minutes.
func slowHosts(hosts, pages int) *testbed.ScriptedHosts {
	s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{}, Counts: map[string]int{}}
	for h := range hosts {
		robots := "User-agent: *\nDisallow: /secret\n"
		if h%3 == 0 {
			robots += "Crawl-delay: 60\n"
		}
		s.Hosts[fmt.Sprintf("h%d.test", h)] = func(path string, n int, c net.Conn) {
			switch {
			case path == "/robots.txt":
				testbed.Respond(c, 200, "", robots)
			case path == "/":
				testbed.Respond(c, 200, "", testbed.LinksPage(pages))
			case path == "/4" && n == 0 && h%3 == 1:
				testbed.Respond(c, 503, "Retry-After: 300\r\n", "later")
			default:
				testbed.Respond(c, 200, "", fmt.Sprintf("<p>host %d%s", h, path)) // the same everywhere would be a portal
			}
		}
	}
	return s
}

// newScriptedCluster makes agents that crawl scripted hosts.
func newScriptedCluster(t *testing.T, s *testbed.ScriptedHosts, agents int) *testCluster {
	t.Helper()
	b := newTestCluster(t, testbed.SmallWorld(1, simweb.Plain()), agents)
	b.rig.Seeds = nil
	for _, host := range slices.Sorted(maps.Keys(s.Hosts)) {
		b.rig.Seeds = append(b.rig.Seeds, "http://"+host+"/")
	}
	b.change = func(agent string, c *engine.Config, seams *engine.Seams) {
		c.Fetch.Proxy = nil
		c.Intervals.Sync, c.Intervals.Report, c.Intervals.Checkpoint = time.Second, time.Minute, 5*time.Minute
		seams.Dialer, seams.Resolver = testbed.AgentView{ScriptedHosts: s, Agent: agent}, s
		seams.Allowed = func(netip.AddrPort) error { return nil }
	}
	return b
}

// checkDelays reports violations of the delays of slowHosts, and pages that were not fetched exactly once. moved is how
// many hosts several agents contacted; quick is how often another agent contacted a host within ten seconds.
func checkDelays(t *testing.T, s *testbed.ScriptedHosts, pages int) (moved, quick int) {
	t.Helper()
	for host := range s.Hosts {
		var all []testbed.Request
		by := map[string]int{}
		for _, a := range s.Requests {
			if a.Host == host {
				all = append(all, a)
				by[a.Agent]++
			}
		}
		if len(by) > 1 {
			moved++
		}
		least, answered := 4*time.Second, map[string]int{}
		var number int
		fmt.Sscanf(host, "h%d", &number)
		if number%3 == 0 {
			least = time.Minute
		}
		for i, a := range all {
			if answered[a.Path]++; i == 0 {
				continue
			}
			want := least
			if all[i-1].Path == "/4" && number%3 == 1 && answered["/4"] == 1 {
				want = 5 * time.Minute
			}
			gap := a.At.Sub(all[i-1].End)
			if a.Agent != all[i-1].Agent && gap < 10*time.Second {
				quick++
			}
			if gap < want {
				t.Errorf("%s: %s by %s came %v after %s by %s, want %v",
					host, a.Path, a.Agent, gap, all[i-1].Path, all[i-1].Agent, want)
			}
		}
		for path, n := range answered {
			want := 1
			if path == "/4" && number%3 == 1 {
				want = 2
			}
			if n != want {
				t.Errorf("%s%s was requested %d times: %v", host, path, n, by)
				for _, a := range all {
					t.Logf("%s by %s from %v to %v", a.Path, a.Agent, a.At, a.End)
				}
			}
		}
		if len(answered) != pages+2 {
			t.Errorf("%s: %d pages of %d", host, len(answered)-2, pages)
		}
	}
	return moved, quick
}

// When an agent joins, a host moves to it with its due times and its rules. Crawl-delay and Retry-After are kept, and
// no agent fetches robots.txt a second time. Its whole queue moves at once, also the part on disk.
func TestAgents_aHostMovesWithDueTimesRulesAndQueue(t *testing.T) {
	for _, items := range []int{64, 4} { // of a site in memory
		t.Run(fmt.Sprint(items, " items in memory"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const pages = 40
				s := slowHosts(40, pages)
				b := newScriptedCluster(t, s, 3)
				b.least = 2
				slow := b.change
				b.change = func(agent string, c *engine.Config, seams *engine.Seams) {
					slow(agent, c, seams)
					c.Workers.SiteItems = items
					if agent == b.names[2] { // it learns of the others by their handoff
						c.Seeds = testbed.Seeds(b.rig.Seeds[:1])
					}
				}
				for _, name := range b.names[:2] {
					b.start(t.Context(), name)
				}
				time.Sleep(75 * time.Second)
				late := b.start(t.Context(), b.names[2])
				time.Sleep(15 * time.Second)
				atOnce := late.report().URLsAdmitted
				b.wait()
				s.Done.Wait()
				moved, quick := checkDelays(t, s, pages)
				t.Logf("%d hosts moved, %d of them without a rest; %d messages; %d URLs moved at once",
					moved, quick, b.hub.messages, atOnce)
				if all := b.final(late.name).URLsAdmitted; moved < 5 || quick == 0 || atOnce != all {
					t.Errorf("%d hosts moved, %d without a rest; %d URLs of %d moved at once", moved, quick, atOnce, all)
				}
			})
		})
	}
}

// The due times and the queue of a host survive when its new owner is killed as soon as it has the host.
func TestAgents_aHandoffSurvivesAKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slowHosts(60, 12)
		b := newScriptedCluster(t, s, 3)
		b.least = 2
		for _, name := range b.names[:2] {
			b.start(t.Context(), name)
		}
		time.Sleep(75 * time.Second)
		late := b.start(t.Context(), b.names[2])
		time.Sleep(5 * time.Second)
		rng := rand.New(rand.NewPCG(*testbed.FirstSeed, 5))
		late.kill(func(disk *vfs.Mem) *vfs.Mem { return disk.CrashClone(rng) })
		b.start(t.Context(), b.names[2])
		b.wait()
		s.Done.Wait()
		if moved, _ := checkDelays(t, s, 12); moved < 5 {
			t.Errorf("%d hosts moved", moved)
		}
	})
}

// robotsElsewhere are pairs of hosts: the robots.txt of "here" redirects to "there", which has a Crawl-delay of half a
// minute. That of the first pair cannot be fetched, that of the second redirects to the third.
func robotsElsewhere(pairs int) *testbed.ScriptedHosts {
	s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{}, Counts: map[string]int{}}
	for h := range pairs {
		there := fmt.Sprintf("there%d.test", h)
		redirect := testbed.AlwaysRespond(302, "Location: http://"+there+"/rules\r\n", "")
		s.Hosts[fmt.Sprintf("here%d.test", h)] = testbed.HostWithRobots(6, redirect)
		own := testbed.HostWithRobots(4, testbed.AlwaysRespond(200, "", "User-agent: *\nDisallow: /3\nCrawl-delay: 30\n"))
		s.Hosts[there] = func(path string, n int, c net.Conn) {
			switch {
			case path != "/rules":
				own(path, n, c)
			case h == 0:
				return // which means that nothing is allowed
			case h == 1:
				testbed.Respond(c, 302, "Location: http://there2.test/rules\r\n", "")
			default:
				testbed.Respond(c, 200, "", "User-agent: *\nDisallow: /4\n")
			}
		}
	}
	return s
}

// A robots.txt redirects to a host of another agent. That agent fetches it and keeps the delay of the host. The site
// waits, and obeys the rules. No other agent contacts that host.
func TestAgents_aRobotsFileOnAHostOfAnotherAgent(t *testing.T) {
	for _, killed := range []bool{false, true} {
		t.Run(fmt.Sprint("killed ", killed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const pairs = 20
				s := robotsElsewhere(pairs)
				b := newScriptedCluster(t, s, 3)
				var running []*agent
				for _, name := range b.names {
					running = append(running, b.start(t.Context(), name))
				}
				if killed {
					rng := rand.New(rand.NewPCG(*testbed.FirstSeed, 9))
					for i := range running {
						time.Sleep(time.Duration(rng.Int64N(int64(4 * time.Second))))
						// a power cut could lose a robots.txt that was not synced, and its Crawl-delay
						running[i].kill(testbed.Sigkill)
						time.Sleep(time.Second)
						b.start(t.Context(), running[i].name)
					}
				}
				b.wait()
				s.Done.Wait()
				across := 0
				owner := map[string]string{}
				for _, a := range s.Requests {
					if was, ok := owner[a.Host]; ok && was != a.Agent {
						t.Errorf("%s: %s was requested by %s, and other paths by %s", a.Host, a.Path, a.Agent, was)
					}
					owner[a.Host] = a.Agent
				}
				for h := range pairs {
					here, there := fmt.Sprintf("here%d.test", h), fmt.Sprintf("there%d.test", h)
					if owner[here] != owner[there] {
						across++
					}
					want := 6 // the root and all but /4
					if h == 0 {
						want = 0
					}
					pages := map[string]bool{}
					for _, a := range s.Pages(here) {
						pages[a.Path] = true
					}
					if len(pages) != want || pages["/4"] {
						t.Errorf("%s: %v was requested", here, pages)
					}
					all := append(s.Pages(there), s.Files(there)...)
					slices.SortFunc(all, func(a, b testbed.Request) int { return a.At.Compare(b.At) })
					hasDelay := false
					for i := 1; i < len(all); i++ {
						hasDelay = hasDelay || all[i-1].Path == "/robots.txt"
						if gap := all[i].At.Sub(all[i-1].End); gap < 4*time.Second || hasDelay && gap < 30*time.Second {
							t.Errorf("%s%s was requested %v after %s", there, all[i].Path, gap, all[i-1].Path)
						}
					}
				}
				if across < 5 {
					t.Errorf("%d of %d robots.txt files are on a host of another agent", across, pairs)
				}
			})
		})
	}
}
