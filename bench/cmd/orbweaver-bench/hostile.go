package main

import (
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"orbweaver/bench/hostile"
	"orbweaver/bench/throughput"
	"orbweaver/internal/cli/command"
)

type hostileCommand struct {
	Pairs     int           `help:"Pairs of crawls." default:"10" placeholder:"N"`
	For       time.Duration `help:"How long each crawl is." default:"40s" placeholder:"TIME"`
	Hosts     int           `help:"Honest hosts." default:"3600" placeholder:"N"`
	Hostile   int           `help:"Hostile hosts, about; of each case as many as of any other." default:"400" placeholder:"N"`
	Cases     []string      `help:"Cases, as H01; all that can be played, if none is named." placeholder:"ID,..."`
	HostDelay time.Duration `help:"Wait between two requests to a site: it sets the rate." default:"4s" placeholder:"TIME"`
	IPDelay   time.Duration `name:"ip-delay" help:"Wait between two requests to an address." default:"500ms" placeholder:"TIME"`
	Fetchers  int           `help:"Fetch workers." default:"1024" placeholder:"N"`
	Mean      int           `help:"Mean number of pages of a host." default:"40" placeholder:"N"`
	Dir       string        `help:"Crawl directory; replaced, and removed at the end." default:"./build/hostile" placeholder:"DIR"`
	Seed      int64         `help:"Which web." default:"1" placeholder:"N"`
	Verify    bool          `help:"Read every record of every archive, too."`
	JSON      bool          `help:"Print JSON."`
}

// Help says what it does.
func (*hostileCommand) Help() string {
	return `Crawls the same honest hosts at a rate that politeness limits, in alternating pairs: alone, and beside hosts
of all kinds that sim --hostile has. Prints the rate on the honest hosts, the CPU time and memory of both,
and the median of the ratios. Nearly every host has an address of its own: hosts that share an address wait
for each other.

Examples:
  orbweaver-bench hostile
  orbweaver-bench hostile --pairs 2 --for 20s --cases H02,H06`
}

// addresses is how many there are for hosts to be made of: so many that hardly two hosts share one.
const addresses = 1 << 24

// Run measures.
func (c *hostileCommand) Run(inv *command.Invocation) error {
	ctx, stop := signal.NotifyContext(inv.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	hosts := throughput.Hostile{Cases: c.Cases}
	if len(hosts.Cases) == 0 {
		for id := range hostile.Cases() {
			hosts.Cases = append(hosts.Cases, id)
		}
		slices.Sort(hosts.Cases)
	}
	if _, err := hostile.New(hosts.Cases...); err != nil {
		return command.Misuse(fmt.Errorf("--cases %s: %w", strings.Join(hosts.Cases, ","), err))
	}
	hosts.Hosts = max(c.Hostile/len(hosts.Cases), 1)
	o, web, err := newBenchOptions(inv, c.Dir)
	if err != nil {
		return err
	}
	web.World.Seed, web.World.Hosts, web.World.IPs = uint64(c.Seed), c.Hosts, addresses
	web.World.PagesPerHostMean, web.World.PagesPerHostMax = c.Mean, 2*c.Mean
	web.DigestEvery = 100
	o.HostDelay, o.IPDelay, o.Fetchers = c.HostDelay, c.IPDelay, c.Fetchers
	o.MaxTime, o.SkipVerify = c.For, !c.Verify
	r, err := throughput.Isolation(ctx, o, *web, hosts, c.Pairs)
	if err != nil {
		return err
	}
	return command.ShowResult(inv, r, c.JSON)
}
