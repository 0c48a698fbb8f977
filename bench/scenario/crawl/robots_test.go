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

// slowly is a crawl that takes days for a few hundred pages.
func slowly(c *engine.Config) {
	c.Politeness.HostDelay, c.Limits.StallWait = 10*time.Minute, 6*time.Hour
	c.Intervals.Checkpoint, c.Intervals.Report, c.Intervals.Sync = time.Hour, time.Hour, time.Minute
	c.Workers.SiteItems = 8 // the rest is on disk
}

// A site whose robots.txt cannot be had is not asked for a page: it is asked for the file again, ever later, and then
// given up. (What RFC 9309 lets a crawler do after 30 days, to take the site for one without rules, this one does not
// do: within an hour or two the site is given up, and what was queued for it is counted.)
func TestHostile_B01_withoutAnAnswerNothingIsAllowed(t *testing.T) {
	for name, robots := range map[string]func(n int, c net.Conn){
		"500": testbed.AlwaysRespond(500, "", "sorry"), "503": testbed.AlwaysRespond(503, "", "later"),
		"503 with a wish": testbed.AlwaysRespond(503, "Retry-After: 1\r\n", "later"),
		"reset":           func(_ int, _ net.Conn) {},
		"no answer":       func(_ int, _ net.Conn) { <-time.After(10 * time.Minute) },
		"half a head":     func(_ int, c net.Conn) { fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-") },
		"half a body": func(_ int, c net.Conn) {
			fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\nUser-agent: *\nAllow: /\n")
		},
		"no chunks": func(_ int, c net.Conn) {
			fmt.Fprint(c, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nUser-agent: *\nAllow: /\n")
		},
		"304 without a condition": testbed.AlwaysRespond(304, "", ""),
		"status 600":              testbed.AlwaysRespond(600, "", "User-agent: *\nAllow: /\n"),
		"cut gzip":                testbed.AlwaysRespond(200, "Content-Encoding: gzip\r\n", "\x1f\x8b\x08\x00\x00"),
		"to ftp":                  testbed.AlwaysRespond(302, "Location: ftp://a.test/robots.txt\r\n", ""),
		"no HTTP":                 func(_ int, c net.Conn) { fmt.Fprint(c, "220 smtp.example.org ESMTP\r\n") },
		"to a dead end":           testbed.AlwaysRespond(302, "Location: http://none.test/robots.txt\r\n", ""),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
					testbed.FirstHost: testbed.HostWithRobots(5, robots),
					"well.test":       testbed.HostWithRobots(1, testbed.AlwaysRespond(404, "", "")), // or the crawl ends sooner
				}}
				r, _ := s.Crawl(t, testbed.NoChange)
				if n := len(s.Pages(testbed.FirstHost)); n > 0 || r.Outcomes["robots-unreachable"] != 1 {
					t.Errorf("%d pages were asked for: %v", n, r.Outcomes)
				}
				files := s.Files(testbed.FirstHost)
				if len(files) < 3 || files[len(files)-1].At.Sub(files[0].At) < 30*time.Minute {
					t.Errorf("the file was asked for %d times: %v", len(files), files)
				}
			})
		})
	}
}

// The file could be had once, and never again: its copy serves for 24 hours, and not longer.
func TestHostile_B01_aCopyOf24HoursIsTheLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{testbed.FirstHost: testbed.HostWithRobots(300,
			func(n int, c net.Conn) {
				if n > 0 {
					testbed.Respond(c, 503, "", "")
					return
				}
				testbed.Respond(c, 200, "", "User-agent: *\nDisallow: /13$\n")
			})}}
		r, _ := s.Crawl(t, func(c *engine.Config) {
			slowly(c)
			c.Limits.StallWait = 5 * 24 * time.Hour // it has answered, so its queue is kept for so long
			c.Limits.GiveUp = 24 * time.Hour
		})
		pages, files := s.Pages(testbed.FirstHost), s.Files(testbed.FirstHost)
		had := files[0].At
		if last := pages[len(pages)-1].At.Sub(had); last > 24*time.Hour || last < 22*time.Hour {
			t.Errorf("the last page was asked for %v after the file", last)
		}
		if again := files[1].At.Sub(had); again < 21*time.Hour || again > 23*time.Hour || len(files) < 10 {
			t.Errorf("the file was asked for %d times, %v after the first again", len(files), again)
		}
		if r.Outcomes["given-up"] < 100 || r.URLsQueued != 0 {
			t.Errorf("%v", r.Outcomes)
		}
	})
}

// A server that is down for an hour when the copy must be renewed costs nothing.
func TestHostile_B01_anHourWithoutAnAnswerIsBridgedByTheCopy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{testbed.FirstHost: testbed.HostWithRobots(200,
			func(_ int, c net.Conn) {
				if h := time.Since(start).Hours(); h > 21.5 && h < 23 {
					testbed.Respond(c, 500, "", "")
					return
				}
				testbed.Respond(c, 200, "", "User-agent: *\nDisallow: /13$\n")
			})}}
		r, _ := s.Crawl(t, slowly)
		if n := len(s.Pages(testbed.FirstHost)); n != 200 || r.Outcomes["ok"] != 200 || r.Outcomes["robots-denied"] != 1 {
			t.Errorf("%d pages were asked for: %v", n, r.Outcomes)
		}
	})
}

// Most of 4xx says that there are no rules. 408, 425 and 429 do not: they are about the request, so the file counts as
// unreachable.
func TestHostile_B02_noFileAllowsAllAndTooManyRequestsAllowNothing(t *testing.T) {
	for _, status := range []int{400, 401, 403, 404, 410, 418, 451, 408, 425, 429} {
		synctest.Test(t, func(t *testing.T) {
			s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{testbed.FirstHost: testbed.HostWithRobots(5,
				testbed.AlwaysRespond(status, "", "User-agent: *\nDisallow: /\n"))}}
			r, _ := s.Crawl(t, testbed.NoChange)
			passing := status == 408 || status == 425 || status == 429
			if n := len(s.Pages(testbed.FirstHost)); passing != (n == 0) || !passing && r.Outcomes["ok"] != 6 {
				t.Errorf("%d: %d pages were asked for: %v", status, n, r.Outcomes)
			}
			if passing && r.Outcomes["robots-unreachable"] != 1 {
				t.Errorf("%v", r.Outcomes)
			}
		})
	}
}

// Up to five redirects are followed, to whatever host, and what comes then are the rules of the host that was asked
// first, and of no other. A sixth says that there are none.
func TestHostile_B03_fiveRedirectsAreFollowedAndTheRulesAreThoseOfTheFirst(t *testing.T) {
	for _, across := range []bool{false, true} {
		for hops := 1; hops <= 7; hops++ {
			t.Run(fmt.Sprintf("%d hops, across hosts %v", hops, across), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{}}
					chain := func(host int) testbed.Responder {
						return func(path string, _ int, c net.Conn) {
							at := 0
							if _, err := fmt.Sscanf(path, "/hop%d.txt", &at); err != nil && path != "/robots.txt" {
								testbed.Respond(c, 200, "", "<a href=/no>no</a><a href=/yes>yes</a>")
								return
							}
							switch {
							case path == "/robots.txt" && host != 0:
								testbed.Respond(c, 404, "", "")
							case at == hops:
								testbed.Respond(c, 200, "", "User-agent: *\nDisallow: /no\n")
							case across:
								testbed.Respond(c, 302, fmt.Sprintf("Location: http://h%d.test/hop%d.txt\r\n", (at+1)%3, at+1), "")
							default:
								testbed.Respond(c, 301, fmt.Sprintf("Location: /hop%d.txt\r\n", at+1), "")
							}
						}
					}
					for host := range 3 {
						s.Hosts[fmt.Sprintf("h%d.test", host)] = chain(host)
					}
					r, _ := s.Crawl(t, testbed.NoChange)
					denied := int64(0)
					if hops <= 5 {
						denied = 1
					}
					if r.Outcomes["robots-denied"] != denied || r.Outcomes["ok"] != 9-denied {
						t.Errorf("%v", r.Outcomes)
					}
				})
			})
		}
	}
}

// A robots.txt without an end: 500 KiB of it are read, the rules in them hold, and the rest is never taken off the
// wire.
func TestHostile_B04_ofAnEndlessFileTheFirst500KiBHold(t *testing.T) {
	for _, head := range []string{"Content-Length: 1073741824\r\n", "", "Transfer-Encoding: chunked\r\n"} {
		synctest.Test(t, func(t *testing.T) {
			sent := 0
			s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{testbed.FirstHost: testbed.HostWithRobots(3,
				func(_ int, c net.Conn) {
					const rules = "User-agent: *\nDisallow: /0\n"
					block := strings.Repeat("# "+strings.Repeat("x", 61)+"\n", 256)
					chunk := func(s string) string {
						if strings.HasPrefix(head, "Transfer") {
							return fmt.Sprintf("%x\r\n%s\r\n", len(s), s)
						}
						return s
					}
					fmt.Fprintf(c, "HTTP/1.1 200 OK\r\n%s\r\n%s", head, chunk(rules))
					for sent = len(rules); sent < 1<<30; sent += len(block) {
						if sent > 600<<10 {
							block = "Disallow: /\n"
						}
						if _, err := fmt.Fprint(c, chunk(block)); err != nil {
							return
						}
					}
				})}}
			r, _ := s.Crawl(t, testbed.NoChange)
			if r.Outcomes["robots-denied"] != 1 || r.Outcomes["ok"] != 3 {
				t.Errorf("%q: %v", head, r.Outcomes)
			}
			if sent > 700<<10 {
				t.Errorf("%q: %d bytes were taken", head, sent)
			}
		})
	}
}

// A delay that is no number, or none, or below nothing, leaves ours; a longer one than ours is kept, up to the cap, and
// the log says whose was above it. Of two groups for us the longer counts.
func TestHostile_B08_theLongerDelayIsKeptUpToTheCap(t *testing.T) {
	for value, want := range map[string]time.Duration{
		"0": 4 * time.Second, "-1": 4 * time.Second, "soon": 4 * time.Second, "1.5": 4 * time.Second, "10s": 10 * time.Second,
		"7.5": 7500 * time.Millisecond, "1000000000": 30 * time.Second, "1e999": 30 * time.Second,
		"6\nDisallow: /y\nUser-agent: other\nCrawl-delay: 29\nDisallow: /\nUser-agent: orbweaver\nCrawl-delay: " +
			"8": 8 * time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			file := "User-agent: orbweaver\nCrawl-delay: " + value + "\nDisallow: /x\n"
			s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{testbed.FirstHost: testbed.HostWithRobots(5,
				testbed.AlwaysRespond(200, "", file))}}
			r, said := s.Crawl(t, func(c *engine.Config) { c.Politeness.CrawlDelayMax = 30 * time.Second })
			if r.Outcomes["ok"] != 6 {
				t.Errorf("%q: %v", value, r.Outcomes)
			}
			for i := 1; i < len(s.Requests); i++ {
				if gap := s.Requests[i].At.Sub(s.Requests[i-1].End); gap < want || gap > want+time.Second {
					t.Errorf("%q: %v between two requests", value, gap)
				}
			}
			capped := int64(0)
			if want == 30*time.Second {
				capped = 1
			}
			if r.DelaysCapped != capped || strings.Count(said, "a site asks for a longer Crawl-delay") != int(capped) {
				t.Errorf("%q: %d were capped; the log:\n%s", value, r.DelaysCapped, said)
			}
		})
	}
}

// A site that changes its mind in the middle: when the copy is renewed, which is before it is a day old, what is queued
// is dropped and counted, in memory and on disk.
func TestHostile_B09_aFileThatNowDeniesAllEndsTheSiteWithinADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{testbed.FirstHost: testbed.HostWithRobots(300,
			func(_ int, c net.Conn) {
				if time.Since(start) < time.Hour {
					testbed.Respond(c, 200, "", "User-agent: *\nDisallow: /13$\n")
					return
				}
				testbed.Respond(c, 200, "", "User-agent: *\nDisallow: /\n")
			})}}
		r, _ := s.Crawl(t, slowly)
		pages := s.Pages(testbed.FirstHost)
		if last := pages[len(pages)-1].At.Sub(start); last > 24*time.Hour || last < 20*time.Hour {
			t.Errorf("the last page was asked for after %v", last)
		}
		if denied := r.Outcomes["robots-denied"]; denied != 301-int64(len(pages)) || denied < 150 ||
			r.RobotsDenied != denied {
			t.Errorf("%d pages were asked for, %v", len(pages), r.Outcomes)
		}
	})
}

// Two sites whose robots.txt each lead to the other wait for each other, and neither for ever.
func TestHostile_B01_twoSitesWithTheirRulesAtEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const other = "two.test"
		at := func(to string) testbed.Responder {
			host := testbed.HostWithRobots(3, testbed.AlwaysRespond(302, "Location: http://"+to+"/rules.txt\r\n", ""))
			return func(path string, n int, c net.Conn) {
				if path == "/rules.txt" {
					testbed.Respond(c, 200, "", "User-agent: *\nDisallow: /1$\n")
					return
				}
				host(path, n, c)
			}
		}
		s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{testbed.FirstHost: at(other),
			other: at(testbed.FirstHost)}}
		r, _ := s.Crawl(t, testbed.NoChange)
		if r.Outcomes["ok"] != 6 || r.Outcomes["robots-denied"] != 2 || len(s.Files(testbed.FirstHost)) > 3 ||
			len(s.Files(other)) > 3 {
			t.Errorf("%v; robots.txt were asked for %d and %d times", r.Outcomes, len(s.Files(testbed.FirstHost)),
				len(s.Files(other)))
		}
	})
}
