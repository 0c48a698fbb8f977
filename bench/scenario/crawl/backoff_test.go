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
)

// sharing makes so many hosts on one address, each with so many pages; in trouble, a host answers its pages as bad
// does.
func sharing(hosts, pages int, inTrouble func(host int) bool, bad func(c net.Conn)) *testbed.ScriptedHosts {
	s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{}, SharedAddress: map[string]string{}}
	for i := range hosts {
		name := fmt.Sprintf("h%02d.test", i)
		well := testbed.HostWithRobots(pages, testbed.AlwaysRespond(404, "", ""))
		s.SharedAddress[name] = "h00.test"
		s.Hosts[name] = func(path string, n int, c net.Conn) {
			if path != "/robots.txt" && inTrouble(i) {
				bad(c)
				return
			}
			well(path, n, c)
		}
	}
	return s
}

// paceIn is the mean time between two requests, to whatever host, in a part of the crawl.
func paceIn(s *testbed.ScriptedHosts, start time.Time, from, to time.Duration) time.Duration {
	var first, last time.Time
	n := 0
	for _, a := range s.Requests {
		if at := a.At.Sub(start); at < from || at > to {
			continue
		}
		if n++; n == 1 {
			first = a.At
		}
		last = a.At
	}
	return last.Sub(first) / time.Duration(max(n-1, 1))
}

// A site cuts each of its pages, at the same place each time. That is not an outage: the third equal cut is final, and
// its links count. Later pages have their three tries, and no wait but the delays.
func TestConstantFault_aSiteThatCutsAllItsPagesIsCrawled(t *testing.T) {
	for name, head := range map[string]string{
		"chunked": "Transfer-Encoding: chunked", "too long a length": "Content-Length: 100000",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const pages = 20
				s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
					testbed.FirstHost: func(path string, n int, c net.Conn) {
						if path == "/robots.txt" {
							testbed.Respond(c, 404, "", "")
							return
						}
						body := "<p>" + path
						if path == "/" {
							body = testbed.LinksPage(pages)
						}
						if name == "chunked" {
							body = fmt.Sprintf("%x\r\n%s\r\n", len(body), body)
						}
						fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n%s\r\n\r\n%s", head, body)
					},
				}}
				began := time.Now()
				r, _ := s.Crawl(t, testbed.NoChange)
				asked := s.Pages(testbed.FirstHost)
				if n := len(asked); n > 3*(pages+1)+1 || r.Outcomes["truncated-disconnect"] != pages+1 {
					t.Errorf("%d requests for %d pages: %v", n, pages+1, r.Outcomes)
				}
				if took := asked[len(asked)-1].At.Sub(began); took > 10*time.Minute {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// A page answers with a status that passes, or that does not belong to the request: first once, then always. It is
// asked for again, and has an outcome of its own in the end.
func TestStatus_thatPassesOrWasNotAskedForIsTriedAgain(t *testing.T) {
	for status, name := range map[int]string{
		408: "transient-error", 425: "transient-error",
		304: "unasked-status", 206: "unasked-status", 416: "unasked-status",
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
					testbed.FirstHost: func(path string, n int, c net.Conn) {
						if path == "/0" && n == 0 || path == "/1" {
							fmt.Fprintf(c, "HTTP/1.1 %d x\r\nContent-Length: 0\r\n\r\n", status)
							return
						}
						testbed.HostWithRobots(5, testbed.AlwaysRespond(404, "", ""))(path, n, c)
					},
				}}
				r, _ := s.Crawl(t, testbed.NoChange)
				asked := map[string]int{}
				for _, page := range s.Pages(testbed.FirstHost) {
					asked[page.Path]++
				}
				if r.Outcomes["ok"] != 5 || r.Outcomes[name] != 1 || asked["/0"] != 2 ||
					asked["/1"] < 3 || asked["/1"] > 5 { // a failure beside another one does not count
					t.Errorf("%d and %d requests: %v", asked["/0"], asked["/1"], r.Outcomes)
				}
			})
		})
	}
}

// Each page of a site answers 304, though nothing was known of it. That is not an outage.
func TestConstantFault_aSiteThatAlwaysAnswers304Ends(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
			testbed.FirstHost: hostOf(func(_ int, c net.Conn) { fmt.Fprint(c, "HTTP/1.1 304 Not Modified\r\n\r\n") }),
			"two.test":        testbed.HostWithRobots(5, testbed.AlwaysRespond(404, "", "")),
		}}
		r, _ := s.Crawl(t, testbed.NoChange)
		if n := len(s.Pages(testbed.FirstHost)); n > 4 || r.Outcomes["unasked-status"] != 1 {
			t.Errorf("%d requests: %v", n, r.Outcomes)
		}
	})
}

// Forty hosts share an address. For ten minutes all of them are in trouble, in one way or another: the address as a
// whole is asked ever more slowly, once a minute in the end. Then they are well, and step by step it is asked as it was
// before.
func TestBackOff_anAddressWhoseHostsFailIsAskedSlowlyUntilTheyAreWell(t *testing.T) {
	for name, bad := range map[string]func(c net.Conn){
		"503":   func(c net.Conn) { testbed.Respond(c, 503, "", "") },
		"429":   func(c net.Conn) { testbed.Respond(c, 429, "Retry-After: 1\r\n", "") },
		"reset": func(net.Conn) {},
		"hangs": func(net.Conn) { <-time.After(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				since := func() time.Duration { return time.Since(start) }
				s := sharing(40, 40, func(int) bool { return since() > 2*time.Minute && since() < 12*time.Minute }, bad)
				r, _ := s.Crawl(t, func(c *engine.Config) { c.Limits.StallWait = 24 * time.Hour })
				before, amid := paceIn(s, start, 0, 2*time.Minute), paceIn(s, start, 7*time.Minute, 12*time.Minute)
				after := paceIn(s, start, 20*time.Minute, 23*time.Minute)
				t.Logf("a request every %v before, %v amid the trouble, %v later; %d slowed", before, amid, after, r.IPsSlowed)
				if before > 600*time.Millisecond || amid < 20*time.Second || after == 0 || after > 700*time.Millisecond {
					t.Errorf("a request every %v before, %v amid the trouble, %v after", before, amid, after)
				}
				if r.IPsSlowed == 0 {
					t.Error("the report knows nothing of it")
				}
			})
		})
	}
}

// One host of forty is always in trouble. That is its own affair: the others are asked as before.
func TestBackOff_oneHostInTroubleSlowsDownNobodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		s := sharing(40, 20, func(host int) bool { return host == 7 }, func(c net.Conn) { testbed.Respond(c, 503, "", "") })
		r, _ := s.Crawl(t, func(c *engine.Config) { c.Limits.StallWait = 24 * time.Hour })
		if pace := paceIn(s, start, 0, 6*time.Minute); pace > 600*time.Millisecond || r.IPsSlowed > 0 {
			t.Errorf("a request every %v, slowed %d times", pace, r.IPsSlowed)
		}
	})
}

// A host that bears a request every 30 seconds, and says 429 to those that come sooner, without a word on how long to
// wait, is soon asked at about that pace, and all of it is fetched.
func TestBackOff_findsThePaceThatAHostBears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		last := time.Time{}
		refused := 0
		well := testbed.HostWithRobots(60, testbed.AlwaysRespond(404, "", ""))
		s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{testbed.FirstHost: func(path string, n int,
			c net.Conn) {
			soon := time.Since(last) < 30*time.Second
			last = time.Now()
			if soon && path != "/robots.txt" {
				refused++
				testbed.Respond(c, 429, "", "")
				return
			}
			well(path, n, c)
		}}}
		r, _ := s.Crawl(t, func(c *engine.Config) { c.Limits.StallWait = 24 * time.Hour })
		if r.Outcomes["ok"] != 61 || refused < 3 || refused > 20 {
			t.Errorf("%d requests were too many: %v", refused, r.Outcomes)
		}
	})
}

// The same crawl of the same answers waits as long again: what looks random comes of the crawl's seed. (Two crawls
// differ in theirs, so the jitter of hosts that fail at one time does.)
func TestBackOff_hostsThatFailTogetherDoNotComeBackTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{}}
		for i := range 50 {
			s.Hosts[fmt.Sprintf("h%02d.test", i)] = testbed.HostWithRobots(0,
				testbed.AlwaysRespond(429, "Retry-After: 600\r\n", ""))
		}
		s.Crawl(t, func(c *engine.Config) { c.Workers.Fetchers = 64 })
		second := map[time.Time]int{}
		for host := range s.Hosts {
			if files := s.Files(host); len(files) > 1 {
				gap := files[1].At.Sub(files[0].End)
				if gap < 10*time.Minute || gap > 12*time.Minute+31*time.Second {
					t.Errorf("%s is asked again after %v", host, gap)
				}
				second[files[1].At.Truncate(time.Second)]++
			}
		}
		if len(second) < 25 {
			t.Errorf("50 hosts that asked for ten minutes are asked again in %d different seconds", len(second))
		}
	})
}

// A Retry-After of years, seconds without number, or the past: what is kept is between nothing and a day, the page
// comes in the end, and the log and the report tell of it.
func TestHostile_H30_anAbsurdRetryAfterIsClampedCountedAndLogged(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"Fri, 31 Dec 9999 23:59:59 GMT": 24 * time.Hour, "1000000000": 24 * time.Hour, "-1": 10 * time.Second,
		"1\r\nRetry-After: 999999": 24 * time.Hour, "Thu, 01 Jan 1970 00:00:00 GMT": 10 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			well := testbed.HostWithRobots(0, testbed.AlwaysRespond(404, "", ""))
			s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{testbed.FirstHost: func(path string, n int,
				c net.Conn) {
				if path == "/" && n == 0 {
					testbed.Respond(c, 503, "Retry-After: "+value+"\r\n", "")
					return
				}
				well(path, n, c)
			}}}
			r, said := s.Crawl(t, func(c *engine.Config) {
				c.Limits.StallWait = 25 * time.Hour
				c.Intervals.Sync, c.Intervals.Report, c.Intervals.Checkpoint = time.Minute, time.Hour, time.Hour
			})
			pages := s.Pages(testbed.FirstHost)
			if len(pages) != 2 || r.Outcomes["ok"] != 1 {
				t.Fatalf("%q: %v, %v", value, pages, r.Outcomes)
			}
			if gap := pages[1].At.Sub(pages[0].End); gap < want || gap > min(want*5/4, 24*time.Hour+10*time.Second) {
				t.Errorf("%q: asked again after %v", value, gap)
			}
			if r.RetryClamped != 1 || strings.Count(said, "a Retry-After is out of range") != 1 {
				t.Errorf("%q: %d were clamped; the log:\n%s", value, r.RetryClamped, said)
			}
		})
	}
}
