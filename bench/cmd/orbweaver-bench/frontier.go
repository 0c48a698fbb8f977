package main

import (
	"errors"
	"os"
	"os/signal"
	"syscall"
	"time"

	"orbweaver/bench/throughput"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/cli/trials"
	"orbweaver/internal/trial"
)

type frontierCommand struct {
	URLs            int64         `name:"urls" help:"URLs known at the end." default:"10_000_000" placeholder:"N"`
	Hosts           int64         `help:"Hosts they are spread over." default:"1_000_000" placeholder:"N"`
	IPs             int64         `name:"ips" help:"Addresses of the hosts; 0 for one of four hosts." default:"0" placeholder:"N"`
	HostDelay       time.Duration `help:"Wait between two requests to a site." default:"4s" placeholder:"TIME"`
	IPDelay         time.Duration `name:"ip-delay" help:"Wait between two requests to an address." default:"500ms" placeholder:"TIME"`
	Fetchers        int           `help:"Fetch workers." default:"256" placeholder:"N"`
	Think           time.Duration `help:"Mean pause before an answer, exponential." default:"0s" placeholder:"TIME"`
	Sockets         time.Duration `help:"At the end, fetch pages of 16 KiB over real sockets and store them for so long; 0 for not at all." default:"0s" placeholder:"TIME"`
	Alone           bool          `help:"Every page draws a host of its own, evenly: as many hosts as there can be."`
	Rest            bool          `help:"At the end, measure what the program holds while all fetchers are idle."`
	WorkbenchMemory int64         `type:"size" help:"Bytes of queued paths in memory." default:"256MiB" placeholder:"SIZE"`
	CacheMemory     int64         `type:"size" help:"Bytes of the fingerprint cache." default:"64MiB" placeholder:"SIZE"`
	SieveMemory     int64         `type:"size" help:"Bytes of the sieve's buckets." default:"128MiB" placeholder:"SIZE"`
	Dir             string        `help:"Crawl directory; replaced, and removed at the end." default:"./build/frontier" placeholder:"DIR"`
	Kill            bool          `help:"End as a kill would: without closing anything, and leave the directory."`
	Resume          bool          `help:"Go on in the directory that a run with --kill has left."`
	Archive         bool          `help:"Write records, as a crawl does."`
	Seed            int64         `help:"Which web." default:"1" placeholder:"N"`
	JSON            bool          `help:"Print JSON."`
	profileFlag     `embed:""`
}

// Help says what it does.
func (*frontierCommand) Help() string {
	return "The real engine with fabricated responses and no sockets: the cost of admission, cache, sieve, queues, " +
		"workbench, journal and\n" +
		"checkpoints together, at a million URLs and at every power of ten after it.\n\nExamples:\n  orbweaver-bench " +
		"frontier\n" +
		"  orbweaver-bench frontier --urls 300_000_000 --hosts 10_000_000\n" +
		"  orbweaver-bench frontier --urls 100_000_000 --hosts 20_000_000 --alone --sockets 40s\n" +
		"  orbweaver-bench frontier --fetchers 50_000 --think 2s --rest\n" +
		"  orbweaver-bench frontier --kill && orbweaver-bench frontier --resume --urls 11_000_000"
}

// Run measures.
func (c *frontierCommand) Run(inv *command.Invocation) error {
	ctx, stop := signal.NotifyContext(inv.Context, os.Interrupt, syscall.SIGTERM)
	defer stop()
	o, _, err := trials.Options(inv, c.Dir, "none")
	if err != nil {
		return err
	}
	if !c.Resume {
		if err := os.RemoveAll(c.Dir); err != nil {
			return err
		}
	}
	web := &throughput.Fabricated{
		URLs: c.URLs, Hosts: c.Hosts, IPs: c.IPs, Think: c.Think, Sockets: c.Sockets, Alone: c.Alone, Idle: c.Rest,
		Archive: c.Archive, Seed: uint64(c.Seed),
	}
	if web.IPs == 0 {
		web.IPs = max(c.Hosts/4, 1)
	}
	o.OnStart, o.SkipVerify = nil, true
	o.HostDelay, o.IPDelay, o.Fetchers = c.HostDelay, c.IPDelay, c.Fetchers
	o.Memory = trial.Memory{Workbench: c.WorkbenchMemory, Cache: c.CacheMemory,
		Sieve: c.SieveMemory}
	profiled, err := c.start()
	if err != nil {
		return err
	}
	if c.Kill {
		web.OnMeasured = func(r *throughput.Result) {
			if err := profiled(); err != nil {
				o.Log.Error("no profile", "error", err)
			}
			r.Print(inv.Stdout)
			os.Exit(command.ExitDone)
		}
	}
	r, err := throughput.Frontier(ctx, o, web)
	if err := errors.Join(err, profiled()); err != nil {
		return err
	}
	if err := os.RemoveAll(c.Dir); err != nil {
		return err
	}
	return command.ShowResult(inv, r, c.JSON)
}
