package main

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"orbweaver/bench/throughput"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/trials"
	"orbweaver/internal/trial"
)

type soakCommand struct {
	For       time.Duration `help:"How long." default:"30m" placeholder:"TIME"`
	Dir       string        `help:"Crawl directory; replaced, and removed at the end." default:"./build/soak" placeholder:"DIR"`
	Hosts     int           `help:"Hosts." default:"300_000" placeholder:"N"`
	IPs       int           `name:"ips" help:"Addresses." default:"75_000" placeholder:"N"`
	Mean      int           `help:"Mean number of pages of a host." default:"60" placeholder:"N"`
	HostDelay time.Duration `help:"Wait between two requests to a site." default:"4s" placeholder:"TIME"`
	IPDelay   time.Duration `name:"ip-delay" help:"Wait between two requests to an address." default:"500ms" placeholder:"TIME"`
	Fetchers  int           `help:"Fetch workers." default:"1024" placeholder:"N"`
	Seed      int64         `help:"Which web." default:"1" placeholder:"N"`
	Unread    bool          `help:"Delete closed archive files without verifying them, which takes CPU as well: the speed of the crawl alone."`
	Profile   string        `help:"Directory for a profile of the memory after each sixth of the time." placeholder:"DIR"`
	JSON      bool          `help:"Print JSON, every sample in it."`
}

// Help says what it does.
func (*soakCommand) Help() string {
	return `Crawls a simulated web that is too large to be finished. Verifies and deletes each archive file when it is
closed. Prints memory, descriptors, goroutines and speed over time.

Examples:
  orbweaver-bench soak
  orbweaver-bench soak --for 2m --hosts 20000 --ips 5000
  orbweaver-bench soak --for 10m --unread`
}

// Run measures.
func (c *soakCommand) Run(inv *command.Invocation) error {
	ctx, stop := signal.NotifyContext(inv.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, web, err := newBenchOptions(inv, c.Dir)
	if err != nil {
		return err
	}
	o.OnStart = nil
	web.World.Seed, web.World.Hosts, web.World.IPs = uint64(c.Seed), c.Hosts, c.IPs
	web.World.PagesPerHostMean, web.World.PagesPerHostMax = c.Mean, 20*c.Mean
	o.SkipVerify = c.Unread
	o.MaxTime, o.HostDelay, o.IPDelay, o.Fetchers = c.For, c.HostDelay, c.IPDelay, c.Fetchers
	r, err := throughput.Soak(ctx, o, web, c.Profile)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(c.Dir); err != nil {
		return err
	}
	return command.ShowResult(inv, r, c.JSON)
}

// newBenchOptions is trials.Options without a progress line, for benchmarks that begin with an empty directory.
func newBenchOptions(inv *command.Invocation, dir string) (trial.Options, *trial.Simulated, error) {
	o, web, err := trials.Options(inv, dir, "none")
	if err == nil {
		err = os.RemoveAll(dir)
	}
	return o, web, err
}
