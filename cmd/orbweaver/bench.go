package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"orbweaver/bench/simweb"
	"orbweaver/bench/vitro"
	"orbweaver/engine"
)

type benchCmd struct {
	List       benchListCmd       `cmd:"" help:"List the benchmarks."`
	Vitro      benchVitroCmd      `cmd:"" help:"A crawl of a simulated web over loopback, beside a bare loop."`
	Soak       benchSoakCmd       `cmd:"" help:"A long crawl at full speed: does anything grow or slow down?"`
	Fetchers   benchFetchersCmd   `cmd:"" help:"A row of crawls with more and more fetchers, or with longer and longer IP delays."`
	Agents     benchAgentsCmd     `cmd:"" help:"Several agents that share one simulated web, with and without faults."`
	Hostile    benchHostileCmd    `cmd:"" help:"What honest hosts notice of hostile ones."`
	Frontier   benchFrontierCmd   `cmd:"" help:"The whole frontier with fabricated responses and no sockets."`
	Sieve      benchSieveCmd      `cmd:"" help:"The sieve, growing."`
	Cache      benchCacheCmd      `cmd:"" help:"The fingerprint cache beside a true LRU."`
	Seen       benchSeenCmd       `cmd:"" help:"The map of payload digests, growing."`
	Virtualize benchVirtualizeCmd `cmd:"" help:"The queues on disk, alone and growing."`
	Workbench  benchWorkbenchCmd  `cmd:"" help:"The workbench alone: memory, visits and cuts at millions of hosts."`
	Members    benchMembersCmd    `cmd:"" help:"Groups of agents without sockets: how soon all know of a death, and what they say."`
}

// Help shows an example.
func (*benchCmd) Help() string {
	return "Examples:\n  orbweaver bench list\n  orbweaver bench vitro\n  orbweaver bench frontier --urls 100_000_000 --hosts 10_000_000"
}

type benchListCmd struct{}

// Help shows an example.
func (*benchListCmd) Help() string { return "Example:\n  orbweaver bench list" }

// Run lists.
func (*benchListCmd) Run(w *world) error {
	fmt.Fprintln(w.stdout, "vitro\ta crawl of a simulated web over loopback, beside a bare loop")
	fmt.Fprintln(w.stdout, "soak\ta long crawl at full speed: does anything grow or slow down?")
	fmt.Fprintln(w.stdout, "fetchers\ta row of crawls with more and more fetchers, or with longer and longer IP delays")
	fmt.Fprintln(w.stdout, "agents\tseveral agents that share one simulated web: coverage, overlap, overhead and cost, with and without faults")
	fmt.Fprintln(w.stdout, "hostile\twhat honest hosts notice of hostile ones, in pairs of crawls")
	fmt.Fprintln(w.stdout, "frontier\tthe whole frontier with fabricated responses and no sockets")
	fmt.Fprintln(w.stdout, "sieve\tthe sieve, growing: what a URL costs however many there are")
	fmt.Fprintln(w.stdout, "cache\tthe fingerprint cache beside a true LRU: look-ups a second, hits, restart")
	fmt.Fprintln(w.stdout, "seen\tthe map of payload digests, growing: what a page costs however many there are")
	fmt.Fprintln(w.stdout, "virtualize\tthe queues on disk, alone and growing")
	fmt.Fprintln(w.stdout, "workbench\tthe workbench alone: memory, visits and cuts at millions of hosts")
	fmt.Fprintln(w.stdout, "members\tgroups of agents without sockets: how soon all know of a death, and what they say")
	return nil
}

type benchVitroCmd struct {
	Dir       string   `help:"Crawl directory; made anew." default:"./build/vitro" placeholder:"DIR"`
	Today     bool     `help:"A web as it is today: 240 KB of HTML, sent packed inside TLS, with a hundred links."`
	Hosts     count    `help:"Hosts." default:"20000" placeholder:"N"`
	IPs       count    `name:"ips" help:"Addresses." default:"5000" placeholder:"N"`
	PerHost   count    `help:"Pages of the largest host." default:"10" placeholder:"N"`
	Mean      count    `help:"Mean number of pages of a host; 0 for half of the largest." default:"0" placeholder:"N"`
	Pages     count    `help:"Stop after this many pages; 0 for all." default:"0" placeholder:"N"`
	BarePages count    `help:"Pages of the bare loop; 0 for none." default:"40000" placeholder:"N"`
	HostDelay duration `help:"Wait between two requests to a site." default:"1s" placeholder:"TIME"`
	IPDelay   duration `name:"ip-delay" help:"Wait between two requests to an address." default:"100ms" placeholder:"TIME"`
	Fetchers  count    `help:"Fetch workers." default:"1024" placeholder:"N"`
	KeepAlive duration `help:"Keep connections for so long, in the bare loop, too; 0 for one connection a page." default:"0" placeholder:"TIME"`
	Level     count    `help:"gzip level of the crawl; the bare loop always has 1." default:"1" placeholder:"N"`
	Metadata  string   `help:"Metadata records: auto, all or none." oneof:"auto,all,none" default:"auto" placeholder:"MODE"`
	Via       bool     `help:"Keep with each queued URL the page that led to it."`
	Outlinks  bool     `help:"List in metadata records what each page links to."`
	Seed      count    `help:"Which web." default:"1" placeholder:"N"`
	Digests   count    `help:"Compare one payload of so many with the truth." default:"1" placeholder:"N"`
	Profile   string   `help:"Directory for CPU profiles of the bare loop and of the crawl." placeholder:"DIR"`
	Keep      bool     `help:"Keep the crawl directory."`
	Progress  string   `help:"auto, plain or none." oneof:"auto,plain,none" default:"auto" placeholder:"MODE"`
	JSON      bool     `help:"Print JSON."`
}

// Help shows an example.
func (*benchVitroCmd) Help() string {
	return "Prints pages/s, CPU microseconds a page of the crawler and of the simulated web, bytes, peak memory, the oracle's verdict,\n" +
		"and in the same run what a bare loop takes that fetches, digests, packs, scans and writes and does nothing else: their ratio, and where\n" +
		"the difference goes.\n\nExamples:\n  orbweaver bench vitro\n" +
		"  orbweaver bench vitro --hosts 50000 --ips 10000 --per-host 40 --host-delay 4s --ip-delay 500ms\n" +
		"  orbweaver bench vitro --today --hosts 3000 --ips 1000 --pages 12000 --bare-pages 6000 --fetchers 128"
}

// Run measures.
func (c *benchVitroCmd) Run(w *world) error {
	ctx, stop := signal.NotifyContext(w.ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, err := vitroOptions(w, c.Dir, c.Progress)
	if err != nil {
		return err
	}
	o.World = simweb.Plain()
	if c.Today {
		o.World = simweb.Today()
	}
	o.World.Seed, o.World.Hosts, o.World.IPs = uint64(c.Seed.n), int(c.Hosts.n), int(c.IPs.n)
	o.World.PagesPerHostMax, o.World.PagesPerHostMean = int(c.PerHost.n), int(c.Mean.n)
	if c.Mean.n == 0 {
		o.World.PagesPerHostMean = max(int(c.PerHost.n)/2, 1)
	}
	o.HostDelay, o.IPDelay, o.Fetchers, o.Level = c.HostDelay.d, c.IPDelay.d, int(c.Fetchers.n), int(c.Level.n)
	o.KeepAlive = c.KeepAlive.d
	o.Via, o.Outlinks = c.Via, c.Outlinks
	if o.Metadata, err = engine.ParseMetadata(c.Metadata); err != nil {
		return usageError{fmt.Errorf("--metadata: %w", err)}
	}
	o.MaxPages, o.BarePages, o.Profile, o.DigestEvery = c.Pages.n, int(c.BarePages.n), c.Profile, int(c.Digests.n)
	r, err := vitro.Run(ctx, o)
	if err != nil {
		return err
	}
	if !c.Keep {
		if err := os.RemoveAll(c.Dir); err != nil {
			return err
		}
	}
	return showResult(w, r, c.JSON)
}
