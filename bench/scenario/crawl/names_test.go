package crawl

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/miekg/dns"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/dnsres"
	"orbweaver/dnsres/dnstest"
	"orbweaver/engine"
	"orbweaver/engine/net/fetch/addrguard"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/workers/archive"
	"orbweaver/internal/simweb"
	"orbweaver/warc"
)

// street is a network on which every address answers for every host: with a page that links to the numbered pages of
// its host, and none has a robots.txt. It notes when each host was contacted.
type street struct {
	pages int
	most  time.Duration // an answer takes so long

	mu   sync.Mutex
	met  []meeting
	seen map[netip.Addr]int // dials
}

// meeting is one request.
type meeting struct {
	start, end time.Time
	addr       netip.Addr
	host, path string
}

// DialContext implements fetch.Dialer.
func (s *street) DialContext(_ context.Context, _, addr string) (net.Conn, error) {
	at, err := netip.ParseAddrPort(addr)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	if s.seen == nil {
		s.seen = map[netip.Addr]int{}
	}
	s.seen[at.Addr()]++
	s.mu.Unlock()
	ours, theirs := net.Pipe()
	go s.serve(at.Addr(), theirs)
	return ours, nil
}

func (s *street) serve(addr netip.Addr, conn net.Conn) {
	defer conn.Close() //nolint:errcheck // the client may be gone
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return
	}
	start := time.Now()
	testbed.Wait(s.most)
	text := "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
	if req.URL.Path != "/robots.txt" {
		var body strings.Builder
		for i := range s.pages {
			fmt.Fprintf(&body, "<a href=/%d>", i)
		}
		text = fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", body.Len(),
			body.String())
	}
	s.mu.Lock()
	s.met = append(s.met, meeting{start, time.Now(), addr, req.Host, req.URL.Path})
	s.mu.Unlock()
	_, _ = io.WriteString(conn, text)
}

// namesCrawl runs a crawl of seeds on a street whose names are those of a scripted server, until it ends.
func namesCrawl(t *testing.T, s *street, names *dnstest.Server, o dnsres.Options,
	change func(*engine.Config, *engine.Seams), seeds ...string) (report.Report, *testbed.Rig) {
	t.Helper()
	rig, err := testbed.NewRig(testbed.SmallWorld(*testbed.FirstSeed+700, simweb.Plain()), false)
	if err != nil {
		t.Fatal(err)
	}
	if err := rig.Net.Close(); err != nil {
		t.Error(err)
	}
	cfg := rig.Config()
	cfg.Seeds, cfg.Limits.StallWait = testbed.Seeds(seeds), 24*time.Hour
	cfg.Archive.DNS = archive.DNSAll
	seams := rig.Seams(rig.FS)
	o.Upstreams = []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:53")}
	seams.Resolver, err = dnsres.New(o, names)
	if err != nil {
		t.Fatal(err)
	}
	seams.Dialer = s
	change(&cfg, &seams)
	e, err := engine.Open(cfg, seams)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Run(t.Context()); err != nil {
		t.Error(err)
	}
	report := e.Report()
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	testbed.CheckConservation(t, report)
	return report, rig
}

func asIs(*engine.Config, *engine.Seams) {}

// Ten hosts of good names, and for each a thousand names that do not exist, met at the same time. The good hosts are
// done no later.
func TestHostile_D01_aStormOfDeadNamesDoesNotSlowTheOthers(t *testing.T) {
	dead := 10_000
	if testbed.Reduced {
		dead /= 4
	}
	var took [2]time.Duration
	for storm := range took {
		synctest.Test(t, func(t *testing.T) {
			names := new(dnstest.Server)
			names.Set("*", dnstest.Script{Rcode: dns.RcodeNameError, SOA: 600, Delay: 50 * time.Millisecond})
			var seeds []string
			for i := range 10 {
				name := fmt.Sprintf("good%d.test", i)
				names.Set(name, dnstest.Script{Addrs: []netip.Addr{netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})}, TTL: 60,
					Delay: 50 * time.Millisecond})
				for d := range dead * storm / 10 {
					seeds = append(seeds, fmt.Sprintf("http://dead%d-%d.test/", i, d))
				}
				seeds = append(seeds, "http://"+name+"/")
			}
			s := &street{pages: 50, most: 100 * time.Millisecond}
			start := time.Now()
			report, _ := namesCrawl(t, s, names, dnsres.Options{}, func(c *engine.Config,
				_ *engine.Seams) {
				c.Workers.Resolvers = 256
			},
				seeds...)
			for _, m := range s.met {
				took[storm] = max(took[storm], m.end.Sub(start))
			}
			if report.Outcomes["ok"] != 510 || report.Outcomes["name-not-found"] != int64(dead*storm) {
				t.Errorf("%v", report.Outcomes)
			}
		})
	}
	t.Logf("without the storm %v, with it %v", took[0], took[1])
	if float64(took[1]) > float64(took[0])/0.95 {
		t.Errorf("510 pages took %v, and %v in a storm of dead names", took[0], took[1])
	}
}

// wellTest returns the script of a name that has an address.
func wellTest() dnstest.Script {
	return dnstest.Script{Addrs: []netip.Addr{netip.MustParseAddr("192.0.2.2")}, TTL: 3600}
}

// A name whose servers fail for ten minutes is asked for again after one, three, seven and fifteen, and crawled.
func TestHostile_D02_aHostWhoseNameServersFailIsAskedForAgain(t *testing.T) {
	for _, script := range []dnstest.Script{{Rcode: dns.RcodeServerFailure}, {Rcode: dns.RcodeRefused}, {Drop: true}} {
		synctest.Test(t, func(t *testing.T) {
			names := new(dnstest.Server)
			names.Set("ill.test", script)
			names.Set("well.test", wellTest()) // a crawl without any answer would end sooner
			start := time.Now()
			timer := time.AfterFunc(10*time.Minute, func() {
				names.Set("ill.test", dnstest.Script{Addrs: []netip.Addr{netip.MustParseAddr("192.0.2.1")}, TTL: 3600})
			})
			defer timer.Stop()
			s := &street{pages: 3}
			report, _ := namesCrawl(t, s, names, dnsres.Options{OutageRow: 1000}, asIs, "http://ill.test/",
				"http://well.test/")
			if report.Outcomes["ok"] != 8 || len(report.Outcomes) != 1 {
				t.Errorf("%+v: %v", script, report.Outcomes)
			}
			first := slices.IndexFunc(s.met, func(m meeting) bool { return m.host == "ill.test" })
			if began := s.met[first].start.Sub(start); began < 15*time.Minute || began > 17*time.Minute {
				t.Errorf("%+v: it was met after %v", script, began)
			}
		})
	}
}

// When they always fail, a host that has never answered is given up after three quarters of an hour, its URLs with the
// name of what happened.
func TestHostile_D02_aHostWhoseNameServersNeverAnswerIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := new(dnstest.Server)
		names.Set("ill.test", dnstest.Script{Rcode: dns.RcodeServerFailure})
		names.Set("well.test", wellTest())
		start := time.Now()
		report, rig := namesCrawl(t, &street{}, names, dnsres.Options{OutageRow: 1000}, asIs, "http://ill.test/",
			"http://well.test/")
		// As long as the name server is not known to know EDNS0, it is asked without it too.
		asked := names.Asked("ill.test")
		if took := time.Since(start); report.Outcomes["name-fault"] != 1 || took < 45*time.Minute || took > 47*time.Minute ||
			asked < 7 || asked > 8 {
			t.Errorf("after %v and %d questions: %v", took, asked, report.Outcomes)
		}
		records := 0
		testbed.EachRecord(t, rig.FS, func(rec *warc.RecordRead) {
			if string(rec.TargetURI) == "dns:ill.test" && bytes.Contains(rec.Block, []byte("\n; ill.test. A: SERVFAIL\n")) {
				records++
			}
		})
		if records != 1 {
			t.Errorf("%d records of the failures, want one of the first", records)
		}
	})
}

// Two hosts whose address changes with every question, among the same three addresses: neither host nor address is met
// before its delay is over.
func TestHostile_D11_aHostThatMovesIsMetPolitelyAtEachOfItsAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := new(dnstest.Server)
		var mu sync.Mutex
		turn := 0
		flux := dnstest.Script{Reply: func(q, reply *dns.Msg) {
			mu.Lock()
			defer mu.Unlock()
			turn++
			reply.Answer = []dns.RR{&dns.A{A: net.IPv4(192, 0, 2, byte(turn%3)), Hdr: dns.RR_Header{
				Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET}}}
		}}
		names.Set("flux1.test", flux)
		names.Set("flux2.test", flux)
		s := &street{pages: 60, most: 300 * time.Millisecond}
		const hostDelay, ipDelay = 2 * time.Second, 5 * time.Second
		report, _ := namesCrawl(t, s, names, dnsres.Options{TTLMin: time.Second, TTLMax: 3 * time.Second},
			func(c *engine.Config, _ *engine.Seams) {
				c.Politeness.HostDelay, c.Politeness.IPDelay = hostDelay, ipDelay
			}, "http://flux1.test/", "http://flux2.test/")
		if report.Outcomes["ok"] != 122 {
			t.Errorf("%v: %v", report.Reason, report.Outcomes)
		}
		hosts, addrs := map[string]time.Time{}, map[netip.Addr]time.Time{}
		for _, m := range s.met { // in order of their ends, and no two of one host or address overlap if all is well
			if last, ok := hosts[m.host]; ok && m.start.Sub(last) < hostDelay {
				t.Errorf("%s was met %v after the last time", m.host, m.start.Sub(last))
			}
			if last, ok := addrs[m.addr]; ok && m.start.Sub(last) < ipDelay {
				t.Errorf("%v was met %v after the last time", m.addr, m.start.Sub(last))
			}
			hosts[m.host], addrs[m.addr] = m.end, m.end
		}
		if len(addrs) != 3 || turn < 30 {
			t.Errorf("%d addresses, %d answers", len(addrs), turn)
		}
	})
}

// Of a zone in which every name exists, all at one address, that address is met as rarely as any. How many hosts of one
// registrable domain are crawled at all is for the budgets of domains to say.
func TestHostile_D10_aZoneOfEveryNameIsMetPolitely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := new(dnstest.Server)
		names.Set("*", dnstest.Script{Addrs: []netip.Addr{netip.MustParseAddr("192.0.2.1")}, TTL: 3600})
		var seeds []string
		for i := range 100 {
			seeds = append(seeds, fmt.Sprintf("http://x%d.wild.test/", i))
		}
		s := &street{pages: 2, most: 100 * time.Millisecond}
		report, _ := namesCrawl(t, s, names, dnsres.Options{},
			func(c *engine.Config, _ *engine.Seams) { c.Politeness.IPDelay = time.Second }, seeds...)
		if report.Outcomes["ok"] != 300 || len(s.met) != 400 {
			t.Errorf("%d requests: %v", len(s.met), report.Outcomes)
		}
		for i := 1; i < len(s.met); i++ {
			if gap := s.met[i].start.Sub(s.met[i-1].end); gap < time.Second {
				t.Errorf("%v between %s and %s", gap, s.met[i-1].host, s.met[i].host)
			}
		}
	})
}

// Names that lead nowhere are not followed there. What the name server said is in the archive.
func TestHostile_D12_addressesOfNobodyAreDeniedAndRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		names := new(dnstest.Server)
		bad := []string{"0.0.0.0", "0.1.2.3", "127.0.0.1", "127.1.2.3", "255.255.255.255", "240.0.0.1", "224.0.0.1",
			"169.254.169.254", "10.0.0.1",
			"::", "::1", "::ffff:10.0.0.1", "fd00::1", "fe80::1", "ff02::1", "64:ff9b::a00:1"}
		seeds := []string{"http://mixed.test/"}
		for i, a := range bad {
			name := fmt.Sprintf("bad%d.test", i)
			names.Set(name, dnstest.Script{Addrs: []netip.Addr{netip.MustParseAddr(a)}, TTL: 60})
			seeds = append(seeds, "http://"+name+"/")
		}
		good := netip.MustParseAddr("8.8.8.8")
		names.Set("mixed.test", dnstest.Script{Addrs: []netip.Addr{netip.MustParseAddr("127.0.0.1"), good,
			netip.MustParseAddr("::1")}, TTL: 60})
		seeds = append(seeds, "http://nowhere.test/")
		s := &street{pages: 3}
		report, rig := namesCrawl(t, s, names, dnsres.Options{IPv6: true}, func(_ *engine.Config, seams *engine.Seams) {
			seams.Allowed = addrguard.New(nil, nil, nil).Check
		}, seeds...)
		if report.Outcomes["name-not-found"] != 1 || report.Outcomes["blocked-address"] != int64(len(bad)) ||
			report.Outcomes["ok"] != 4 {
			t.Errorf("%v", report.Outcomes)
		}
		if len(s.seen) != 1 || s.seen[good] == 0 {
			t.Errorf("connections to %v", s.seen)
		}
		said := map[string]int{}
		denied := ""
		testbed.EachRecord(t, rig.FS, func(rec *warc.RecordRead) {
			if said[string(rec.TargetURI)]++; string(rec.TargetURI) == "dns:nowhere.test" {
				denied = string(rec.Block)
			}
		})
		if said["dns:nowhere.test"] != 1 || !strings.Contains(denied, "\n; nowhere.test. A: NXDOMAIN\n") {
			t.Errorf("of a name that does not exist the archive says %q", denied)
		}
		for i := range bad {
			if said[fmt.Sprintf("dns:bad%d.test", i)] != 1 {
				t.Errorf("what was said of %s is not in the archive", bad[i])
			}
		}
	})
}

// Links to ports where no web server lives are not followed, whatever host they name. Of hosts that are allowed by
// range only the bad ports are refused.
func TestHostile_N12_linksDoNotScanPorts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &street{}
		var seeds []string
		for _, host := range []string{"8.8.8.8", "[2606:4700::1]", "10.0.0.1"} {
			for _, port := range []string{"21", "22", "25", "53", "110", "143", "389", "6000", "6379", "6667", "9200", "11211",
				"80", "8443"} {
				seeds = append(seeds, "http://"+host+":"+port+"/")
			}
		}
		report, _ := namesCrawl(t, s, new(dnstest.Server), dnsres.Options{}, func(_ *engine.Config, seams *engine.Seams) {
			seams.Allowed = addrguard.New([]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, nil, nil).Check
		}, seeds...)
		if report.Outcomes["blocked-port"] != 12+12+9 || report.Outcomes["ok"] != 2+2+5 {
			t.Errorf("%v", report.Outcomes)
		}
	})
}
