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
	"orbweaver/engine/operate/report"
)

// A page of the honest host asks to be left alone for a day, and another host links to it. The honest host waits for
// its usual back-off and is asked for its root page as a proof, for each try of the page. It does not wait for a day.
func TestHostile_X08_aPageThatAsksForADayDoesNotStopItsSite(t *testing.T) {
	for name, busy := range testbed.SampleMap(map[string]func(int, net.Conn){
		"503 for a day": testbed.AlwaysRespond(503, "Retry-After: 86400\r\n", ""),
		"429 for a day": testbed.AlwaysRespond(429, "Retry-After: 86400\r\n", ""),
		"a date":        testbed.AlwaysRespond(503, "Retry-After: Wed, 21 Oct 2099 07:28:00 GMT\r\n", ""),
	}) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				link := fmt.Sprintf("<a href=http://%s/busy>x</a>", testbed.FirstHost)
				s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
					testbed.FirstHost: honestHost(map[string]func(n int, c net.Conn){"/busy": busy}),
					"evil.test":       hostOf(testbed.AlwaysRespond(200, "", link)),
				}}
				r, _ := s.Crawl(t, func(c *engine.Config) { c.Limits.StallWait = 36 * time.Hour })
				if took := crawlTime(t, s, r) - aloneTime; took > 80*time.Second {
					t.Errorf("the honest host took %v longer, for a page that asked for a day", took)
				}
			})
		})
	}
}

// When nothing but the page is left, it is asked for again when it said, and it is fetched.
func TestHostile_X08_thePageIsAskedForWhenItSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
			testbed.FirstHost: func(path string, n int, c net.Conn) {
				if path == "/1" && time.Since(began) < 2*time.Hour {
					testbed.Respond(c, 503, "Retry-After: 7200\r\n", "")
					return
				}
				testbed.HostWithRobots(3, testbed.AlwaysRespond(404, "", ""))(path, n, c)
			},
		}}
		r, _ := s.Crawl(t, func(c *engine.Config) { c.Limits.StallWait = 36 * time.Hour })
		early := 0
		for _, page := range s.Pages(testbed.FirstHost) {
			if page.Path == "/1" && page.At.Sub(began) < 2*time.Hour {
				early++
			}
		}
		if r.Outcomes["ok"] != 4 || early > 2 {
			t.Errorf("%d requests before the time that the page named: %v", early, r.Outcomes)
		}
	})
}

// A site that is busy as a whole asks for an hour of rest. Its root page says the same, and it is left alone.
func TestHostile_X08_aSiteThatIsBusyIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
			testbed.FirstHost: func(path string, n int, c net.Conn) {
				if now := time.Since(began); path != "/robots.txt" && now > time.Minute && now < 5*time.Hour {
					testbed.Respond(c, 429, "Retry-After: 18000\r\n", "")
					return
				}
				honestHost(nil)(path, n, c)
			},
		}}
		r, _ := s.Crawl(t, func(c *engine.Config) { c.Limits.StallWait = 36 * time.Hour })
		crawlTime(t, s, r)
		busy := 0
		for _, page := range s.Pages(testbed.FirstHost) {
			if at := page.At.Sub(began); at > time.Minute && at < 5*time.Hour {
				busy++
			}
		}
		if busy > 2 {
			t.Errorf("%d requests while the site asked to be left alone, want that of a page and that of the root", busy)
		}
	})
}

// hostOf is a host that has no robots.txt and responds in the same way at all other paths.
func hostOf(respond func(n int, c net.Conn)) testbed.Responder {
	return func(path string, n int, c net.Conn) {
		if path == "/robots.txt" {
			testbed.Respond(c, 404, "", "")
			return
		}
		respond(n, c)
	}
}

// A site sends bodies of 64 MiB as fast as the limit of bandwidth allows, for as long as the crawl runs. The honest
// host has the other half of what there is, and needs less.
func TestHostile_X09_hugeBodiesLeaveTheBandwidthToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		huge := strings.Repeat("w", 1<<20)
		s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
			testbed.FirstHost: honestHost(nil),
			"evil.test": func(path string, _ int, c net.Conn) {
				if path == "/robots.txt" {
					testbed.Respond(c, 404, "", "")
					return
				}
				fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 67108864\r\n\r\n")
				for range 64 {
					if _, err := c.Write([]byte(huge)); err != nil {
						return
					}
				}
			},
		}}
		r, _ := s.Crawl(t, func(c *engine.Config) { c.Limits.Bandwidth.Total = 64 << 10 })
		wantTurns(t, s, r, 1)
	})
}

// Five hundred names of a hostile domain have the address of the honest host, which answers them as servers do. Each
// request costs a turn of the address, which is the bound; --max-hosts-per-ip limits their number.
func TestHostile_X05_namesThatPointAtAnAddressShareItsTurns(t *testing.T) {
	const names = 500
	synctest.Test(t, func(t *testing.T) {
		s := &testbed.ScriptedHosts{
			Hosts:         map[string]testbed.Responder{testbed.FirstHost: honestHost(nil)},
			SharedAddress: map[string]string{},
		}
		for i := range names {
			name := fmt.Sprintf("n%d.evil.test", i)
			s.Hosts[name] = testbed.HostWithRobots(0, testbed.AlwaysRespond(404, "", ""))
			s.SharedAddress[name] = testbed.FirstHost
		}
		r, _ := s.Crawl(t, testbed.NoChange)
		const ipDelay, requests = 500 * time.Millisecond, 2 // robots.txt and the root page of each
		if took := crawlTime(t, s, r) - aloneTime; took > names*requests*ipDelay+aDelay {
			t.Errorf("the honest host took %v longer, and each request of another name should cost an --ip-delay", took)
		}
	})
}

// wantTurns checks that the honest host was served as if it were alone from the time when its first page was asked for,
// except for so many requests.
func wantTurns(t *testing.T, s *testbed.ScriptedHosts, r report.Report, requests int) {
	t.Helper()
	total := crawlTime(t, s, r)
	pages := s.Pages(testbed.FirstHost)
	took := pages[len(pages)-1].At.Sub(pages[0].At)
	if most := aloneTime + time.Duration(requests-1)*aDelay + time.Second; took > most {
		t.Errorf("the honest host took %v, and should take at most %v; outcomes %v", took, most, r.Outcomes)
	}
	if wait := total - took; wait > 5*time.Minute { // for a worker in the share of new hosts, as do 100 others
		t.Errorf("the honest host waited %v for its first page", wait)
	}
}
