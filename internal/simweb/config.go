package simweb

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// HostsMax is the largest world: hosts are numbered and cost no memory, but names and links carry the number.
const HostsMax = 100_000_000

// pagesPerHostLimit bounds PagesPerHostMax, so that a page's number fits its place in the log.
const pagesPerHostLimit = 1 << 28

// Config describes a world. Equal configurations make equal worlds, byte for byte.
type Config struct {
	Seed  uint64 // all that is random comes from here
	Hosts int    // number of hosts, 1 to HostsMax
	IPs   int    // number of addresses the hosts share; 0 means one for four hosts

	Graph
	Hidden
	Payloads
	Tools
	Endpoints

	Agent   string        // robots.txt token of the crawler that is judged
	Latency time.Duration // mean pause before an answer, by host; 0 is none
	Think   time.Duration // mean of a further pause, drawn for each URL from an exponential distribution; 0 is none

	Faults Faults
	Robots Robots
	Timing Timing
}

// Graph is how many pages there are, and how they link to each other.
type Graph struct {
	PagesPerHostMean int // mean number of pages of a host, Zipf-like
	PagesPerHostMax  int // the largest host
	PageFanout       int // tree links of a page to pages of its host
	HostFanout       int // tree links of a root page to roots of other hosts

	LinksMean     int     // mean number of links of a page, tree links included
	ExternalShare float64 // share of the extra links that leave the host
	Scattered     bool    // what is popular has any number, and not the lowest, which are found first
	HubShare      float64 // share of hosts that are hubs: the links of their first page all leave the host
	HubLinks      int     // mean number of links of the first page of a hub
	Farm          Farm    // spam farms
	// Topics is how many topics there are: all pages of a host are of one. Their text names it, and so does every second
	// anchor that leads to them. 0 for none.
	Topics    int
	Homophily float64 // share of the extra links that leave the host for which a host of the same topic is drawn
	// PlainLinks has every reference written in normal form inside double quotes of <a>, <img> or <link>, and leaves
	// out base elements, refreshes and what only looks like a link: what any crawler can read.
	PlainLinks bool
}

// Hidden is what the links of other hosts or pages do not lead to. All of it is 0 by default.
type Hidden struct {
	Separate      int     // components of the graph that only a seed of their own leads to
	SeparateHosts int     // hosts of each
	Series        float64 // share of hosts whose leaf pages are in one folder, with numbers that differ by one
	Folders       float64 // share of other hosts that have leaf pages in folders, each with a page of its own
	Unlinked      float64 // share of the pages of a series, and of those of folders, that no page links to
}

// Payloads is what pages consist of, and how they change.
type Payloads struct {
	PageBytesMean int     // mean size of a page in bytes, lognormal
	OtherShare    float64 // share of leaf pages that are images, style sheets and documents
	CopyShare     float64 // share of leaf pages whose payload is that of other pages
	OwnWords      bool    // each page has a word that hardly any other has, as pages of the real web do
	Copies        int     // how many such payloads there are
	GzipShare     float64 // share of hosts that send HTML packed to clients that accept gzip

	Validators float64 // share of hosts whose pages have an ETag or Last-Modified and that answer conditional requests
	Edition    int     // how often the web has changed since it was made
	Changing   float64 // share of pages that differ from one edition to the next; their links stay
}

// Endpoints is where hosts are: names, ports and addresses.
type Endpoints struct {
	HTTPSShare   float64 // share of hosts on https
	HTTPPort     int     // port of http hosts
	HTTPSPort    int     // port of https hosts
	AltPort      int     // port of the hosts that use another one
	AltPortShare float64 // their share

	Domain   string // every host's name ends in it
	AddrBase string // address 0; AddrOf is AddrBase + xxh3(name) mod IPs
}

// Timing says how long the slow faults take.
type Timing struct {
	Slow       time.Duration // a slow page or robots.txt takes this long from first byte to last
	Stall      time.Duration // a stalled answer is given up by the server after this long
	Idle       time.Duration // a connection without a request is closed after this long
	RetryAfter time.Duration // what 503 asks for, whole seconds
	CrawlDelay time.Duration // what robots.txt of a delaying host asks for
	HugeBytes  int           // size of a huge body
}

// Plain is a world without faults where everything may be fetched.
func Plain() Config {
	return Config{
		Seed: 1, Hosts: 1000,
		Graph: Graph{
			PagesPerHostMean: 10, PagesPerHostMax: 1000, PageFanout: 8, HostFanout: 8, LinksMean: 20, ExternalShare: 0.2,
		},
		Payloads:  Payloads{PageBytesMean: 16 << 10, OtherShare: 0.05, CopyShare: 0.01, OwnWords: true},
		Endpoints: Endpoints{Domain: "sim.test"},
		Robots:    Robots{AllowAll: 0.5},
	}.WithDefaults()
}

// Faulty is a world with every fault there is, at rates that leave most pages fetchable.
func Faulty() Config {
	c := Plain()
	c.CopyShare = 0.05
	c.AltPortShare = 0.05
	c.Faults = AllFaults(0.01)
	c.Robots = Robots{AllowAll: 0.15, Rules: 0.4, CrawlDelay: 0.05, DenyAll: 0.05, Error: 0.02, Unavailable: 0.02,
		Reset: 0.02, Forbidden: 0.03, Redirect: 0.05, Slow: 0.02, Huge: 0.02, HTML: 0.02}
	return c
}

// Today is a web as it is today: all of it inside TLS, HTML of 240 KB on average with a hundred links, packed by the
// server.
func Today() Config {
	c := Plain()
	c.HTTPSShare, c.GzipShare = 1, 1
	c.PageBytesMean, c.LinksMean = 240_000, 100
	c.OtherShare, c.CopyShare = 0, 0
	return c
}

// Skewed is a web whose ranks are unequal: hubs, and spam farms with a third of all pages. Each host has a registrable
// domain of its own, and so has each farm. hosts is the number of those that belong to no farm, 100 at least.
func Skewed(hosts int) Config {
	c := Plain()
	c.Domain, c.OtherShare, c.CopyShare = "test", 0, 0
	c.Scattered, c.HubShare, c.HubLinks = true, 0.02, 200
	c.Farm = Farm{Farms: max(hosts/400, 1), Hosts: 50, Pages: 40, Bought: 3, Boosted: 10}
	c.Hosts = hosts + c.Farm.Farms*c.Farm.Hosts
	c.IPs = max(1, c.Hosts/4)
	return c
}

// WithDefaults returns a copy in which every number that was left out has its default. Rates have none.
func (c Config) WithDefaults() Config {
	setInt(&c.Hosts, 1000)
	setInt(&c.Copies, 64)
	setInt(&c.IPs, max(1, c.Hosts/4))
	setInt(&c.PagesPerHostMean, 10)
	setInt(&c.PagesPerHostMax, 100*c.PagesPerHostMean)
	setInt(&c.PageFanout, 8)
	setInt(&c.HostFanout, 8)
	setInt(&c.LinksMean, 20)
	setInt(&c.PageBytesMean, 16<<10)
	setInt(&c.HTTPPort, 80)
	setInt(&c.HTTPSPort, 443)
	setInt(&c.AltPort, 8080)
	if c.Domain == "" {
		c.Domain = "sim.test"
	}
	if c.AddrBase == "" {
		c.AddrBase = "240.0.0.0"
	}
	if c.Agent == "" {
		c.Agent = "orbweaver"
	}
	t := &c.Timing
	setDuration(&t.Slow, 2*time.Second)
	setDuration(&t.Stall, 5*time.Minute)
	setDuration(&t.Idle, time.Minute)
	setDuration(&t.RetryAfter, time.Second)
	setDuration(&t.CrawlDelay, 500*time.Millisecond)
	setInt(&t.HugeBytes, 3<<20)
	return c
}

// Validate returns all faults of a configuration, joined. It is meant for the result of WithDefaults.
func (c Config) Validate() error {
	var errs []error
	bad := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf("simweb: "+format, args...))
		}
	}
	bad(c.Hosts >= 1 && c.Hosts <= HostsMax, "hosts %d: want 1 to %d", c.Hosts, HostsMax)
	bad(c.IPs >= 1 && c.IPs <= 1<<28, "ips %d: want 1 to %d", c.IPs, 1<<28)
	bad(c.PagesPerHostMax <= pagesPerHostLimit, "pages per host %d: want at most %d", c.PagesPerHostMax, pagesPerHostLimit)
	bad(c.PagesPerHostMean >= 1 && c.PagesPerHostMean <= c.PagesPerHostMax, "mean pages per host %d: want 1 to %d",
		c.PagesPerHostMean, c.PagesPerHostMax)
	bad(c.PageFanout >= 1 && c.HostFanout >= 1, "fanouts %d, %d: want at least 1", c.PageFanout, c.HostFanout)
	bad(c.LinksMean >= 1 && c.LinksMean <= 10_000, "mean links %d: want 1 to 10000", c.LinksMean)
	bad(c.PageBytesMean >= 256 && c.PageBytesMean <= 16<<20, "mean page bytes %d: want 256 to %d", c.PageBytesMean, 16<<20)
	bad(c.Farm.Farms*c.Farm.Hosts+c.Separate*c.SeparateHosts < c.Hosts,
		"%d spam farms of %d hosts and %d components of %d: want less than the %d hosts", c.Farm.Farms, c.Farm.Hosts,
		c.Separate, c.SeparateHosts, c.Hosts)
	bad(c.Separate >= 0 && c.SeparateHosts >= 0 && (c.Separate == 0 || c.SeparateHosts > 0),
		"%d separate components of %d hosts: want at least 1", c.Separate, c.SeparateHosts)
	bad(c.Farm.Farms == 0 || c.Farm.Hosts > 0 && c.Farm.Pages > 0 && c.Farm.Bought > 0,
		"spam farms %+v: want numbers above 0", c.Farm)
	bad(c.Topics >= 0 && c.Topics <= 100, "topics %d: want 0 to 100", c.Topics)
	bad(c.Copies >= 1 && c.Copies < 1<<16, "copies %d: want 1 to 65535", c.Copies)
	bad(c.Edition >= 0 && c.Edition < 1<<16, "edition %d: want 0 to 65535", c.Edition)
	bad(c.Latency >= 0 && c.Think >= 0, "latency %v, think %v: want at least 0", c.Latency, c.Think)
	for _, p := range []int{c.HTTPPort, c.HTTPSPort, c.AltPort} {
		bad(p >= 1 && p <= 65535, "port %d: want 1 to 65535", p)
	}
	for _, s := range []float64{
		c.ExternalShare, c.HubShare, c.OtherShare, c.CopyShare, c.HTTPSShare, c.GzipShare, c.AltPortShare, c.Validators,
		c.Changing, c.Homophily, c.Series, c.Folders, c.Unlinked, c.Drawn, c.Served,
	} {
		bad(s >= 0 && s <= 1, "share %g: want 0 to 1", s)
	}
	bad(c.Domain == strings.ToLower(c.Domain) && !strings.HasPrefix(c.Domain, ".") && !strings.HasSuffix(c.Domain, "."),
		"domain %q: want lower case without outer dots", c.Domain)
	bad(c.Timing.RetryAfter%time.Second == 0 && c.Timing.RetryAfter < 256*time.Second,
		"retry after %v: want whole seconds below 256", c.Timing.RetryAfter)
	bad(c.Timing.HugeBytes <= 64<<20, "huge bytes %d: want at most %d", c.Timing.HugeBytes, 64<<20)
	if _, err := shapeTable(&c.Faults); err != nil {
		errs = append(errs, err)
	}
	if _, err := robotsTable(&c.Robots); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func setInt(p *int, v int) {
	if *p == 0 {
		*p = v
	}
}

func setDuration(p *time.Duration, v time.Duration) {
	if *p == 0 {
		*p = v
	}
}
