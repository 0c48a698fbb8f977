package crawl

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/records/neardup"
)

// honestHost is a host with 300 pages, which also responds at other paths. The measure of all tests here is how
// long its crawl takes.
func honestHost(beside map[string]func(n int, c net.Conn)) testbed.Responder {
	host := testbed.HostWithRobots(300, testbed.AlwaysRespond(200, "", "User-agent: *\nDisallow: /secret\n"))
	return func(path string, n int, c net.Conn) {
		if respond := beside[path]; respond != nil {
			respond(n, c)
			return
		}
		host(path, n, c)
	}
}

// aDelay is the time that a polite request takes.
const aDelay = 4 * time.Second

// crawlTime is how long the crawl of the honest host took, from its first request to its last page.
func crawlTime(t *testing.T, s *testbed.ScriptedHosts, r report.Report) time.Duration {
	t.Helper()
	var pages []testbed.Request // each for the first time: the root may be asked for again, as a proof
	known := map[string]bool{}
	for _, page := range s.Pages(testbed.FirstHost) {
		if len(page.Path) < 5 && !known[page.Path] { // "/" to "/299"
			known[page.Path] = true
			pages = append(pages, page)
		}
	}
	if len(pages) != 301 {
		t.Fatalf("%d pages of the honest host were asked for: %v, it waits for %s", len(pages), r.Outcomes, r.Waiting)
	}
	return pages[300].At.Sub(s.All()[0].At)
}

// aloneTime is how long the crawl of the honest host takes alone: robots.txt, the root page, and then the others.
const aloneTime = 301 * aDelay

// wantApart checks that the honest host was served as if it were alone, except for so many requests.
func wantApart(t *testing.T, s *testbed.ScriptedHosts, r report.Report, requests int) {
	t.Helper()
	if took, most := crawlTime(t, s, r), aloneTime+time.Duration(requests)*aDelay+time.Second; took > most {
		t.Errorf("the honest host took %v, and should take at most %v; outcomes %v", took, most, r.Outcomes)
	}
}

// redirects is a host whose robots.txt redirects.
func redirects(to string) testbed.Responder {
	return testbed.HostWithRobots(3, testbed.AlwaysRespond(302, "Location: "+to+"\r\n", ""))
}

// A robots.txt that redirects to an honest host costs that host one request, whatever it answers there. What it answers
// there is not taken for its state, and the host that redirects pays for it.
func TestHostile_X01_aRedirectOfRobotsCostsOneRequest(t *testing.T) {
	for name, answer := range map[string]func(n int, c net.Conn){
		"503":                testbed.AlwaysRespond(503, "", ""),
		"503 for a day":      testbed.AlwaysRespond(503, "Retry-After: 86400\r\n", ""),
		"429":                testbed.AlwaysRespond(429, "", ""),
		"500":                testbed.AlwaysRespond(500, "", ""),
		"404":                testbed.AlwaysRespond(404, "", ""),
		"rules":              testbed.AlwaysRespond(200, "", "User-agent: *\nDisallow: /1$\n"),
		"reset":              func(_ int, _ net.Conn) {},
		"a body that is cut": func(_ int, c net.Conn) { fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nUser") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
					testbed.FirstHost: honestHost(map[string]func(n int, c net.Conn){"/target": answer}),
					"evil.test":       redirects("http://" + testbed.FirstHost + "/target"),
				}}
				r, _ := s.Crawl(t, testbed.NoChange)
				wantApart(t, s, r, 1)
			})
		})
	}
}

// 200 hosts that redirect their robots.txt to one host share a tenth of its turns, also if each has a URL of its own
// there. A single request is enough for all that name the same URL, and none is needed if that is its robots.txt. Each
// gets its rules in the end.
func TestHostile_X02_aCrowdThatRedirectsToOneHostSharesATenthOfItsTurns(t *testing.T) {
	const crowd = 200
	for name, c := range map[string]struct {
		target   string // with the number of the host
		requests int    // that the honest host may notice
	}{
		"its robots.txt?":   {"/robots.txt?%d", 40},
		"one URL":           {"/target", 1},
		"a URL for each":    {"/target?%d", 40},
		"the same rules":    {"/robots.txt", 0},
		"what it disallows": {"/secret?%d", 5}, // until its rules are known
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rules := testbed.AlwaysRespond(200, "", "User-agent: *\nDisallow: /1$\n")
				s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
					testbed.FirstHost: honestHost(map[string]func(n int, c net.Conn){"/target": rules}),
				}}
				for i := range crowd {
					target := "http://" + testbed.FirstHost + c.target
					if strings.Contains(target, "%") {
						target = fmt.Sprintf(target, i)
					}
					s.Hosts[fmt.Sprintf("evil%d.test", i)] = redirects(target)
				}
				r, _ := s.Crawl(t, testbed.NoChange)
				wantApart(t, s, r, c.requests)
				if n := r.Outcomes["robots-unreachable"]; name != "what it disallows" && n > 0 {
					t.Errorf("%d of %d hosts got no rules", n, crowd)
				}
			})
		})
	}
}

// article is a page of 400 words that depend on a number, with a link.
func article(n int, link string) string {
	random := rand.New(rand.NewPCG(uint64(n), 3))
	var b strings.Builder
	for range 400 {
		fmt.Fprintf(&b, "w%c%c%c ", 'a'+random.IntN(26), 'a'+random.IntN(26), 'a'+random.IntN(26))
	}
	return fmt.Sprintf("<p>%s<a href=%s>next</a>", b.String(), link)
}

// A mirror on another domain has each article of an honest site before it is crawled there: whole, or with a word more.
// The honest site has all its articles all the same, and each copy has its links followed.
func TestHostile_X03_aMirrorThatComesFirstTakesNoLinks(t *testing.T) {
	const articles = 40
	for name, more := range map[string]string{"copies": "", "near copies": " mirrored"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host := func(list bool, more string) testbed.Responder {
					return func(path string, _ int, c net.Conn) {
						n := 0
						switch _, err := fmt.Sscanf(path, "/a%d", &n); {
						case err == nil && n < articles:
							testbed.Respond(c, 200, "", article(n, fmt.Sprintf("/a%d", n+1))+"<p>"+more)
						case path == "/" && list:
							page := ""
							for i := range articles {
								page += fmt.Sprintf("<a href=/a%d>x</a>", i)
							}
							testbed.Respond(c, 200, "", page)
						case path == "/":
							testbed.Respond(c, 200, "", "<a href=/a0>x</a>")
						case path == "/robots.txt" && !list:
							testbed.Respond(c, 200, "", "User-agent: *\nCrawl-delay: 8\n") // so that it comes second
						default:
							testbed.Respond(c, 404, "", "")
						}
					}
				}
				s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
					testbed.FirstHost: host(false, ""), "mirror.test": host(true, more),
				}}
				r, _ := s.Crawl(t, func(c *engine.Config) { c.Seen.Near.Mode = neardup.SkipLinks })
				if n := len(s.Pages(testbed.FirstHost)); n != articles+2 { // the root page, and a link that leads nowhere
					t.Errorf("%d requests for pages of the honest host, want %d: %v", n, articles+2, r.Outcomes)
				}
				if more != "" && r.NearDuplicates < articles/2 {
					t.Errorf("%d near-duplicates only", r.NearDuplicates)
				}
			})
		})
	}
}

// pageChain is a host whose pages each link to the next one, so that links are found late. It has nothing else.
func pageChain(pages int) testbed.Responder {
	return func(path string, _ int, c net.Conn) {
		n := 0
		switch _, err := fmt.Sscanf(path, "/%d", &n); {
		case path == "/" || err == nil && n < pages:
			testbed.Respond(c, 200, "", article(n+1, fmt.Sprintf("/%d", n+1)))
		default:
			testbed.Respond(c, 404, "", "")
		}
	}
}

// A page or a feed of another host links to 500 URLs that the honest host does not have. Each costs it a request, which
// is the bound: links of others may be right. But no page of the honest host is left out for that, or counts as a trap.
func TestHostile_X04_linksToAnotherHostCostOneRequestEach(t *testing.T) {
	const pages, junk = 100, 500
	for name, c := range map[string]struct{ head, begin, link, end string }{
		"page": {"text/html", "", "<a href=http://%s/junk%d>x</a>", ""},
		"feed": {
			"application/atom+xml", "<feed xmlns='http://www.w3.org/2005/Atom'>",
			"<entry><link href='http://%s/junk%d'/></entry>", "</feed>",
		},
		"RSS": {
			"application/rss+xml", "<rss version='2.0'><channel>", "<item><link>http://%s/junk%d</link></item>",
			"</channel></rss>",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				list := c.begin
				for i := range junk {
					list += fmt.Sprintf(c.link, testbed.FirstHost, i)
				}
				list += c.end
				s := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
					testbed.FirstHost: pageChain(pages),
					"evil.test": func(_ string, _ int, conn net.Conn) {
						fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", c.head,
							len(list), list)
					},
				}}
				r, _ := s.Crawl(t, testbed.NoChange)
				if n := len(s.Pages(testbed.FirstHost)); n != pages+junk+1 || r.Outcomes["client-error"] != junk+1 {
					t.Errorf("%d requests for pages of the honest host, want %d: %v", n, pages+junk+1, r.Outcomes)
				}
				requests := s.All()
				if took := requests[len(requests)-1].At.Sub(requests[0].At); took > (pages+junk+3)*aDelay {
					t.Errorf("the honest host took %v", took)
				}
			})
		})
	}
}

// A host at the address of an honest one takes turns of the address, which holds one request at a time. A host
// that answers costs nothing, since the host delay is longer. A host that stays silent holds the address until the
// time-outs end and it is given up, which is the bound.
func TestHostile_X05_aSharedAddressCostsTheTimeOutsOfASilentHost(t *testing.T) {
	for name, c := range map[string]struct {
		respond testbed.Responder
		most    time.Duration
	}{
		"answers":  {testbed.HostWithRobots(300, testbed.AlwaysRespond(404, "", "")), time.Second},
		"is quiet": {func(_ string, _ int, _ net.Conn) { <-time.After(10 * time.Minute) }, 5 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &testbed.ScriptedHosts{
					Hosts:         map[string]testbed.Responder{testbed.FirstHost: honestHost(nil), "evil.test": c.respond},
					SharedAddress: map[string]string{"evil.test": testbed.FirstHost},
				}
				r, _ := s.Crawl(t, testbed.NoChange)
				if took := crawlTime(t, s, r) - aloneTime; took > c.most {
					t.Errorf("the honest host took %v longer, want at most %v", took, c.most)
				}
			})
		})
	}
}
