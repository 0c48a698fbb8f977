package main

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"orbweaver/bench/throughput"
	"orbweaver/internal/cli/command"
)

type fetchersCommand struct {
	Fetchers  []int64         `help:"Numbers of fetch workers, each a crawl." default:"64,256,1000,4000,16000" placeholder:"N"`
	IPDelays  []time.Duration `name:"ip-delays" help:"Waits between two requests to an address, each a crawl." default:"100ms" placeholder:"TIME"`
	HostDelay time.Duration   `help:"Wait between two requests to a site; at least that for an address." default:"100ms" placeholder:"TIME"`
	For       time.Duration   `help:"How long each crawl is." default:"45s" placeholder:"TIME"`
	Think     time.Duration   `help:"Mean pause before an answer, exponential." default:"200ms" placeholder:"TIME"`
	Hosts     int64           `help:"Hosts; 0 for three of each fetcher." default:"0" placeholder:"N"`
	IPs       int64           `name:"ips" help:"Addresses; 0 for as many as hosts." default:"0" placeholder:"N"`
	Mean      int             `help:"Mean number of pages of a host." default:"200" placeholder:"N"`
	Proxies   int             `help:"Addresses of the simulated web." default:"8" placeholder:"N"`
	Digests   int             `help:"Compare one payload of so many with the truth." default:"20" placeholder:"N"`
	Verify    bool            `help:"Read every record of every archive, too."`
	Dir       string          `help:"Crawl directory; replaced, and removed at the end." default:"./build/fetchers" placeholder:"DIR"`
	Seed      int64           `help:"Which web." default:"1" placeholder:"N"`
	Out       string          `help:"Write JSON, every sample in it, to this file besides." placeholder:"FILE"`
	JSON      bool            `help:"Print JSON, every sample in it."`
}

// Help says what it does.
func (*fetchersCommand) Help() string {
	return `Crawls a simulated web that waits before it answers, over sockets, once for each number of fetch workers and
each IP delay. Prints throughput, CPU, memory and the size of the front. The JSON has them over time.

Examples:
  orbweaver-bench fetchers
  orbweaver-bench fetchers --fetchers 4000 --ips 2000 --hosts 20000 --ip-delays 0s,50ms,200ms,500ms --out delays.json`
}

// Run measures.
func (c *fetchersCommand) Run(inv *command.Invocation) error {
	ctx, stop := signal.NotifyContext(inv.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, web, err := newBenchOptions(inv, c.Dir)
	if err != nil {
		return err
	}
	web.World.Seed, web.World.Think = uint64(c.Seed), c.Think
	web.World.PagesPerHostMean, web.World.PagesPerHostMax = c.Mean, 2*c.Mean
	web.Proxies, web.DigestEvery = c.Proxies, c.Digests
	o.MaxTime, o.SkipVerify = c.For, !c.Verify
	r, err := throughput.Sweep(ctx, o, *web, c.settings())
	if err != nil {
		return err
	}
	if c.Out != "" {
		if err := writeJSON(c.Out, r); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	return command.ShowResult(inv, r, c.JSON)
}

// writeJSON writes a file.
func writeJSON(name string, v any) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(command.PrintJSON(f, v), f.Close())
}

// settings are all numbers of fetchers with all delays.
func (c *fetchersCommand) settings() (all []throughput.Setting) {
	for _, n := range c.Fetchers {
		hosts := c.Hosts
		if hosts == 0 {
			hosts = 3 * n
		}
		ips := c.IPs
		if ips == 0 {
			ips = hosts
		}
		for _, d := range c.IPDelays {
			all = append(all, throughput.Setting{
				Fetchers: int(n), Hosts: int(hosts), IPs: int(ips), IPDelay: d, HostDelay: max(c.HostDelay, d),
			})
		}
	}
	return all
}
