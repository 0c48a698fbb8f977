package operator

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/operate/report"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/options"
	"orbweaver/internal/simweb"
)

// steering is a setting that is given to a running crawl, and to another one at its start. The web is a chain of pages
// on testbed.FirstHost, each with the markup of the case.
type steering struct {
	setting string // NAME=VALUE
	markup  string // of each page; %[1]d is its number
	body    int    // bytes that each page of the chain has beyond that
	// respond answers requests for the hosts whose name is not that of the chain, and for paths that begin with /x; nil
	// for a plain page.
	respond func(host, path string, c net.Conn)
	address string // of all hosts of respond: that of this host; empty if each has its own
	dial    func(ctx context.Context, began time.Duration) error
	config  func(*engine.Config)
	before  time.Duration // until the change; 0 for 40 s
	lasts   time.Duration // from the change on; 0 for a minute
	// effect reports what was seen in a part of the crawl, and whether the setting was in force in it.
	effect func(seen *part) (inForce bool, figure any)
}

// part is a part of a crawl.
type part struct {
	requests      []testbed.Request
	dials         []dial // those that failed
	before, after report.Report
}

// dial is a connection that could not be made.
type dial struct {
	addr string
	took time.Duration
}

// of are the requests for a host, or those whose path begins so.
func (p *part) of(prefix string) (list []testbed.Request) {
	for _, r := range p.requests {
		if strings.HasPrefix(r.Path, prefix) || strings.HasPrefix(r.Host, prefix) {
			list = append(list, r)
		}
	}
	return list
}

// longest is the longest time of an exchange.
func (p *part) longest(prefix string) (d time.Duration) {
	for _, r := range p.of(prefix) {
		if !r.End.IsZero() {
			d = max(d, r.End.Sub(r.At))
		}
	}
	return d
}

// hosts is the number of hosts of the farm that were asked.
func (p *part) hosts() int {
	names := map[string]bool{}
	for _, r := range p.of("h") {
		names[r.Host] = true
	}
	return len(names)
}

// farm is the number of hosts that a case may link to.
const farm = 120

// web is the web of the case.
func (s *steering) web() *testbed.ScriptedHosts {
	w := &testbed.ScriptedHosts{
		Counts: map[string]int{}, Hosts: map[string]testbed.Responder{}, SharedAddress: map[string]string{},
	}
	chain := effect{markup: s.markup}
	add := func(host string) {
		w.Hosts[host] = func(path string, _ int, c net.Conn) {
			switch {
			case s.respond != nil && (host != testbed.FirstHost || strings.HasPrefix(path, "/x")):
				s.respond(host, path, c)
			case path == "/robots.txt":
				testbed.Respond(c, 404, "", "")
			case host == testbed.FirstHost:
				testbed.Respond(c, 200, "", chain.pageOf(path)+strings.Repeat("-", s.body))
			default:
				testbed.Respond(c, 200, "", "<p>"+host)
			}
		}
	}
	add(testbed.FirstHost)
	for i := range farm {
		name := fmt.Sprintf("h%d.farm.test", i)
		if add(name); s.address != "" {
			w.SharedAddress[name] = s.address
		}
	}
	return w
}

// failingDialer dials all hosts but the chain by the function of the case, and notes how long that took.
type failingDialer struct {
	direct fetch.Dialer
	began  time.Time
	dial   func(ctx context.Context, began time.Duration) error
	chain  netip.Addr

	mu    sync.Mutex
	dials []dial
}

func (d *failingDialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	if host, _, _ := net.SplitHostPort(addr); host == d.chain.String() {
		return d.direct.DialContext(ctx, network, addr)
	}
	start := time.Now()
	if err := d.dial(ctx, time.Since(d.began)); err != nil {
		d.mu.Lock()
		d.dials = append(d.dials, dial{addr, time.Since(start)})
		d.mu.Unlock()
		return nil, err
	}
	return d.direct.DialContext(ctx, network, addr)
}

// steered is a crawl of a case.
type steered struct {
	*engine.Engine

	hosts  *testbed.ScriptedHosts
	dialer *failingDialer
	seen   int // requests of the parts that are over
	dialed int
	report report.Report
}

// part waits, and returns what was seen since the part before.
func (s *steered) part(d time.Duration) *part {
	testbed.Wait(d)
	p := &part{requests: s.hosts.All()[s.seen:], before: s.report, after: s.Report()}
	s.dialer.mu.Lock()
	p.dials = s.dialer.dials[s.dialed:]
	s.dialed += len(p.dials)
	s.dialer.mu.Unlock()
	s.seen += len(p.requests)
	s.report = p.after
	return p
}

// crawl begins the crawl, calls happen, and stops it.
func (s *steering) crawl(t *testing.T, change func(*engine.Config), happen func(c *steered)) {
	t.Helper()
	rig := testbed.MustRig(t, testbed.SmallWorld(1, simweb.Plain()), false)
	hosts := s.web()
	rig.Seeds = []string{"http://" + testbed.FirstHost + "/"}
	cfg := rig.Config()
	cfg.Politeness.HostDelay, cfg.Politeness.IPDelay = time.Second, time.Second
	cfg.Intervals.Sync, cfg.Intervals.Report, cfg.Intervals.Checkpoint = time.Second, time.Second, time.Minute
	cfg.Limits.StallWait = 48 * time.Hour
	if s.config != nil {
		s.config(&cfg)
	}
	change(&cfg)
	dialer := &failingDialer{
		direct: hosts, began: time.Now(), dial: s.dial, chain: hosts.Resolve(t.Context(), testbed.FirstHost).Addrs[0],
	}
	if s.dial == nil {
		dialer.dial = func(context.Context, time.Duration) error { return nil }
	}
	seams := rig.Seams(rig.FS)
	seams.Dialer, seams.Resolver = dialer, hosts
	seams.Allowed = func(netip.AddrPort) error { return nil }
	e, err := engine.Open(cfg, seams)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- e.Run(t.Context()) }()
	happen(&steered{Engine: e, hosts: hosts, dialer: dialer})
	e.Operator().Stop()
	testbed.WaitEnd(t, rig, e, done)
	hosts.Done.Wait()
}

// run gives the setting to a running crawl: it was not in force before, and is then. A crawl that begins with it has it
// from the start.
func (s *steering) run(t *testing.T) {
	name, value, _ := strings.Cut(s.setting, "=")
	before, lasts := cmp.Or(s.before, 40*time.Second), cmp.Or(s.lasts, time.Minute)
	s.crawl(t, testbed.NoChange, func(c *steered) {
		if inForce, figure := s.effect(c.part(before)); inForce {
			t.Errorf("%s is in force before it is set: %v", s.setting, figure)
		}
		if err := testbed.Set(t, c.Engine, name, value); err != nil {
			t.Errorf("%s: %v", s.setting, err)
		}
		c.part(40 * time.Second) // what was under way ends
		if inForce, figure := s.effect(c.part(lasts)); !inForce {
			t.Errorf("%s was set in flight and has no effect: %v", s.setting, figure)
		}
	})
	s.crawl(t, func(cfg *engine.Config) {
		setting, ok := options.Find(cfg, name)
		if !ok {
			t.Fatalf("there is no setting %s", name)
		}
		if err := options.Parse(setting.Value, setting.Tag, value); err != nil {
			t.Fatal(err)
		}
	}, func(c *steered) {
		if inForce, figure := s.effect(c.part(before + lasts)); !inForce {
			t.Errorf("%s was given at the start and has no effect: %v", s.setting, figure)
		}
	})
}

// hang responds nothing until the client leaves.
func hang(_, path string, c net.Conn) {
	if path == "/robots.txt" {
		testbed.Respond(c, 404, "", "")
		return
	}
	_, _ = io.Copy(io.Discard, c)
}

// drip sends a body without end, 64 KiB a second.
func drip(_, _ string, c net.Conn) {
	fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100000000\r\n\r\n")
	for piece := make([]byte, 64<<10); ; testbed.Wait(time.Second) {
		if _, err := c.Write(piece); err != nil {
			return
		}
	}
}

// fault is an answer that may pass.
func fault(_, _ string, c net.Conn) { testbed.Respond(c, 500, "", "<p>fault") }

const (
	toFarm  = "<a href=http://h%[1]d.farm.test/>h</a>"
	toFirst = "<a href=http://h0.farm.test/%[1]d>h</a>"
	image   = "<img src=http://h0.farm.test/%[1]d.png>"
)

// exchangeSettings are those of exchanges, and of sites that fail.
func exchangeSettings() []steering {
	const fine = "<a href=/a/%[1]d>a</a><a href=/b/%[1]d>b</a><a href=/c/%[1]d>c</a><a href=/d/%[1]d>d</a>"
	return []steering{
		{setting: "connect-timeout=3s", markup: toFirst, lasts: time.Hour, config: shortChain,
			dial: func(ctx context.Context, _ time.Duration) error { <-ctx.Done(); return ctx.Err() },
			effect: func(p *part) (bool, any) {
				inForce := len(p.dials) > 0
				for _, d := range p.dials {
					inForce = inForce && d.took == 3*time.Second
				}
				return inForce, p.dials
			}},
		{setting: "response-timeout=3s", markup: "<a href=/x%[1]d>x</a>", respond: hang,
			effect: func(p *part) (bool, any) { d := p.longest("/x"); return d == 3*time.Second, d }},
		{setting: "exchange-timeout=7s", markup: "<a href=/x%[1]d>x</a>", respond: drip,
			config: func(c *engine.Config) { c.Fetch.TotalTimeout = 15 * time.Second },
			effect: func(p *part) (bool, any) { d := p.longest("/x"); return d >= 7*time.Second && d <= 8*time.Second, d }},
		{setting: "tries=2", markup: "<a href=/x%[1]d>x</a>" + fine, respond: fault,
			before: 10 * time.Minute, lasts: 10 * time.Minute,
			effect: func(p *part) (bool, any) {
				tries, urls := map[string]int{}, map[int]int{} // the latter by the number of their tries
				for _, r := range p.of("/x") {
					tries[r.Path]++
				}
				for n := range maps.Values(tries) {
					urls[n]++
				}
				others := len(tries) - urls[2] // at the beginning, while it is not clear whether the site itself fails
				return urls[2] > 5*others, urls
			}},
		{setting: "give-up=1h", markup: toFirst, before: 10 * time.Hour,
			lasts: 3 * time.Hour, dial: refuseAfterAMinute, config: shortChain,
			effect: func(p *part) (bool, any) { return p.after.Outcomes["given-up"] > 0, p.after.Outcomes }},
		{setting: "stall-wait=1h", markup: toFirst, before: 10 * time.Hour,
			lasts: 3 * time.Hour, dial: refuseAfterAMinute, config: shortChain,
			effect: func(p *part) (bool, any) { return p.after.State == lifecycle.Stalled, p.after.State }},
	}
}

// limitSettings are the limits of the crawl, and the quotas.
func limitSettings() []steering {
	return []steering{
		{setting: "max-time=100s", lasts: 2 * time.Minute,
			effect: func(p *part) (bool, any) {
				return p.after.Reason == lifecycle.ReasonMaxTime && p.after.PagesStored <= 100, p.after.PagesStored
			}},
		{setting: "max-disk=2MiB", body: 40 << 10, lasts: 10 * time.Minute,
			config: func(c *engine.Config) { c.Archive.Compression = 0 },
			effect: func(p *part) (bool, any) {
				return p.after.Reason == lifecycle.ReasonMaxDisk && p.after.BytesStored < 2<<20+128<<10, p.after.Reason
			}},
		{setting: "max-hosts-per-domain=90", markup: toFarm, lasts: 2 * time.Minute, config: allHosts,
			effect: func(p *part) (bool, any) {
				return p.after.Outcomes["quota-domain"] > 0 && p.after.HostsKnown == 91, p.after.HostsKnown
			}},
		{setting: "max-hosts-per-ip=90", markup: toFarm, lasts: 3 * time.Minute, config: allHosts, address: "h0.farm.test",
			effect: func(p *part) (bool, any) {
				return p.after.Outcomes["quota-address"] > 0 && p.hosts() <= 90, p.hosts()
			}},
		{setting: "workbench-memory=64KiB", markup: toFarm, config: allHosts, lasts: 10 * time.Minute,
			effect: func(p *part) (bool, any) { return p.after.HostsCold > 0, p.after.HostsCold }},
	}
}

// pageSettings say what becomes of pages and of their links.
func pageSettings() []steering {
	return []steering{
		{setting: "store=none",
			effect: func(p *part) (bool, any) {
				stored, others := p.after.PagesStored-p.before.PagesStored, p.after.PagesNotStored-p.before.PagesNotStored
				return stored == 0 && others > 20, []int64{stored, others}
			}},
		{setting: "sitemaps=true", markup: toFarm, config: allHosts,
			respond: func(host, path string, c net.Conn) {
				switch path {
				case "/robots.txt":
					testbed.Respond(c, 200, "", "Sitemap: http://"+host+"/map.xml\n")
				case "/map.xml":
					testbed.Respond(c, 200, "", "<urlset><url><loc>http://"+host+"/listed</loc></url></urlset>")
				default:
					testbed.Respond(c, 200, "", "<p>")
				}
			},
			effect: func(p *part) (bool, any) { n := len(p.of("/listed")); return n > 20, n }},
		{setting: "requisites=off", markup: image,
			config: func(c *engine.Config) { c.Filters.Scope, c.Admission.Requisites = "host", admission.RequisitesAll },
			effect: func(p *part) (bool, any) { n := len(p.of("h0.")); return n == 0, n }},
		{setting: "requisites=same-scope", markup: image,
			config: func(c *engine.Config) { c.Filters.Scope, c.Admission.Requisites = "host", admission.RequisitesAll },
			effect: func(p *part) (bool, any) { n := len(p.of("h0.")); return n == 0, n }},
		{setting: "strip-params=sid", markup: "<a href=/x?sid=%[1]d>x</a>",
			effect: func(p *part) (bool, any) { n := len(p.of("/x")); return n <= 1, n }},
		{setting: "max-body=1KiB", body: 4 << 10,
			effect: func(p *part) (bool, any) {
				n := p.after.BodiesTruncated - p.before.BodiesTruncated
				return n > 20, n
			}},
	}
}

// allHosts lets the crawl go to all hosts.
func allHosts(c *engine.Config) { c.Filters.Scope = filter.All }

// shortChain ends the chain after 60 pages. The crawl goes on for hours.
func shortChain(c *engine.Config) {
	c.Admission.MaxDepth = 60
	c.Intervals.Sync, c.Intervals.Report, c.Intervals.Checkpoint = time.Minute, 10*time.Minute, time.Hour
}

func refuseAfterAMinute(_ context.Context, began time.Duration) error {
	if began < time.Minute {
		return nil
	}
	return syscall.ECONNREFUSED
}

// Each setting acts in the crawl that runs, and in one that begins with it.
func TestSettings_steer(t *testing.T) {
	for _, s := range slices.Concat(exchangeSettings(), limitSettings(), pageSettings()) {
		t.Run(s.setting, func(t *testing.T) {
			synctest.Test(t, s.run)
		})
	}
}
