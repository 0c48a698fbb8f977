package crawl

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/state/lifecycle"
)

// gateway is a way to hosts that answers in their place for a time.
type gateway struct {
	hosts       fetch.Dialer
	answer      string // to each request; it closes the connection for ""
	from, until time.Time
}

// DialContext implements fetch.Dialer.
func (g *gateway) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if now := time.Now(); now.Before(g.from) || !now.Before(g.until) {
		return g.hosts.DialContext(ctx, network, addr)
	}
	ours, theirs := net.Pipe()
	go func() {
		defer theirs.Close() //nolint:errcheck // the client may be gone
		if _, err := http.ReadRequest(bufio.NewReader(theirs)); err == nil {
			_, _ = io.WriteString(theirs, g.answer)
		}
	}()
	return ours, nil
}

// crawlThrough crawls six hosts of twenty pages while a gateway answers in their place from 20 s on, for a time.
func crawlThrough(t *testing.T, answer string, proxied bool, lasts time.Duration) (
	outcomes map[string]int64, said string, hosts *testbed.ScriptedHosts,
) {
	t.Helper()
	hosts = &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{}}
	for i := range 6 {
		hosts.Hosts[fmt.Sprintf("h%d.test", i)] = testbed.HostWithRobots(20, testbed.AlwaysRespond(404, "", ""))
	}
	from := time.Now().Add(20 * time.Second)
	hosts.Via = func(direct fetch.Dialer) fetch.Dialer {
		return &gateway{hosts: direct, answer: answer, from: from, until: from.Add(lasts)}
	}
	r, said := hosts.Crawl(t, func(c *engine.Config) {
		if proxied {
			addr := netip.MustParseAddrPort("192.0.2.250:3128")
			c.Fetch.Proxy = &fetch.Proxy{URL: "http://" + addr.String(), Addr: addr}
		}
	})
	return r.Outcomes, said, hosts
}

// A proxy answers in place of all sites for six seconds or ten minutes. No URL is given up, no answer of the proxy is
// taken for one of a site, and no page is fetched twice. The log says what is wrong.
func TestWay_aProxyThatAnswersItselfCostsNoURL(t *testing.T) {
	const length = "\r\nContent-Length: 4\r\n\r\nbody"
	for name, c := range map[string]struct {
		answer, says string
	}{
		"password": {"HTTP/1.1 407 No\r\nProxy-Authenticate: Basic realm=p" + length, "--proxy http://USER:PASSWORD@HOST"},
		"network":  {"HTTP/1.1 511 No" + length, "log in to the network"},
		"squid":    {"HTTP/1.1 403 No\r\nX-Squid-Error: ERR_ACCESS_DENIED 0" + length, "the quota of the proxy"},
		"login page of squid": {
			"HTTP/1.1 302 No\r\nLocation: http://login.test/\r\nX-Squid-Error: 302 Access Denied" + length,
			"the quota of the proxy",
		},
		"no HTTP": {"SSH-2.0-OpenSSH_9.2\r\n", "see the rules"},
	} {
		for _, lasts := range []time.Duration{6 * time.Second, 10 * time.Minute} {
			t.Run(fmt.Sprintf("%s/%v", name, lasts), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					began := time.Now()
					outcomes, said, hosts := crawlThrough(t, c.answer, true, lasts)
					if outcomes["ok"] != 126 || len(outcomes) != 1 {
						t.Errorf("%v", outcomes)
					}
					for host := range hosts.Hosts {
						if n := len(hosts.Pages(host)); n != 21 {
							t.Errorf("%s got %d requests for 21 pages", host, n)
						}
					}
					if took := time.Since(began); took > lasts+3*time.Minute {
						t.Errorf("it took %v", took)
					}
					if !strings.Contains(said, c.says) {
						t.Errorf("it did not say what to do:\n%s", said)
					}
				})
			})
		}
	}
}

// A gateway answers in place of all sites without a sign that it is one. Two of its answers are taken for those of
// sites.
func TestWay_aGatewayWithoutASignIsRecognisedByItsThirdAnswer(t *testing.T) {
	for name, c := range map[string]struct {
		answer  string
		proxied bool
		taken   string
	}{
		"portal": {"HTTP/1.1 302 No\r\nLocation: http://login.test/?from=x\r\nContent-Length: 0\r\n\r\n", false, "redirect"},
		"portal behind a proxy": {
			"HTTP/1.1 302 No\r\nLocation: http://login.test/?from=x\r\nContent-Length: 0\r\n\r\n", true, "redirect",
		},
		"quota": {"HTTP/1.1 403 No\r\nContent-Length: 10\r\n\r\nover quota", true, "client-error"},
	} {
		for _, lasts := range []time.Duration{6 * time.Second, 10 * time.Minute} {
			t.Run(fmt.Sprintf("%s/%v", name, lasts), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					outcomes, _, _ := crawlThrough(t, c.answer, c.proxied, lasts)
					if outcomes[c.taken] > 2 || outcomes["ok"]+outcomes[c.taken] != 126 {
						t.Errorf("%v", outcomes)
					}
				})
			})
		}
	}
}

// The proxy asks for a password when robots.txt is asked for. It is no answer that allows everything.
func TestWay_407ForRobotsAllowsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disallow := testbed.AlwaysRespond(200, "", "User-agent: *\nDisallow: /")
		hosts := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
			testbed.FirstHost: testbed.HostWithRobots(50, func(n int, c net.Conn) {
				if n < 3 {
					testbed.Respond(c, 407, "Proxy-Authenticate: Basic realm=p\r\n", "")
				} else {
					disallow(n, c)
				}
			}),
			"two.test": testbed.HostWithRobots(2, testbed.AlwaysRespond(404, "", "")),
		}}
		r, _ := hosts.Crawl(t, func(c *engine.Config) {
			addr := netip.MustParseAddrPort("192.0.2.250:3128")
			c.Fetch.Proxy = &fetch.Proxy{URL: "http://" + addr.String(), Addr: addr}
		})
		if n := len(hosts.Pages(testbed.FirstHost)); n != 0 || r.Outcomes["robots-denied"] != 1 {
			t.Errorf("%d pages that robots.txt disallows were fetched: %v", n, r.Outcomes)
		}
	})
}

// A proxy refuses the password from the start. The crawl says so, and stops within two minutes with its queue.
func TestWay_aWrongPasswordFromTheStartEndsTheCrawlSoon(t *testing.T) {
	for _, sites := range []int{1, 30} {
		synctest.Test(t, func(t *testing.T) {
			o := &testbed.OutageWeb{Sites: sites, Pages: 5, Condition: testbed.Lasting(testbed.Condition{Status: 407}, 0)}
			o.Begin()
			rig, cfg := o.Config(t)
			addr := netip.MustParseAddrPort("198.18.0.0:3128")
			cfg.Fetch.Proxy = &fetch.Proxy{URL: "http://" + addr.String(), Addr: addr}
			began := time.Now()
			e := o.Engine(t, rig, cfg, rig.FS)
			done := make(chan error, 1)
			go func() { done <- e.Run(t.Context()) }()
			testbed.Wait(30 * time.Second)
			if w := e.Report().Waiting; !strings.Contains(w, "the proxy asks for a password (407), since ") {
				t.Errorf("it waits for %s", w)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
			r := e.Report()
			if err := e.Close(); err != nil {
				t.Error(err)
			}
			o.Open.Wait()
			if took := time.Since(began); r.State != lifecycle.Stalled || r.URLsQueued != int64(sites) || took > 2*time.Minute {
				t.Errorf("%d sites: %s after %v: %s, %d queued", sites, r.State, took, r.Reason, r.URLsQueued)
			}
		})
	}
}

// A rule of the proxy refuses one site. Its URL has an outcome within the hour; the others are complete.
func TestWay_aProxyThatRefusesOneSiteEndsThatSite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		plain := testbed.HostWithRobots(20, testbed.AlwaysRespond(404, "", ""))
		hosts := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
			"one.test": plain, "two.test": plain,
			"refused.test": func(_ string, _ int, c net.Conn) {
				testbed.Respond(c, 403, "X-Squid-Error: ERR_ACCESS_DENIED 0\r\n", "")
			},
		}}
		r, _ := hosts.Crawl(t, func(c *engine.Config) {
			addr := netip.MustParseAddrPort("192.0.2.250:3128")
			c.Fetch.Proxy = &fetch.Proxy{URL: "http://" + addr.String(), Addr: addr}
		})
		if took := time.Since(began); r.Outcomes["ok"] != 42 || r.Outcomes["proxy-fault"] != 1 || took > time.Hour {
			t.Errorf("after %v: %v", took, r.Outcomes)
		}
	})
}

// Hosts that act as a gateway would: they serve a page, then all redirect to one host, or ask for a login of the
// network. Another host is crawled as fast as without them. After an hour they answer as other hosts do.
func TestWay_hostileHostsDoNotHoldAnotherBack(t *testing.T) {
	var took [3]time.Duration
	for i, answer := range []string{"", "302", "511"} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			hosts := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{
				testbed.FirstHost: testbed.HostWithRobots(100, testbed.AlwaysRespond(404, "", "")),
			}}
			for n := 0; n < 10 && answer != ""; n++ {
				hosts.Hosts[fmt.Sprintf("hostile%d.test", n)] = func(path string, _ int, c net.Conn) {
					switch {
					case path == "/" || time.Since(began) > time.Hour && path != "/robots.txt":
						testbed.Respond(c, 200, "", testbed.LinksPage(100))
					case answer == "302" && time.Since(began) < time.Hour:
						testbed.Respond(c, 302, "Location: http://parking.test/\r\n", "")
					case path == "/robots.txt":
						testbed.Respond(c, 404, "", "")
					default:
						testbed.Respond(c, 511, "", "")
					}
				}
			}
			hosts.Crawl(t, testbed.NoChange)
			pages := hosts.Pages(testbed.FirstHost)
			if len(pages) != 101 {
				t.Errorf("%s: %d pages", answer, len(pages))
			}
			took[i] = pages[len(pages)-1].End.Sub(began)
		})
	}
	t.Logf("without them %v, with them %v", took[0], took[1:])
	for _, d := range took[1:] {
		if d > took[0]+took[0]/10 {
			t.Errorf("%v in place of %v", d, took[0])
		}
	}
}

// Through a proxy, eight sites have a page each that no request gets an answer for, and nothing else is left. That is
// no outage of the proxy: robots.txt is answered, so the tries of the pages count, and the crawl ends.
func TestWay_pagesWithoutAnAnswerAreNoOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		hosts := &testbed.ScriptedHosts{Hosts: map[string]testbed.Responder{}}
		const sites = 8
		for i := range sites {
			hosts.Hosts[fmt.Sprintf("h%d.test", i)] = func(path string, _ int, c net.Conn) {
				switch path {
				case "/":
					testbed.Respond(c, 200, "", `<a href="/broken">a page</a>`)
				case "/robots.txt":
					testbed.Respond(c, 404, "", "")
				}
			}
		}
		r, _ := hosts.Crawl(t, func(c *engine.Config) {
			addr := netip.MustParseAddrPort("192.0.2.250:3128")
			c.Fetch.Proxy = &fetch.Proxy{URL: "http://" + addr.String(), Addr: addr}
			c.Limits.StallWait = time.Hour
		})
		took := time.Since(began)
		if r.State != lifecycle.Finished || r.Outcomes["reset"] != sites || r.Outcomes["ok"] != sites || took > time.Hour {
			t.Errorf("%s after %v: %s; %v", r.State, took, r.Reason, r.Outcomes)
		}
	})
}
