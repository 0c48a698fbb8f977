package main

import (
	"fmt"
	"os"
	"os/signal"
	"reflect"
	"strings"
	"syscall"
	"time"

	"orbweaver/bench/throughput"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/workers/parsers"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/trials"
	"orbweaver/internal/simweb"
)

// benchmarks are those of BENCHMARKS.md, a command each.
type benchmarks struct {
	Throughput throughputCommand `cmd:"" help:"A crawl of a simulated web over loopback, beside a bare loop."`
	Soak       soakCommand       `cmd:"" help:"A long crawl at full speed: does anything grow or slow down?"`
	Fetchers   fetchersCommand   `cmd:"" help:"A series of crawls, each with more fetchers or a longer IP delay."`
	Cores      coresCommand      `cmd:"" help:"Crawls with more and more threads: what bounds the speed on many cores."`
	Agents     agentsCommand     `cmd:"" help:"Several agents that share one simulated web: coverage, overlap and cost, with and without faults."`
	Hostile    hostileCommand    `cmd:"" help:"How hostile hosts affect a crawl of honest ones, in pairs of crawls."`
	Frontier   frontierCommand   `cmd:"" help:"The whole frontier with fabricated responses and no sockets."`
	Sieve      sieveCommand      `cmd:"" help:"The sieve, growing: what a URL costs however many there are."`
	Cache      cacheCommand      `cmd:"" help:"The fingerprint cache beside a true LRU: look-ups a second, hits, restart."`
	Dedup      dedupCommand      `cmd:"" help:"Payload deduplication, growing: what a page costs however many there are."`
	Virtualize virtualizeCommand `cmd:"" help:"The queues on disk, alone and growing."`
	Workbench  workbenchCommand  `cmd:"" help:"The workbench alone: memory, Visits and checkpoints at millions of hosts."`
}

type listCommand struct{}

// Help shows an example.
func (*listCommand) Help() string { return "Example:\n  orbweaver-bench list" }

// Run lists the benchmarks with the help of each.
func (*listCommand) Run(inv *command.Invocation) error {
	for command := range reflect.TypeFor[benchmarks]().Fields() {
		fmt.Fprintf(inv.Stdout, "%s\t%s\n", strings.ToLower(command.Name), command.Tag.Get("help"))
	}
	return nil
}

type throughputCommand struct {
	Dir string `help:"Crawl directory; replaced." default:"./build/throughput" placeholder:"DIR"`
	throughputWeb
	Pages     int64         `help:"Stop after this many pages; 0 for all." default:"0" placeholder:"N"`
	BarePages int           `help:"Pages of the bare loop; 0 for none." default:"40000" placeholder:"N"`
	HostDelay time.Duration `help:"Wait between two requests to a site." default:"1s" placeholder:"TIME"`
	IPDelay   time.Duration `name:"ip-delay" help:"Wait between two requests to an address." default:"100ms" placeholder:"TIME"`
	Fetchers  int           `help:"Fetch workers." default:"1024" placeholder:"N"`
	KeepAlive time.Duration `help:"Keep connections for so long, in the bare loop, too; 0 for one connection a page." default:"0" placeholder:"TIME"`
	Visit     order.Visit   `type:"term" help:"Order of visits, as that of crawl." default:"breadth-first" placeholder:"ORDER"`
	Score     string        `help:"Score of links, for the order focused." placeholder:"EXPR"`
	throughputRecords
	Seed     int64  `help:"Which web." default:"1" placeholder:"N"`
	Digests  int    `help:"Compare one payload of so many with the truth." default:"1" placeholder:"N"`
	Profile  string `help:"Directory for CPU profiles of the bare loop and of the crawl." placeholder:"DIR"`
	Keep     bool   `help:"Keep the crawl directory."`
	Progress string `help:"auto, plain or none." oneof:"auto,plain,none" default:"auto" placeholder:"MODE"`
	JSON     bool   `help:"Print JSON."`
}

// throughputWeb is the simulated web.
type throughputWeb struct {
	Today   bool `help:"A web as it is today: 240 KB of HTML, sent packed inside TLS, with a hundred links."`
	Hosts   int  `help:"Hosts." default:"20000" placeholder:"N"`
	IPs     int  `name:"ips" help:"Addresses." default:"5000" placeholder:"N"`
	PerHost int  `help:"Pages of the largest host." default:"10" placeholder:"N"`
	Mean    int  `help:"Mean number of pages of a host; 0 for half of the largest." default:"0" placeholder:"N"`
}

// throughputRecords is what the archive holds.
type throughputRecords struct {
	Level    int    `help:"gzip level of the crawl; the bare loop always has 1." default:"1" placeholder:"N"`
	Metadata string `help:"Metadata records: auto, all or none." oneof:"auto,all,none" default:"auto" placeholder:"MODE"`
	Via      bool   `help:"Keep with each queued URL the page that led to it."`
	Outlinks bool   `help:"List in metadata records what each page links to."`
}

// Help shows an example.
func (*throughputCommand) Help() string {
	return `Prints pages/s, CPU microseconds per page of the crawler and of the simulated web, bytes, peak memory, and
the verdict of the simulated web. The same run measures a bare loop, which only fetches, digests,
compresses, scans and writes. It prints the ratio of both, and where the difference goes.

Examples:
  orbweaver-bench throughput
  orbweaver-bench throughput --hosts 50000 --ips 10000 --per-host 40 --host-delay 4s --ip-delay 500ms
  orbweaver-bench throughput --today --hosts 3000 --ips 1000 --pages 12000 --bare-pages 6000 --fetchers 128`
}

// Run measures.
func (c *throughputCommand) Run(inv *command.Invocation) error {
	ctx, stop := signal.NotifyContext(inv.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, web, err := trials.Options(inv, c.Dir, c.Progress)
	if err != nil {
		return err
	}
	if c.Today {
		web.World = simweb.Today()
	}
	web.World.Seed, web.World.Hosts, web.World.IPs = uint64(c.Seed), c.Hosts, c.IPs
	web.World.PagesPerHostMax, web.World.PagesPerHostMean = c.PerHost, c.Mean
	if c.Mean == 0 {
		web.World.PagesPerHostMean = max(c.PerHost/2, 1)
	}
	o.HostDelay, o.IPDelay, o.Fetchers, o.KeepAlive = c.HostDelay, c.IPDelay, c.Fetchers, c.KeepAlive
	o.Visit, o.Score = c.Visit, c.Score
	o.Records.Level, o.Records.Via, o.Records.Outlinks = c.Level, c.Via, c.Outlinks
	if o.Records.Metadata, err = parsers.ParseMetadataMode(c.Metadata); err != nil {
		return command.Misuse(fmt.Errorf("--metadata: %w", err))
	}
	o.MaxPages, web.DigestEvery = c.Pages, c.Digests
	r, err := throughput.Compare(ctx, o, web, c.BarePages, c.Profile)
	if err != nil {
		return err
	}
	if !c.Keep {
		if err := os.RemoveAll(c.Dir); err != nil {
			return err
		}
	}
	return command.ShowResult(inv, r, c.JSON)
}
