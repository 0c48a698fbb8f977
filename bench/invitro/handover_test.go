package invitro

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

	"orbweaver/bench/simweb"
	"orbweaver/engine"
	"orbweaver/internal/vfs"
)

// slowHosts are hosts with so many pages. A third of them ask for a minute between two requests in their robots.txt, a third, when they are
// asked for the fifth page, to be left alone for five minutes, and the others for nothing.
func slowHosts(hosts, pages int) *strangers {
	s := &strangers{hosts: map[string]stranger{}, counts: map[string]int{}}
	for h := range hosts {
		robots := "User-agent: *\nDisallow: /secret\n"
		if h%3 == 0 {
			robots += "Crawl-delay: 60\n"
		}
		s.hosts[fmt.Sprintf("h%d.test", h)] = func(path string, n int, c net.Conn) {
			switch {
			case path == "/robots.txt":
				reply(c, 200, "", robots)
			case path == "/":
				reply(c, 200, "", links(pages))
			case path == "/4" && n == 0 && h%3 == 1:
				reply(c, 503, "Retry-After: 300\r\n", "later")
			default:
				reply(c, 200, "", "<p>"+path)
			}
		}
	}
	return s
}

// among makes a band of agents of whom each crawls all of the strangers.
func (s *strangers) among(t *testing.T, agents int) *band {
	b := newBand(t, smallWorld(1, simweb.Plain()), agents)
	b.rig.Seeds = nil
	for _, host := range slices.Sorted(maps.Keys(s.hosts)) {
		b.rig.Seeds = append(b.rig.Seeds, "http://"+host+"/")
	}
	b.alter = func(agent string, c *engine.Config, seams *engine.Seams) {
		c.ProxyMode, c.Fetch.Proxy = false, nil
		c.SyncEvery, c.ReportEvery, c.Checkpoint = time.Second, time.Minute, 5*time.Minute
		seams.Dialer, seams.Resolver = seenBy{s, agent}, s
		seams.Allowed = func(netip.AddrPort) error { return nil }
	}
	return b
}

// kept says what was not kept of what slowHosts ask for, how many of them were asked by several agents, and how many by another within ten
// seconds.
func (s *strangers) kept(t *testing.T, pages int) (moved, quick int) {
	t.Helper()
	for host := range s.hosts {
		var all []asking
		by := map[string]int{}
		for _, a := range s.asked {
			if a.host == host {
				all = append(all, a)
				by[a.by]++
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
			if answered[a.path]++; i == 0 {
				continue
			}
			want := least
			if all[i-1].path == "/4" && number%3 == 1 && answered["/4"] == 1 {
				want = 5 * time.Minute
			}
			gap := a.at.Sub(all[i-1].end)
			if a.by != all[i-1].by && gap < 10*time.Second {
				quick++
			}
			if gap < want {
				t.Errorf("%s: %s by %s came %v after %s by %s, want %v", host, a.path, a.by, gap, all[i-1].path, all[i-1].by, want)
			}
		}
		for path, n := range answered {
			want := 1
			if path == "/4" && number%3 == 1 {
				want = 2
			}
			if n != want {
				t.Errorf("%s%s was asked for %d times: %v", host, path, n, by)
			}
		}
		if len(answered) != pages+2 {
			t.Errorf("%s: %d pages of %d", host, len(answered)-2, pages)
		}
	}
	return moved, quick
}

// A host that changes hands since an agent comes takes its clocks and its rules along: neither a Crawl-delay nor a Retry-After is cut short,
// and nobody asks for robots.txt a second time. Its queue comes at once, what is on disk of it too, and not as it becomes due.
func TestAgents_aHostMovesWithClocksRulesAndQueue(t *testing.T) {
	for _, items := range []int{64, 4} { // of a site in memory
		t.Run(fmt.Sprint(items, " items in memory"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const pages = 40
				s := slowHosts(40, pages)
				b := s.among(t, 3)
				b.least = 2
				slow := b.alter
				b.alter = func(agent string, c *engine.Config, seams *engine.Seams) {
					slow(agent, c, seams)
					c.Rooms.SiteItems = items
					if agent == b.names[2] { // the others it hears of when it is told of their clocks
						c.Seeds = Seeds(b.rig.Seeds[:1])
					}
				}
				for _, name := range b.names[:2] {
					b.start(t.Context(), name)
				}
				time.Sleep(75 * time.Second)
				late := b.start(t.Context(), b.names[2])
				time.Sleep(15 * time.Second)
				got := late.report().URLsAdmitted
				b.wait()
				s.done.Wait()
				moved, quick := s.kept(t, pages)
				t.Logf("%d hosts changed hands, %d of them without a rest; %d letters; %d URLs came at once", moved, quick, b.hub.letters, got)
				if all := b.reports[late.name].URLsAdmitted; moved < 5 || quick == 0 || got != all {
					t.Errorf("%d hosts changed hands, %d without a rest; %d URLs of %d came at once", moved, quick, got, all)
				}
			})
		})
	}
}

// So it is when the one that gets the host is killed as soon as it has it, and when it is stopped and another takes its place.
func TestAgents_whatCameWithAHostSurvives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slowHosts(60, 12)
		b := s.among(t, 3)
		b.least = 2
		for _, name := range b.names[:2] {
			b.start(t.Context(), name)
		}
		time.Sleep(75 * time.Second)
		late := b.start(t.Context(), b.names[2])
		time.Sleep(5 * time.Second)
		rng := rand.New(rand.NewPCG(*firstSeed, 5))
		late.kill(func(disk *vfs.Mem) *vfs.Mem { return disk.CrashClone(rng) })
		b.start(t.Context(), b.names[2])
		b.wait()
		s.done.Wait()
		if moved, _ := s.kept(t, 12); moved < 5 {
			t.Errorf("%d hosts changed hands", moved)
		}
	})
}

// An agent of the former version is told of URLs alone, loses none, and learns the rest anew.
func TestAgents_anAgentOfTheFormerVersionGetsURLsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBand(t, smallWorld(*firstSeed+790, simweb.Plain()), 3)
		b.least = 2
		for _, name := range b.names[:2] {
			b.start(t.Context(), name)
		}
		time.Sleep(20 * time.Second)
		late := b.start(t.Context(), b.names[2])
		late.desk.former = true
		b.wait()
		v := b.judge()
		if v.Coverage != 1 || v.Overlap != 0 || v.HostGapViolations+v.HostConcurrency > 0 || b.pages(late.name) == 0 {
			v.Print(t.Output())
			t.Errorf("the oracle complains; the late one has %d pages", b.pages(late.name))
		}
	})
}
